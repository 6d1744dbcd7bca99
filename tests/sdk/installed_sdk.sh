#!/usr/bin/env bash
# An installed halogen loads plugins that were built outside the tree from nothing but the installed SDK: in C++ through
# the CMake package, in C through pkg-config.
#   installed_sdk.sh BUILD_FOLDER SOURCE_FOLDER
set -euo pipefail
build=$1 source=$2
prefix=$(mktemp -d)
trap 'rm -rf "$prefix"' EXIT
cmake --install "$build" --prefix "$prefix" >/dev/null
[[ -f $prefix/etc/halogen/halogen.toml && -L $prefix/bin/halogen-flash-server ]]
pkgconfig=$(dirname "$(find "$prefix" -name halogen-sdk.pc)")

# Each example is small and complete in its folder.
for example in one_at_a_time shortest_first; do
  cp -r "$source/examples/$example" "$prefix/$example"
  lines=$(cat "$prefix/$example"/* | wc -l)
  [[ $lines -lt 100 ]] || { echo "$example has $lines lines"; exit 1; }
done

cmake -S "$prefix/one_at_a_time" -B "$prefix/build" -DCMAKE_PREFIX_PATH="$prefix" >/dev/null
cmake --build "$prefix/build" >/dev/null
env PKG_CONFIG_PATH="$pkgconfig" make -s -C "$prefix/shortest_first" CFLAGS="-O2 -Wall -Wextra -Wpedantic -Werror"

cd "$prefix"  # nothing is found by chance in the working directory
export HALOGEN_PLUGIN_PATH="$prefix/build/plugins:$prefix/shortest_first"
for scheduler in one_at_a_time shortest_first; do
  answer=$(bin/halogen run "$source/models/demo-15m-q4_k_m.gguf" "What is 12 + 30?" --temperature 0 \
    --set scheduler.name=$scheduler)
  [[ $answer == "12 + 30 = 42." ]] || { echo "unexpected answer with $scheduler: $answer"; exit 1; }
  bin/halogen check "$scheduler"
  id=org.example.${scheduler//_/-}
  bin/halogen plugins | grep -q "$id"
  # Built as they should be: nothing but the entry is exported, and the code can be unloaded.
  library=$(bin/halogen plugins | grep -o "$prefix/.*/$scheduler.so")
  inspected=$(bin/halogen plugins inspect "$library")
  grep -q "plugin    $id 1.0.0" <<<"$inspected" && ! grep -qE "problem|remark" <<<"$inspected" ||
    { echo "$inspected"; exit 1; }
done
echo "the installed SDK works"
