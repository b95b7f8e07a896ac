// Sums of lanes, as device code.
#pragma once

#include <cstdint>

#include "backends/mlu_emu/bang/bang.h"

namespace mluops::emu {

/// The sum of n lanes, a multiple of `line` (those of 128 bytes): by lines first, into `scratch` of one line, then
/// along that line.
template <class T>
T sum_of_lanes(T* scratch, const T* lanes, std::int64_t n, std::int64_t line) {
  const std::int64_t lines = n / line;
  __bang_sumpool(scratch, lanes, line, 1, lines, 1, lines, lines, 1);
  return __bang_sum(scratch, line);
}

}  // namespace mluops::emu
