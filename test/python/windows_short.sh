#!/usr/bin/env bash
# Under wine, in a few minutes: the library for Windows with two families at level AVX2, hardly optimized; the C example
# on both backends, how processes end and unload the library, the C++ tests of the common part, and cpu against the
# emulated device against the reference.
set -euo pipefail
cd "$(dirname "$0")/../.."
. test/python/wine.sh
build=build/windows-short launcher=()
cmake/windows-sysroot.sh
start_wine
if command -v ccache >/dev/null; then
  launcher=(-DCMAKE_C_COMPILER_LAUNCHER=ccache -DCMAKE_CXX_COMPILER_LAUNCHER=ccache)
fi
{
  cmake -G Ninja -S . -B "$build" -DCMAKE_BUILD_TYPE=Release "-DCMAKE_CXX_FLAGS_RELEASE=-O1 -DNDEBUG" \
    "-DCMAKE_TOOLCHAIN_FILE=$PWD/cmake/toolchain-windows.cmake" -DMLUOPS_OPENMP=OFF -DMLUOPS_TBB=OFF \
    -DMLUOPS_LEVELS=avx2 "-DMLUOPS_OPERATORS=psamask;roi_align" -DMLUOPS_BUILD_TESTS=ON -DMLUOPS_BUILD_BENCH=OFF \
    -DMLUOPS_BUILD_ONNXRUNTIME=OFF "${launcher[@]}" &&
    cmake --build "$build" --target mluops test_common test_cross
} >"$build.log" 2>&1 || { tail -n 40 "$build.log" && exit 1; }
export WINEPATH=$PWD/$build/api
run_example api/include "$build/api/libmluops.dll.a"
run_probe api/include "$build/api/libmluops-1.dll" 1
run_tests "$build" common
run_tests "$build" cross --gtest_filter='*CrossTest.*'
