// BoxIouRotated on the device: pairs of boxes side by side in lanes.
#pragma once

#include "backends/mlu_emu/plan/plan.h"
#include "mluops/problem/box_iou.h"

namespace mluops::emu::plan {

/// Tasks have contiguous shares of the first boxes. Aligned: of pairs. Else a task takes `lanes` of the second boxes at
/// a time and pairs them with each of its first ones.
/// NRAM: | first: 8 arrays | second: 8 arrays | work: arrays |, `lanes` floats each. Boxes come as rows of `pitch`
/// floats: 5, on the 200 series, which transposes whole lines, 32. Rows and transposed rows lie in the work arrays.
struct BoxIouRotatedPlan : Plan {
  std::int64_t lanes = 0, pitch = 0;
  std::int64_t first = 0, second = 0, work = 0;  ///< byte offsets
};

inline constexpr std::int64_t kBoxIouWorkArrays = 23;

BoxIouRotatedPlan plan_box_iou_rotated(const mluopsBoxIouShape& shape, const Machine& machine);

}  // namespace mluops::emu::plan
