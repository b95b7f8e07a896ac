// BallQuery on the device: tiles of centres, and of points that they are compared with.
#pragma once

#include "backends/mlu_emu/plan/plan.h"
#include "mluops/problem/ball_query.h"

namespace mluops::emu::plan {

/// UNION1 over as many clusters as the centres need; the centres of all clouds in contiguous shares. A core compares
/// up to `tile` of them with up to `tile` points at a time.
struct BallQueryPlan : Plan {
  std::int64_t tile = 0;
  // Byte offsets. `selected` is a line with a count and a row of indices behind it.
  std::int64_t centres_offset = 0, found_offset = 0, first_offset = 0;
  std::int64_t rows_offset = 0, distance_offset = 0, numbers_offset = 0, selected_offset = 0;
};

BallQueryPlan plan_ball_query(const mluopsBallQueryShape& shape, const Machine& machine);

}  // namespace mluops::emu::plan
