// BorderAlign on the device: who takes which box, how NRAM is cut, where channels are split.
#pragma once

#include "backends/mlu_emu/plan/plan.h"
#include "mluops/problem/border_align.h"

namespace mluops::emu::plan {

/// How one call is laid out: units are dealt round-robin over a full Union1 grid, channels are cut into segments of
/// `deal` elements. A segment is worked on with its length rounded up to 128 elements.
///
/// Forward: a unit is a box (n, k); its task walks border, channel segment, sample.
/// | ping: lt rt lb rb | pong: lt rt lb rb | output | boxes: 128 bytes | argmax (int32) |, rows of `deal` elements;
/// a shorter segment packs its four rows at multiples of its own padded length, pong still starts at 4 * deal.
///
/// Backward: a unit is (n, k, border), border fastest.
/// | boxes: 128 bytes | grad_output | grad_input | argmax (int32) |
struct BorderAlignPlan : Plan {
  std::int64_t units = 0;
  std::int64_t channels = 0, deal = 0;
  std::int64_t ping = 0, pong = 0, output = 0;   ///< byte offsets, forward only
  std::int64_t grad_output = 0, grad_input = 0;  ///< byte offsets, backward only
  std::int64_t boxes = 0, argmax = 0;            ///< byte offsets

  std::int64_t segments() const { return (channels + deal - 1) / deal; }
  Share segment(std::int64_t index) const { return block_share(channels, deal, index); }
  static std::int64_t padded(std::int64_t segment_length) {
    return (segment_length + kNfuAlign - 1) / kNfuAlign * kNfuAlign;
  }
};

BorderAlignPlan plan_border_align_forward(const mluopsBorderAlignShape& shape, const Machine& machine);
BorderAlignPlan plan_border_align_backward(const mluopsBorderAlignShape& shape, const Machine& machine);

/// Most (box, border, segment, sample) steps one call may take; larger ones are declined instead of running for hours.
inline constexpr std::int64_t kBorderAlignMaxSteps = std::int64_t{1} << 28;

}  // namespace mluops::emu::plan
