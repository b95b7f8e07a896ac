// The focal losses from their formulas.
#pragma once

#include "test/reference/reference.h"

namespace mluops::reference {

/// output [n,c].
Values focal_loss_sigmoid_forward(const mluopsFocalLossProblem& problem);
/// grad_input [n,c].
Values focal_loss_sigmoid_backward(const mluopsFocalLossProblem& problem);
/// output [n].
Values focal_loss_softmax_forward(const mluopsFocalLossProblem& problem);
/// grad_input [n,c].
Values focal_loss_softmax_backward(const mluopsFocalLossProblem& problem);

}  // namespace mluops::reference
