#!/usr/bin/env bash
# Cross-builds the wheel for Windows (x86-64) into dist/, and a zip with the library, its import library, headers and the
# CMake package. Loops use the threads of the C++ runtime. Usage: build_wheel_windows.sh [output directory]
# Of a trial build: MLUOPS_LEVELS, the instruction-set levels (default: all), MLUOPS_OPERATORS, the families (default: all).
# test/python/wheel_windows.sh runs it under wine.
set -euo pipefail
cd "$(dirname "$0")/../.."
out=$(mkdir -p "${1:-dist}" && cd "${1:-dist}" && pwd)
version=$(sed -n 's/^project(mluop-host VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt)
. api/python/cross_wheel.sh
cross_wheel Windows win_amd64 pefile "$out" "MLUOPS_LEVELS=${MLUOPS_LEVELS:-all}" "MLUOPS_OPERATORS=${MLUOPS_OPERATORS:-}"

name=mluops-$version-win_amd64
for component in runtime dev; do
  cmake --install "$build" --prefix "$raw/$name" --component "$component" --strip >/dev/null
done
cp LICENSE build/windows/licenses/* "$raw/$name"
rm -f "$out/$name.zip"
(cd "$raw" && python -m zipfile -c "$out/$name.zip" "$name")
python api/python/check_wheel_windows.py "$out/$wheel"
ls -l "$out/$wheel" "$out/$name.zip"
