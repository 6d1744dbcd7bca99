#!/usr/bin/env bash
# A model is served by four plugins of another age, and answers as with those of today.
#   ages.sh PROGRAM BUILD_FOLDER MODEL
set -euo pipefail
program=$1 build=$2 model=$3
log=$(mktemp)
trap 'rm -f "$log"' EXIT

ask() {  # sampled, so that the random sequence and the parameters count
  "$program" run "$model" "Tell me something about numbers and the sea." --temperature 1.6 --seed 1 \
    --max-tokens 60 2>"$log" || { cat "$log" >&2; exit 1; }
}

expected=$(ask)
for age in old new; do
  export HALOGEN_PLUGIN_PATH=$build/$age
  answer=$(ask)
  [[ -n $answer && $answer == "$expected" ]] || { echo "$age plugins answer: $answer, not: $expected"; exit 1; }
  for plugin in cpu gguf sampler scheduler; do
    grep -q "$age org.halogen.$plugin" "$log" || { echo "$age $plugin was not used"; cat "$log"; exit 1; }
  done
done
echo "old and new plugins work"
