#!/usr/bin/env bash
# Every SDK header compiles by itself, and all of them together, in each language that the SDK promises, with every
# compiler that there is.
#   headers.sh INCLUDE_FOLDER COMPILER...      a C compiler; its C++ is found beside it
set -euo pipefail
include=$(cd "$1" && pwd)
shift
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$include"
mapfile -t c_headers < <(find halogen -name '*.h' | sort)
mapfile -t cxx_headers < <(find halogen -name '*.h' -o -name '*.hpp' | sort)
checked=0

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

check() {  # COMPILER LANGUAGE STANDARD EXTENSION
  # A compiler that is too old for the standard does not promise it.
  echo 'extern int something;' | "$1" -x "$2" -std="$3" -fsyntax-only - 2>/dev/null || return 0
  "$1" -x "$2" -std="$3" -I "$include" -Wall -Wextra -Wpedantic -Werror -fsyntax-only "$work"/*."$4" ||
    { echo "$1 -std=$3 does not take the headers"; exit 1; }
  checked=$((checked + 1))
}

for compiler in "$@"; do
  command -v "$compiler" >/dev/null || continue
  for standard in c11 c17 c2x; do check "$compiler" c "$standard" c; done
  for standard in c++11 c++14 c++17 c++20 c++23; do check "$compiler" c++ "$standard" cpp; done
done
echo "$checked languages of compilers checked"
[[ $checked -ge 7 ]]
