// A step of AdamW from its definition.
#pragma once

#include "test/reference/reference.h"

namespace mluops::reference {

struct AdamWState {
  Values param, param_h, momentum, velocity;  ///< param_h: empty where the problem has none
};
/// The problem's tensors hold what they do before the step.
AdamWState adam_w(const mluopsAdamWProblem& problem);

}  // namespace mluops::reference
