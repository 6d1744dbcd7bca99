#!/usr/bin/env bash
# The plugin ABI against the recorded one, with libabigail.
#   abi.sh check    fails where a plugin built with the recorded headers could break: anything but new members at the
#                   end of structs that begin with their size, and new enumerators
#   abi.sh test     shows that check tells the two apart, on changed copies of the headers
#   abi.sh update   records the headers as they are; after a check that passes, or for a new ABI major
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
headers=$here/../../include
baseline=$here/halogen.abixml
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

if ! command -v abidiff >/dev/null || [[ $(uname -m) != x86_64 ]]; then
  echo "skipped: needs abidiff (abigail-tools) on x86-64"
  exit 0
fi

# build INCLUDE_FOLDER OBJECT: no path of this machine gets into it.
build() {
  (cd "$here" && ${CC:-cc} -std=c11 -g -O0 -fPIC -shared -I "$1" -ffile-prefix-map="$1=include" \
    -ffile-prefix-map="$here=." sdk_types.c -o "$2")
}

# compare OBJECT: prints what is incompatible, and fails if anything is.
compare() {
  abidiff --leaf-changes-only --no-show-locs "$baseline" "$1" >"$work/report" || (($? & 4)) || {
    cat "$work/report"
    return 1
  }
  awk '
    FNR == NR {  # the baseline: which structs begin with their size
      if (match($0, /<class-decl name=.[a-z_]+/)) class = substr($0, RSTART + 18, RLENGTH - 18)
      if (/<var-decl name=.struct_size/) sized[class] = 1
      next
    }
    /^Leaf changes|^Changed leaf types|^Removed\/Changed|^$/ { next }
    match($0, /^.struct [a-z_]+. changed:$/) {
      struct = substr($0, 9, RLENGTH - 18); old = 0
      if (struct in sized) next
    }
    /^  type size changed from [0-9]+ to [0-9]+/ { old = $5; if ($7 > old) next }
    /^  [0-9]+ data member insertions?:$/ { next }
    /^    .*, at offset [0-9]+ \(in bits\)$/ { if (old > 0 && $(NF - 2) >= old) next }
    { print (struct ? struct ":" : "") $0; bad = 1 }
    END { exit bad }
  ' "$baseline" "$work/report"
}

# variant WORD HEADER PERL: the verdict on a copy of the headers with one of them changed must be WORD.
variant() {
  rm -rf "$work/include"
  cp -r "$headers" "$work/include"
  perl -0pi -e "$3" "$work/include/halogen/$2"
  ! diff -rq "$headers" "$work/include" >/dev/null || { echo "changes nothing: $3"; exit 1; }
  build "$work/include" "$work/variant.so"
  local verdict=fits
  compare "$work/variant.so" >"$work/verdict" || verdict=breaks
  [[ $verdict == "$1" ]] || { echo "$3: $verdict, but it $1"; cat "$work/report"; exit 1; }
  echo "$1: $3"
}

case ${1:-} in
  check)
    build "$headers" "$work/now.so"
    compare "$work/now.so"
    echo "the ABI fits the recorded one"
    ;;
  test)
    variant fits scheduler.h 's/(\} halogen_scheduler_factory;)/ halogen_status (*more)(halogen_scheduler*); $1/'
    variant fits sampler.h 's/(\} halogen_sample_batch;)/ float more; float yet_more; $1/'
    variant fits graph.h 's/(HALOGEN_OP_CONCAT = 22)/$1, HALOGEN_OP_MORE = 23/'
    variant breaks scheduler.h 's/(const uint64_t\* ids;)/const uint64_t* early; $1/'
    variant breaks scheduler.h 's/  const uint64_t\* ids;//'
    variant breaks scheduler.h 's/(const uint64_t\* ids;)(.*?)(const int32_t\* priorities;)/$3 $2 $1/s'
    variant breaks sampler.h 's/float top_p; /int32_t top_p; /'
    variant breaks sampler.h 's/(\} halogen_logit_bias;)/ float more; $1/'  # has no struct_size
    variant breaks plugin.h 's/(\} halogen_plugin_descriptor;)/ uint32_t in_the_padding; $1/'
    variant breaks backend.h 's/\(\*kv_copy\)\(halogen_kv\* kv, /(*kv_copy)(/'
    variant breaks graph.h 's/HALOGEN_OP_CONCAT = 22/HALOGEN_OP_CONCAT = 23/'
    ;;
  update)
    build "$headers" "$work/now.so"
    abidw --no-corpus-path --no-comp-dir-path --no-show-locs --no-elf-needed --no-parameter-names \
      --type-id-style hash --out-file "$baseline" "$work/now.so"
    ;;
  *)
    echo "usage: $0 check|test|update" >&2
    exit 64
    ;;
esac
