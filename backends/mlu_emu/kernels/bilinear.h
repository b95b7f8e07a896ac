// Where a sample lies between pixels, in the coordinates' own type: device scalar code of the RoI operators.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>

#include "backends/mlu_emu/bang/bang.h"

namespace mluops::emu {

template <class T>
T from_integer(std::int64_t value) {
  return T(static_cast<float>(value));
}

/// Conversion of a scalar to an integer: NaN gives 0, what does not fit 32 bits the nearest end.
template <class T>
std::int32_t to_int32(T scalar) {
  const float value = static_cast<float>(scalar);
  if (std::isnan(value)) return 0;
  if (value >= 0x1p31f) return std::numeric_limits<std::int32_t>::max();
  if (value < -0x1p31f) return std::numeric_limits<std::int32_t>::min();
  return static_cast<std::int32_t>(value);
}

/// One coordinate of a sample on an axis of `size` pixels: its two neighbours and their weights. Up to one pixel
/// beside the map samples are drawn onto the border, farther off they are outside. NaN is not outside.
template <class T>
struct AxisSample {
  bool outside = false;
  std::int64_t low = 0, high = 0;
  T raw;  ///< as computed, not drawn onto the border
  T weight_low, weight_high;
};

template <class T>
AxisSample<T> sample_axis(T at, std::int64_t size) {
  AxisSample<T> sample{false, 0, 0, at, T(0.0f), T(0.0f)};
  const float value = static_cast<float>(at);
  sample.outside = value < -1.0f || value > static_cast<float>(size);
  if (sample.outside) return sample;
  if (value <= 0.0f) at = T(0.0f);
  sample.low = to_int32(at);
  sample.high = sample.low + 1;
  if (sample.low >= size - 1) {
    sample.low = sample.high = size - 1;
    at = from_integer<T>(size - 1);
  }
  sample.weight_high = at - from_integer<T>(sample.low);
  sample.weight_low = T(1.0f) - sample.weight_high;
  return sample;
}

/// A sample: outside when either coordinate is. Neighbours are numbered (low, low), (low, high), (high, low),
/// (high, high), y first.
template <class T>
struct Sample {
  AxisSample<T> y, x;

  bool outside() const { return y.outside || x.outside; }
  std::int64_t neighbour_y(int i) const { return i < 2 ? y.low : y.high; }
  std::int64_t neighbour_x(int i) const { return i % 2 == 0 ? x.low : x.high; }
  /// Whether the i-th neighbour is another one's pixel, on the far border of the map; its weight is 0.
  bool merged(int i) const { return (i >= 2 && y.high == y.low) || (i % 2 == 1 && x.high == x.low); }
  T weight(int i) const { return (i < 2 ? y.weight_low : y.weight_high) * (i % 2 == 0 ? x.weight_low : x.weight_high); }
};

}  // namespace mluops::emu
