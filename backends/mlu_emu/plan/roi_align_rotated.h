// RoiAlignRotated on the device: who takes which bin, how NRAM is cut, where channels are split.
#pragma once

#include "backends/mlu_emu/plan/plan.h"
#include "mluops/problem/roi_align_rotated.h"

namespace mluops::emu::plan {

/// Bins (roi, ph, pw), pw fastest, are dealt round-robin; channels are cut into segments of `deal` elements, whole
/// lines of 128 bytes. NRAM in equal parts of `deal` elements, behind one line for a RoI's numbers: forward: | output |
/// ping: 4 rows | pong: 4 rows |, backward: | ping: grad_output, grad_input | pong: the same |
struct RoiAlignRotatedPlan : Plan {
  std::int64_t bins = 0;
  std::int64_t channels = 0, deal = 0, lanes = 0;  ///< lanes: elements of one line
  std::int64_t roi = 0, output = 0;                ///< byte offsets
  std::int64_t buffer[2] = {};                     ///< of ping and pong

  std::int64_t segments() const { return (channels + deal - 1) / deal; }
  Share segment(std::int64_t index) const { return block_share(channels, deal, index); }
};

RoiAlignRotatedPlan plan_roi_align_rotated(const mluopsRoiAlignRotatedShape& shape, Direction direction,
                                           const Machine& machine);

}  // namespace mluops::emu::plan
