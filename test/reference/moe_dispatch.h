// MoE dispatch from its definition: a loop over samples.
#pragma once

#include "test/reference/reference.h"

namespace mluops::reference {

/// dispatch [experts*capacity,hidden]; `before`: what it held.
Values moe_dispatch_forward(const mluopsMoeDispatchForwardProblem& problem, Values before);
/// grad_gates [samples].
Values moe_dispatch_backward_gate(const mluopsMoeDispatchBackwardGateProblem& problem);
/// grad_input [samples,hidden].
Values moe_dispatch_backward_data(const mluopsMoeDispatchBackwardDataProblem& problem);

}  // namespace mluops::reference
