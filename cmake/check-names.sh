#!/usr/bin/env bash
# Fails where two files of backends/cpu give one name in one namespace to two things: all sources are compiled as one,
# for one instruction-set level, without code. CXX picks the compiler.
set -euo pipefail
cd "${1:-$(dirname "$0")/..}"
for source in backends/cpu/*.cpp backends/cpu/*/*.cpp; do printf '#include "%s"\n' "$source"; done |
  ${CXX:-g++} -x c++ -std=c++20 -fsyntax-only -fopenmp -march=skylake-avx512 -DHWY_COMPILE_ONLY_STATIC \
    -Wall -Wextra -Werror -I. -Iapi/include -
