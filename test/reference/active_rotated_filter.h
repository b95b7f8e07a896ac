// ActiveRotatedFilter, each place asking for its weight.
#pragma once

#include "test/reference/reference.h"

namespace mluops::reference {

/// [m*r,c*o,h,w].
inline Values active_rotated_filter(const mluopsActiveRotatedFilterForwardProblem& p) {
  const mluopsActiveRotatedFilterShape& s = p.shape;
  const std::int64_t size = s.o * s.h * s.w;
  const Values input = decode(s.dtype, p.input, s.m * s.c * size);
  Values output;
  for (std::int64_t i = 0; i < s.m * s.r * s.c * size; ++i) {
    const std::int64_t m = i / (s.r * s.c * size), copy = i / (s.c * size) % s.r, c = i / size % s.c, place = i % size;
    double found = 0;
    for (std::int64_t j = 0; j < size; ++j) {
      if (p.indices[j * s.r + copy] == place + 1) found = input[static_cast<std::size_t>((m * s.c + c) * size + j)];
    }
    output.push_back(found);
  }
  return output;
}

}  // namespace mluops::reference
