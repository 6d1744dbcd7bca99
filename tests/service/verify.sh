#!/usr/bin/env bash
# verify.sh SYSTEMD-ANALYZE UNIT PROGRAM: the unit is valid, with the program of this build in place of the installed one.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -r "$folder"' EXIT
sed "s|^ExecStart=/usr/bin/halogen |ExecStart=$3 |" "$2" > "$folder/halogen.service"
grep -q "^ExecStart=$3 " "$folder/halogen.service"
# Without a running manager it also speaks of units that this machine lacks; only ours count.
complaints=$("$1" verify --man=no --recursive-errors=no "$folder/halogen.service" 2>&1 | grep -F halogen.service || true)
[[ -z $complaints ]] || { echo "$complaints"; exit 1; }
