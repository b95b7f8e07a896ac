// ThreeInterpolate on the device: blocks of Co channels, Mo features and No points, chosen by a search.
#pragma once

#include "backends/mlu_emu/plan/plan.h"
#include "mluops/problem/three_interpolate.h"

namespace mluops::emu::plan {

/// UNION1. Blocks (batch, block of No points) forward, (batch, block of Mo features) backward, in contiguous shares.
/// co, mo, no are multiples of 128 B worth of elements; the order of additions, hence the bits, depends on them.
struct ThreeInterpolatePlan : Plan {
  std::int64_t co = 0, mo = 0, no = 0;
  std::int64_t blocks_per_batch = 0, blocks = 0;
  // Byte offsets. "source" is features (grad_output), "target" the gathered rows (grad_features); _t: transposed.
  std::int64_t source_offset = 0, source_t_offset = 0, target_offset = 0, target_t_offset = 0;
  std::int64_t weights_offset = 0, weights_t_offset = 0, indices_offset = 0, indices_t_offset = 0;
  std::int64_t rows_offset = 0;  // three rows of No 32-bit values
};

ThreeInterpolatePlan plan_three_interpolate(const mluopsThreeInterpolateShape& shape, Direction direction,
                                            const Machine& machine);

}  // namespace mluops::emu::plan
