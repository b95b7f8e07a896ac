#include "backends/cpu/operators.h"

namespace mluops::cpu {

mluOpStatus_t border_align_forward(Context&, const mluopsCall& call, const mluopsBorderAlignForwardProblem&) {
  return fail(call, MLUOP_STATUS_NOT_SUPPORTED, "not provided yet");
}

mluOpStatus_t border_align_backward(Context&, const mluopsCall& call, const mluopsBorderAlignBackwardProblem&) {
  return fail(call, MLUOP_STATUS_NOT_SUPPORTED, "not provided yet");
}

}  // namespace mluops::cpu
