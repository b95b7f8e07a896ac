// PsRoiPool on the device: forward loads all channels of a pixel and keeps those of its bin, backward adds one number
// after the other.
#pragma once

#include "backends/mlu_emu/plan/plan.h"
#include "mluops/problem/ps_roi_pool.h"

namespace mluops::emu::plan {

/// A task has a contiguous share of the RoIs. Channels of the output are cut into parts of `deal`.
/// NRAM: | output | mapping (int32) | pixel [deal, bins] | transposed [bins, deal] |, bins rounded up to a unit of the
/// vector alignment, as is `deal`.
struct PsRoiPoolForwardPlan : Plan {
  std::int64_t rois = 0, bins = 0, padded_bins = 0, deal = 0;
  std::int64_t output = 0, mapping = 0, pixel = 0, transposed = 0;  ///< byte offsets
};

/// A task has a contiguous share of the bins of all RoIs and takes `deal` numbers of theirs at a time.
/// NRAM: | grad_output | mapping (int32) | what was there before an addition: 128 bytes |
struct PsRoiPoolBackwardPlan : Plan {
  std::int64_t bins = 0, deal = 0;
  std::int64_t grad_output = 0, mapping = 0, before = 0;  ///< byte offsets
};

PsRoiPoolForwardPlan plan_ps_roi_pool_forward(const mluopsPsRoiPoolShape& shape, const Machine& machine);
PsRoiPoolBackwardPlan plan_ps_roi_pool_backward(const mluopsPsRoiPoolShape& shape, const Machine& machine);

}  // namespace mluops::emu::plan
