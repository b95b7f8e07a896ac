#include "backends/cpu/operators.h"

namespace mluops::cpu {

mluOpStatus_t deform_roi_pool_forward(Context&, const mluopsCall& call, const mluopsDeformRoiPoolForwardProblem&) {
  return fail(call, MLUOP_STATUS_NOT_SUPPORTED, "not provided yet");
}

mluOpStatus_t deform_roi_pool_backward(Context&, const mluopsCall& call, const mluopsDeformRoiPoolBackwardProblem&) {
  return fail(call, MLUOP_STATUS_NOT_SUPPORTED, "not provided yet");
}

}  // namespace mluops::cpu
