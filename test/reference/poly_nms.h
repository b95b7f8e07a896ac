// PolyNms, each pair by itself, in double throughout.
#pragma once

#include "test/reference/reference.h"

namespace mluops::reference {

struct PolyNmsResult {
  Values output;       ///< [n], zeros behind
  Values output_size;  ///< one number
};
PolyNmsResult poly_nms(const mluopsPolyNmsProblem& problem);

/// IoU of two quadrilaterals x1 y1 ... x4 y4.
double iou_of_quadrilaterals(const double* a, const double* b);

}  // namespace mluops::reference
