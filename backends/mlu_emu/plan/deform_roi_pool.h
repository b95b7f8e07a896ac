// DeformRoiPool on the device: who takes which bin, how NRAM is cut, where channels are split.
#pragma once

#include "backends/mlu_emu/plan/plan.h"
#include "mluops/problem/deform_roi_pool.h"

namespace mluops::emu::plan {

/// NRAM of the forward kernel while it works on one channel segment; offsets and lengths in elements.
/// | output | ping: 4 neighbour rows | pong: 4 neighbour rows |
struct DeformForwardTile {
  std::int64_t channels = 0;  ///< of the segment
  std::int64_t padded = 0;    ///< channels rounded up to 128 bytes
  std::int64_t output = 0;
  std::int64_t ping = 0, pong = 0;
  std::int64_t row = 0;  ///< room of one neighbour row, at least `padded`; rows lie `padded` apart
};

/// NRAM of the backward kernel; without offset only the five rows exist.
/// | tmp1 .. tmp4, grad_output: 5 rows | sum_tmp: 128 bytes | ping: 4 input rows | pong: 4 input rows |
struct DeformBackwardTile {
  std::int64_t channels = 0;
  std::int64_t padded = 0;
  std::int64_t tmp = 0;  ///< four rows, `padded` apart
  std::int64_t grad_output = 0;
  std::int64_t sum_tmp = 0;
  std::int64_t ping = 0, pong = 0;
  std::int64_t row = 0;
};

/// How one call is laid out. Bins (roi, ph, pw), pw fastest, are dealt round-robin to the tasks; channels are cut
/// into segments of channel_part. `nram` maps the longest segment.
struct DeformRoiPoolPlan : Plan {
  bool backward = false;
  bool with_offset = false;
  std::int64_t bins = 0;
  std::int64_t channels = 0, channel_part = 0;
  std::int64_t nram_elements = 0;
  std::int64_t lanes = 0;  ///< elements in 128 bytes
  std::int64_t align = 0;  ///< elements between addresses the vector unit takes

  std::int64_t segments() const { return (channels + channel_part - 1) / channel_part; }
  Share segment(std::int64_t index) const { return block_share(channels, channel_part, index); }
  DeformForwardTile forward_tile(std::int64_t segment_length) const;
  DeformBackwardTile backward_tile(std::int64_t segment_length) const;
  NramMap nram_map(std::int64_t segment_length) const;
};

DeformRoiPoolPlan plan_deform_roi_pool_forward(const mluopsDeformRoiPoolShape& shape, const Machine& machine);
DeformRoiPoolPlan plan_deform_roi_pool_backward(const mluopsDeformRoiPoolShape& shape, bool with_offset,
                                                const Machine& machine);

}  // namespace mluops::emu::plan
