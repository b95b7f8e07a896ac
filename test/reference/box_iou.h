// BboxOverlaps, BoxIouRotated and NmsRotated from their definitions, in double throughout.
#pragma once

#include "test/reference/reference.h"

namespace mluops::reference {

/// ious [n,m], or [n] if aligned.
Values bbox_overlaps(const mluopsBoxIouProblem& problem);
Values box_iou_rotated(const mluopsBoxIouProblem& problem);

struct NmsRotatedResult {
  Values output;  ///< [n]
  Values num;     ///< [1]
};
NmsRotatedResult nms_rotated(const mluopsNmsRotatedProblem& problem);

}  // namespace mluops::reference
