// Bilinear sampling, one axis at a time: what deform_roi_pool and border_align have in common.
#pragma once

#include <cstdint>

#include "backends/cpu/runtime/index.h"

namespace mluops::cpu {

/// The two neighbours of a sample along one axis. They coincide, with weights 1 and 0, at the far border.
template <class A>
struct AxisSample {
  std::int64_t low, high;
  A low_weight, high_weight;
};

/// Neighbours of a coordinate on an axis of `size` pixels. False outside [-1, size], which is where NaN is too.
template <class A>
inline bool sample_axis(A coordinate, std::int64_t size, AxisSample<A>& sample) {
  if (!(coordinate >= -1 && coordinate <= static_cast<A>(size))) return false;
  const A clamped = coordinate > 0 ? coordinate : A{0};
  sample.low = index_of(clamped, size);
  if (sample.low >= size - 1) {
    sample = {size - 1, size - 1, 1, 0};
    return true;
  }
  sample.high = sample.low + 1;
  sample.high_weight = clamped - static_cast<A>(sample.low);
  sample.low_weight = 1 - sample.high_weight;
  return true;
}

}  // namespace mluops::cpu
