// Two nested rows of pieces, as builtins with two strides take them.
#pragma once

#include <cstdint>
#include <limits>

#include "backends/mlu_emu/bang/copies.h"

namespace mluops::emu::bang {

/// One side: inner stride and count less 1, then the outer ones.
struct Nest {
  std::int64_t stride1, segments1, stride2, segments2;

  std::int64_t pieces() const { return (segments1 + 1) * (segments2 + 1); }
  std::int64_t offset(std::int64_t piece) const {
    return piece % (segments1 + 1) * stride1 + piece / (segments1 + 1) * stride2;
  }
  bool sensible() const {
    constexpr std::int64_t kLargest = std::numeric_limits<std::int32_t>::max();
    for (const std::int64_t count : {segments1, segments2}) {
      if (count < 0 || count >= kLargest) return false;
    }
    if (!fits_32_bits(stride1) || !fits_32_bits(stride2)) return false;
    return pieces() <= kLargest;
  }
};

}  // namespace mluops::emu::bang
