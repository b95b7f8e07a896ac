// The nearest of some points, as knn and three_nn order them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "test/reference/squared_distance.h"

namespace mluops::reference {

using Neighbour = std::pair<double, std::int64_t>;  ///< in the order of squared distance, then of index

/// The k points of points[count][3] that are nearest to from[3]; fewer where no more are nearer than `limit`.
inline std::vector<Neighbour> nearest(mluOpDataType_t dtype, const double* from, const double* points,
                                      std::int64_t count, std::int64_t k, double limit) {
  std::vector<Neighbour> found;
  for (std::int64_t n = 0; n < count; ++n) {
    const Neighbour candidate{squared_distance(dtype, from, points + 3 * n), n};
    if (!(candidate.first < limit) || (std::ssize(found) == k && !(candidate < found.back()))) continue;
    found.insert(std::upper_bound(found.begin(), found.end(), candidate), candidate);
    if (std::ssize(found) > k) found.pop_back();
  }
  return found;
}

}  // namespace mluops::reference
