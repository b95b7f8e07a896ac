#!/usr/bin/env bash
# Cross-builds the wheel for Windows (x86-64) into dist/, and a zip with the library, its import library, headers and the
# CMake package. Loops use the threads of the C++ runtime. Usage: build_wheel_windows.sh [output directory]
# MLUOPS_LEVELS: the instruction-set levels of a trial build (default: all). test/python/wheel_windows.sh runs it under wine.
set -euo pipefail
cd "$(dirname "$0")/../.."
out=$(mkdir -p "${1:-dist}" && cd "${1:-dist}" && pwd)
tools=build/wheel-tools build=build/wheel-windows raw=build/wheel-raw-windows
version=$(sed -n 's/^project(mluop-host VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt)

say() { printf '\033[1m%s\033[0m\n' "$*" >&2; }

say "tools of the wheel"
[ -x "$tools/bin/pip" ] || python3 -m venv "$tools"
"$tools/bin/pip" install --quiet build 'scikit-build-core>=0.10' wheel pefile
PATH="$PWD/$tools/bin:$PATH"
cmake/windows-sysroot.sh

options=(-Cbuild-dir="$build" "-Ccmake.define.CMAKE_TOOLCHAIN_FILE=$PWD/cmake/toolchain-windows.cmake"
  -Ccmake.define.MLUOPS_OPENMP=OFF "-Ccmake.define.MLUOPS_LEVELS=${MLUOPS_LEVELS:-all}")
if command -v ccache >/dev/null; then
  options+=(-Ccmake.define.CMAKE_C_COMPILER_LAUNCHER=ccache -Ccmake.define.CMAKE_CXX_COMPILER_LAUNCHER=ccache)
fi
say "building the library for Windows"
rm -rf "$raw"
python -m build --wheel --no-isolation --outdir "$raw" "${options[@]}" . >"$raw.log" 2>&1 || {
  tail -n 40 "$raw.log" >&2
  exit 1
}
# The build names the machine it runs on.
python -m wheel tags --remove --platform-tag win_amd64 "$raw"/mluops-*.whl >/dev/null
wheel=$(basename "$raw"/mluops-*-win_amd64.whl)
cp "$raw/$wheel" "$out"

name=mluops-$version-win_amd64
for component in runtime dev; do
  cmake --install "$build" --prefix "$raw/$name" --component "$component" --strip >/dev/null
done
cp LICENSE build/windows/licenses/* "$raw/$name"
rm -f "$out/$name.zip"
(cd "$raw" && python -m zipfile -c "$out/$name.zip" "$name")
python api/python/check_wheel_windows.py "$out/$wheel"
ls -l "$out/$wheel" "$out/$name.zip"
