#include "backends/cpu/operators.h"

namespace mluops::cpu {

mluOpStatus_t three_interpolate_forward(Context&, const mluopsCall& call, const mluopsThreeInterpolateForwardProblem&) {
  return fail(call, MLUOP_STATUS_NOT_SUPPORTED, "not provided yet");
}

mluOpStatus_t three_interpolate_backward(Context&, const mluopsCall& call,
                                         const mluopsThreeInterpolateBackwardProblem&) {
  return fail(call, MLUOP_STATUS_NOT_SUPPORTED, "not provided yet");
}

}  // namespace mluops::cpu
