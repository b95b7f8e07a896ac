// ThreeNN on the device: tiles of points, and of known points that they are compared with.
#pragma once

#include "backends/mlu_emu/plan/plan.h"
#include "mluops/problem/three_nn.h"

namespace mluops::emu::plan {

/// UNION1; the points of all clouds in contiguous shares. A core compares `points` of them at a time with `known` known
/// ones at a time. Each point has a row of candidates, three from each tile of known points; a full row is reduced to
/// its three nearest.
struct ThreeNNPlan : Plan {
  static constexpr std::int64_t kCandidates = 32;  ///< a row of floats: 128 bytes
  static constexpr std::int64_t kIndices = 64;     ///< a row of their indices, as documented

  std::int64_t points = 0, known = 0;
  // Byte offsets.
  std::int64_t unknown_offset = 0, candidates_offset = 0, indices_offset = 0;
  std::int64_t rows_offset = 0, distance_offset = 0, infinite_offset = 0, least_offset = 0;
};

ThreeNNPlan plan_three_nn(const mluopsThreeNNShape& shape, const Machine& machine);

}  // namespace mluops::emu::plan
