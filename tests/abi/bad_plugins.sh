#!/usr/bin/env bash
# What an operator sees of a plugin that cannot be used: one sentence, from a server that answers until then.
#   bad_plugins.sh PROGRAM BUILD_FOLDER MODEL
set -euo pipefail
program=$1 build=$2 model=$3
folder=$(mktemp -d)
trap '[[ -z ${server:-} ]] || kill "$server" 2>/dev/null || true; rm -rf "$folder"' EXIT
export HALOGEN_PLUGIN_PATH=$folder

manifest() {  # NAME LIBRARY
  cat >"$folder/$1.toml" <<END
id = "org.example.probe"
name = "Bad"
version = "1.0.0"
kinds = ["halogen.scheduler/1"]
provides = {scheduler = "$1"}
abi = {major = 1, least_host_minor = 0}
library = "$2"
END
}

expect() {  # TEXT FILE
  grep -qF -- "$1" "$2" || { echo "missing: $1"; cat "$2"; exit 1; }
}

manifest hollow "$build/bad/hollow.so"
if "$program" run "$model" hello --set scheduler.name=hollow >"$folder/log" 2>&1; then
  echo "a hollow table works"
  exit 1
fi
expect "plugin 'org.example.probe': its scheduler table has no 'create', which schedulers must have" "$folder/log"
rm "$folder/hollow.toml"

! "$program" plugins inspect "$0" >"$folder/log" || { echo "a script is no plugin"; exit 1; }
expect "  problem   it is a text file" "$folder/log"
! "$program" plugins inspect "$0" --json >"$folder/log" || { echo "a script is no plugin"; exit 1; }
expect '"usable": false' "$folder/log"

# A constructor that waits: the server listens and says that it is loading. Then the plugin is refused.
manifest slow "$build/../unit/host/plugins/slow_constructor.so"
mkfifo "$folder/release"
exec 9<>"$folder/release"
PROBE_RELEASE_FD=9 "$program" serve --model "$model" --port 0 --scheduler slow 2>"$folder/log" &
server=$!
for ((i = 0; i < 600; i++)); do
  grep -q memfd:slow_constructor "/proc/$server/maps" && break  # being opened
  sleep 0.1
done
url=$(grep -om1 'http://[0-9.:]*' "$folder/log")
[[ $(curl -s -o /dev/null -w '%{http_code}' "$url/livez") == 200 ]] || { echo "not alive"; cat "$folder/log"; exit 1; }
[[ $(curl -s -o /dev/null -w '%{http_code}' "$url/readyz") == 503 ]] || { echo "ready?"; cat "$folder/log"; exit 1; }
echo >&9
! wait "$server" || { echo "the server should have failed"; exit 1; }
expect "plugin 'org.example.probe' (scheduler \"slow\"): its manifest $folder/slow.toml claims the kind" "$folder/log"
echo "bad plugins are told"
