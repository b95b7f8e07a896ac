// MsDeformAttn on the device: who takes which query, how NRAM is cut, where channels are split.
#pragma once

#include "backends/mlu_emu/plan/plan.h"
#include "mluops/problem/ms_deform_attn.h"

namespace mluops::emu::plan {

/// Channels are cut into segments of `deal` elements, whole lines of 128 bytes.
/// Forward: units (batch, query, head), head fastest, are dealt round-robin.
/// NRAM: | shapes: 128 bytes | ping: 4 rows | pong: 4 rows | col | sample | product |
/// Backward: units (batch, query, head, level), level fastest, in contiguous shares.
/// NRAM: | shapes: 64 bytes, of the 200 series 128 | eight arrays |
struct MsDeformAttnPlan : Plan {
  std::int64_t units = 0;
  std::int64_t channels = 0, deal = 0;
  std::int64_t shapes = 0;       ///< byte offsets, this and the next
  std::int64_t arrays[11] = {};  ///< in the order above; `deal` elements each

  std::int64_t segments() const { return (channels + deal - 1) / deal; }
  Share segment(std::int64_t index) const { return block_share(channels, deal, index); }
};

MsDeformAttnPlan plan_ms_deform_attn(const mluopsMsDeformAttnShape& shape, Direction direction, const Machine& machine);

}  // namespace mluops::emu::plan
