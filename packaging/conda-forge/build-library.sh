#!/usr/bin/env bash
# The C library, its headers, CMake package and pkg-config file into $PREFIX.
set -euo pipefail
cmake -G Ninja -S "$SRC_DIR" -B build ${CMAKE_ARGS:-} -DCMAKE_BUILD_TYPE=Release -DCMAKE_INSTALL_PREFIX="$PREFIX" \
  -DCMAKE_INSTALL_LIBDIR=lib -DMLUOPS_BUILD_TESTS=OFF -DMLUOPS_BUILD_BENCH=OFF -DMLUOPS_BUILD_NEUWARE=OFF \
  -DMLUOPS_BUILD_ONNXRUNTIME=OFF -DMLUOPS_TBB=OFF ${MLUOPS_CMAKE_ARGS:-}
cmake --build build --parallel "${CPU_COUNT:-2}"
cmake --install build
