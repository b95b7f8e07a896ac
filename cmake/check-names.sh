#!/usr/bin/env bash
# Fails where two files of backends/cpu, common or api/c give one name in one namespace to two things: the sources of
# each are compiled as one, for one instruction-set level, without code. CXX picks the compiler. The builds of common
# and api/c compile a few files as one, any of them beside any other.
set -euo pipefail
cd "${1:-$(dirname "$0")/..}"
compile_as_one() {
  for source in "$@"; do printf '#include "%s"\n' "$source"; done |
    ${CXX:-g++} -x c++ -std=c++20 -fsyntax-only -fopenmp -march=skylake-avx512 -DHWY_COMPILE_ONLY_STATIC \
      -DMLUOPS_VERSION='""' -Wall -Wextra -Werror -I. -Iapi/include -
}
compile_as_one backends/cpu/*.cpp backends/cpu/*/*.cpp backends/cpu/kernels/*/*.cpp
compile_as_one common/*.cpp common/op/*.cpp
compile_as_one api/c/*.cpp
