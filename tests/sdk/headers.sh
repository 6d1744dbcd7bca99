#!/usr/bin/env bash
# Every SDK header compiles by itself, and all of them together, in each language that the SDK promises.
#   headers.sh INCLUDE_FOLDER COMPILER
set -euo pipefail
include=$(cd "$1" && pwd)
compiler=$2
command -v "$compiler" >/dev/null || { echo "skipped: $compiler is not installed"; exit 0; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$include"
mapfile -t c_headers < <(find halogen -name '*.h' | sort)
mapfile -t cxx_headers < <(find halogen -name '*.h' -o -name '*.hpp' | sort)

# A file for each header, and one for all.
write_sources() {  # EXTENSION HEADERS...
  local extension=$1 header
  shift
  for header in "$@"; do
    printf '#include "%s"\nextern int something;\n' "$header" >"$work/$(echo "$header" | tr / _).$extension"
    printf '#include "%s"\n' "$header" >>"$work/all.$extension"
  done
}
write_sources c "${c_headers[@]}"
write_sources cpp "${cxx_headers[@]}"

check() {  # LANGUAGE STANDARD EXTENSION
  "$compiler" -x "$1" -std="$2" -I "$include" -Wall -Wextra -Wpedantic -Werror -fsyntax-only "$work"/*."$3" ||
    { echo "$compiler -std=$2 does not take the headers"; exit 1; }
}
for standard in c11 c17; do check c "$standard" c; done
# C23 under its earlier name; an older compiler does not promise it.
if echo 'extern int something;' | "$compiler" -x c -std=c2x -fsyntax-only - 2>/dev/null; then check c c2x c; fi
for standard in c++11 c++14 c++17 c++20; do check c++ "$standard" cpp; done
echo "$compiler takes the headers"
