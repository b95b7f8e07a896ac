// Clouds of points [clouds, points, 3] as device code: tiles of them, and rows of x, y and z in NRAM.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

#include "backends/mlu_emu/bang/bang.h"
#include "backends/mlu_emu/kernels/copy.h"
#include "backends/mlu_emu/plan/plan.h"

namespace mluops::emu {

/// Rows of points are multiples of so many lanes: whole lines of half, too.
inline constexpr std::int64_t kPointLanes = 64;

/// Calls visit(cloud, tile) for parts of the share, points of all clouds: at most `most` points, all of one cloud.
template <class Visit>
void for_cloud_tiles(plan::Share share, std::int64_t points_per_cloud, std::int64_t most, const Visit& visit) {
  for (std::int64_t begin = share.begin; begin < share.end;) {
    const std::int64_t cloud = begin / points_per_cloud;
    const std::int64_t end = std::min({share.end, (cloud + 1) * points_per_cloud, begin + most});
    visit(cloud, plan::Share{begin, end});
    begin = end;
  }
}

/// n numbers from GDRAM as floats; the place holds the n floats.
inline void load_floats(float* nram, const float* gdram, std::int64_t n, std::int64_t /*lanes*/) {
  __memcpy(nram, gdram, bytes_of<float>(n), GDRAM2NRAM);
}
inline void load_floats(float* nram, const half* gdram, std::int64_t n, std::int64_t lanes) {
  half* narrow = reinterpret_cast<half*>(nram) + lanes;  // the upper half of the place
  __memcpy(narrow, gdram, bytes_of<half>(n), GDRAM2NRAM);
  __bang_half2float(nram, narrow, lanes);
}

/// Splits `size` points into rows x, y, z of `lanes` floats each, infinite where there is no point.
inline void split_points(float* rows, const float* points, std::int64_t size, std::int64_t lanes) {
  if (size != lanes) __bang_write_value(rows, 3 * lanes, std::numeric_limits<float>::infinity());
  for (std::int64_t axis = 0; axis < 3; ++axis)
    __memcpy(rows + axis * lanes, points + axis, sizeof(float), NRAM2NRAM, sizeof(float), 3 * sizeof(float), size - 1);
}

/// `size` points from GDRAM as such rows. `loaded` has room for 3 * lanes floats. Half becomes float: distances round
/// as on the other backends.
template <class T>
void load_point_rows(float* rows, float* loaded, const T* points, std::int64_t size, std::int64_t lanes) {
  load_floats(loaded, points, 3 * size, 3 * lanes);
  split_points(rows, loaded, size, lanes);
}

/// Squared distances from a point to those of `rows`, each operation rounded. `distance` has room for three rows; its
/// first one is the result.
template <class T>
void squared_distances(float* distance, const float* rows, const T* point, std::int64_t lanes) {
  for (std::int64_t axis = 0; axis < 3; ++axis)
    __bang_sub_scalar(distance + axis * lanes, rows + axis * lanes, static_cast<float>(point[axis]), lanes);
  __bang_square(distance, distance, 3 * lanes);
  __bang_add(distance, distance, distance + lanes, lanes);
  __bang_add(distance, distance, distance + 2 * lanes, lanes);
}

}  // namespace mluops::emu
