#!/usr/bin/env bash
# Cross-builds the wheel for macOS 11 and later on arm64 into dist/. Experimental: nothing here can run it; on a Mac,
# test/python/wheel_macos.sh does. Loops use the threads of the C++ runtime. Usage: build_wheel_macos.sh [output directory]
set -euo pipefail
cd "$(dirname "$0")/../.."
out=$(mkdir -p "${1:-dist}" && cd "${1:-dist}" && pwd)
tools=build/wheel-tools build=build/wheel-macos raw=build/wheel-raw-macos

say() { printf '\033[1m%s\033[0m\n' "$*" >&2; }

say "tools of the wheel"
[ -x "$tools/bin/pip" ] || python3 -m venv "$tools"
"$tools/bin/pip" install --quiet build 'scikit-build-core>=0.10' wheel lief
PATH="$PWD/$tools/bin:$PATH"
cmake/macos-sysroot.sh

options=(-Cbuild-dir="$build" "-Ccmake.define.CMAKE_TOOLCHAIN_FILE=$PWD/cmake/toolchain-macos.cmake"
  -Ccmake.define.MLUOPS_OPENMP=OFF "-Ccmake.define.MLUOPS_OPERATORS=${MLUOPS_OPERATORS:-}")
if command -v ccache >/dev/null; then
  options+=(-Ccmake.define.CMAKE_C_COMPILER_LAUNCHER=ccache -Ccmake.define.CMAKE_CXX_COMPILER_LAUNCHER=ccache)
fi
say "building the library for macOS"
rm -rf "$raw"
python -m build --wheel --no-isolation --outdir "$raw" "${options[@]}" . >"$raw.log" 2>&1 || {
  tail -n 40 "$raw.log" >&2
  exit 1
}
# The build names the machine it runs on.
python -m wheel tags --remove --platform-tag macosx_11_0_arm64 "$raw"/mluops-*.whl >/dev/null
wheel=$(basename "$raw"/mluops-*-macosx_11_0_arm64.whl)
cp "$raw/$wheel" "$out"
python api/python/check_wheel_macos.py "$out/$wheel"
ls -l "$out/$wheel"
