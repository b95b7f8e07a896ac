#!/usr/bin/env bash
# clang-tidy over the code that holds the rules: common/, api/c/ and the emulated device, or the files named. Kernels
# are compiled once per instruction set, which clang-tidy cannot follow in reasonable time; warnings and sanitizers see
# to those. Needs nothing built, only configured.
set -euo pipefail
cd "$(dirname "$0")/.."
build=build/clang
[ -f "$build/compile_commands.json" ] || cmake --preset clang >/dev/null
if [ $# -eq 0 ]; then
  mapfile -t files < <(git ls-files 'common/*.cpp' 'api/c/*.cpp' 'backends/mlu_emu/device/*.cpp')
  set -- "${files[@]}"
fi
printf '%s\0' "$@" | xargs -0 -n 4 -P "$(nproc)" clang-tidy-14 -p "$build" --quiet 2>/dev/null
echo "clang-tidy: $# files clean"
