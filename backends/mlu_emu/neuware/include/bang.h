// BANG C on the emulated MLU. cncc puts this in front of every .mlu file; docs/kernel_author.md shows how to use it.
#pragma once

#include <math.h>
#include <stddef.h>
#include <stdint.h>

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstdio>
#include <limits>
#include <type_traits>

#include "neuware.h"  // first: cncc's rewriting of what follows calls it

#include "backends/mlu_emu/bang/words.h"
#include "cnrt.h"

// Qualifiers C++ has nothing to say about; cncc rewrites the others (__mlu_func__, __nram__ ...).
#define __mlu_builtin__
#define __mlu_host__
#define __mlu_const__

using namespace mluops::emu::bang;  // NOLINT: kernels say half and __bang_add

// 3.14h, a half. Names of literals without an underscore are a system header's, as this one is where cncc puts it.
#pragma GCC system_header
inline half operator""h(long double value) {
  return half(static_cast<double>(value));
}

// Names that older sources have for integers.
using int8 = int8_t;
using int16 = int16_t;
using int32 = int32_t;
using uint8 = uint8_t;
using uint16 = uint16_t;
using uint32 = uint32_t;

// Who the running task is: plain integers, set before each task.
extern __thread int taskId, taskIdX, taskIdY, taskIdZ;
extern __thread int taskDim, taskDimX, taskDimY, taskDimZ;
extern __thread int coreId, coreDim, clusterId, clusterDim;

/// As printf, to stdout; a half is printed as a number.
template <class... Arguments>
void __bang_printf(const char* format, Arguments... arguments) {
  const auto promoted = [](auto value) {
    if constexpr (std::is_same_v<decltype(value), half> || std::is_same_v<decltype(value), bfloat16_t>) {
      return static_cast<double>(static_cast<float>(value));
    } else {
      return value;
    }
  };
  std::printf(format, promoted(arguments)...);
}

namespace std {
#if !defined(__GLIBCXX__) || __GLIBCXX__ < 20240507
// Missing before GCC 14.
using ::ceilf;
using ::fabsf;
using ::floorf;
using ::powf;
using ::sqrtf;
#endif
}  // namespace std
