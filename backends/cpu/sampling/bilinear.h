// Bilinear sampling: one axis at a time on a map whose border goes on, and on a map with zeros around it.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
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

/// The four pixels under a sample of a map with zeros around it, row by row: their numbers, bilinear weights, and which
/// of them are on the map. `up`, `left`: the fractions of the lower row and of the right column.
template <class A>
struct PaddedSample {
  std::array<std::int64_t, 4> pixel;
  std::array<A, 4> weight;
  std::array<bool, 4> on_map;
  A up, left;
};

/// Pixels of a sample of a map of h x w. False where none is on it, which is where NaN is too.
template <class A>
inline bool sample_padded(A y, A x, std::int64_t h, std::int64_t w, PaddedSample<A>& s) {
  if (!(y > -1 && x > -1 && y < static_cast<A>(h) && x < static_cast<A>(w)) || h == 0 || w == 0) return false;
  const A top = std::floor(y), near = std::floor(x);
  const std::int64_t row = top < 0 ? -1 : index_of(top, h), col = near < 0 ? -1 : index_of(near, w);
  s.up = y - top;
  s.left = x - near;
  const bool rows[] = {row >= 0, row + 1 < h}, cols[] = {col >= 0, col + 1 < w};
  const A down[] = {1 - s.up, s.up}, across[] = {1 - s.left, s.left};
  for (std::size_t i = 0; i < 4; ++i) {
    s.on_map[i] = rows[i / 2] && cols[i % 2];
    s.pixel[i] = (row + static_cast<std::int64_t>(i / 2)) * w + col + static_cast<std::int64_t>(i % 2);
    s.weight[i] = down[i / 2] * across[i % 2];
  }
  return true;
}

}  // namespace mluops::cpu
