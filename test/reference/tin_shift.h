// TinShift, each step sent to where it goes.
#pragma once

#include "test/reference/reference.h"

namespace mluops::reference {

/// [n,t,c,pixels]; `from` has the dtype of the shape.
inline Values tin_shift(const mluopsTinShiftShape& s, const void* from, const std::int32_t* shifts) {
  const std::int64_t step = s.c * s.pixels, group = s.c / s.groups * s.pixels;
  const Values input = decode(s.dtype, from, s.n * s.t * step);
  Values output(input.size(), 0);
  for (std::int64_t i = 0; i < s.n * s.t * step; ++i) {
    const std::int64_t n = i / (s.t * step), t = i / step % s.t, g = i % step / group;
    const std::int64_t to = t + shifts[n * s.groups + g];
    if (to >= 0 && to < s.t) output[static_cast<std::size_t>(i + (to - t) * step)] = input[static_cast<std::size_t>(i)];
  }
  return output;
}

}  // namespace mluops::reference
