// What both directions of AssignScoreWithk know of a pair of a centre and one of its neighbours.
#pragma once

#include <cstdint>

#include "mluops/problem/assign_score_withk.h"

namespace mluops::cpu::assign_score_withk {

using Shape = mluopsAssignScoreWithkShape;

/// Pair number (b * p + centre) * k + neighbour: which rows [m,o] of points and centers it is about.
struct Pair {
  bool counts;                 ///< both indices are inside
  std::int64_t point, center;  ///< row numbers over all images

  Pair(const Shape& s, const std::int32_t* knn_idx, std::int64_t number) {
    const std::int64_t i = knn_idx[number], j = knn_idx[number - number % s.k];
    const std::int64_t first = number / (s.p * s.k) * s.n;
    counts = i >= 0 && i < s.n && j >= 0 && j < s.n;
    point = first + i;
    center = first + j;
  }
};

}  // namespace mluops::cpu::assign_score_withk
