// How the work of both directions of GatherPoints is divided.
#pragma once

#include <algorithm>
#include <cstdint>

#include "common/shape.h"
#include "mluops/problem/gather_points.h"

namespace mluops::cpu::gather_points {

using Shape = mluopsGatherPointsShape;

/// Rows that share one look at the indices: as many as still fit the second cache at some 10^4 points.
constexpr std::int64_t kRows = 4;
/// Indices of a run: an item has one run of the indices of some rows.
constexpr std::int64_t kRun = 4096;

/// The rows [first, first + count) of all [b,c], which lie in one image.
struct Rows {
  std::int64_t image, first, count;

  Rows(const Shape& s, std::int64_t item, std::int64_t most = kRows) {
    const std::int64_t groups = ceil_div(s.c, most), c = item % groups * most;
    image = item / groups;
    first = image * s.c + c;
    count = std::min(most, s.c - c);
  }
  static std::int64_t items(const Shape& s, std::int64_t most = kRows) { return s.b * ceil_div(s.c, most); }
};

}  // namespace mluops::cpu::gather_points
