#!/usr/bin/env bash
# An installed halogen loads a plugin that was built outside the tree from nothing but the installed SDK.
#   installed_sdk.sh BUILD_FOLDER SOURCE_FOLDER
set -euo pipefail
build=$1 source=$2
prefix=$(mktemp -d)
trap 'rm -rf "$prefix"' EXIT
cmake --install "$build" --prefix "$prefix" >/dev/null
cp -r "$source/examples/one_at_a_time" "$prefix/example"
cmake -S "$prefix/example" -B "$prefix/build" -DCMAKE_PREFIX_PATH="$prefix" >/dev/null
cmake --build "$prefix/build" >/dev/null
cd "$prefix"  # nothing is found by chance in the working directory
answer=$(HALOGEN_PLUGIN_PATH="$prefix/build/plugins" bin/halogen run "$source/models/demo-15m-q4_k_m.gguf" \
  "What is 12 + 30?" --temperature 0 --set scheduler.name=one_at_a_time)
[[ $answer == "12 + 30 = 42." ]] || { echo "unexpected answer: $answer"; exit 1; }
HALOGEN_PLUGIN_PATH="$prefix/build/plugins" bin/halogen plugins | grep -q "org.example.one-at-a-time"
[[ -f etc/halogen/halogen.toml && -L bin/halogen-flash-server ]]
PKG_CONFIG_PATH="$(dirname "$(find . -name halogen-sdk.pc)")" pkg-config --cflags halogen-sdk | grep -q include
echo "the installed SDK works"
