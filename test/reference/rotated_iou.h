// RotatedIou and its gradients from their definitions.
#pragma once

#include "test/reference/reference.h"

namespace mluops::reference {

/// ious [count].
Values rotated_iou_forward(const mluopsRotatedIouForwardProblem& problem);

struct RotatedIouGradients {
  Values box1, box2;  ///< [count,numbers]
};
RotatedIouGradients rotated_iou_backward(const mluopsRotatedIouBackwardProblem& problem);

}  // namespace mluops::reference
