// The ten operators of the cpu backend. Each file <op>.cpp or <op>_<direction>.cpp defines those it is named after.
#pragma once

#include "backends/cpu/context.h"
#include "mluops/problem.h"

namespace mluops::cpu {

mluOpStatus_t carafe_forward(Context&, const mluopsCall&, const mluopsCarafeForwardProblem&);
mluOpStatus_t carafe_backward(Context&, const mluopsCall&, const mluopsCarafeBackwardProblem&);
mluOpStatus_t psamask_forward(Context&, const mluopsCall&, const mluopsPsamaskForwardProblem&);
mluOpStatus_t psamask_backward(Context&, const mluopsCall&, const mluopsPsamaskBackwardProblem&);
mluOpStatus_t three_interpolate_forward(Context&, const mluopsCall&, const mluopsThreeInterpolateForwardProblem&);
mluOpStatus_t three_interpolate_backward(Context&, const mluopsCall&, const mluopsThreeInterpolateBackwardProblem&);
mluOpStatus_t deform_roi_pool_forward(Context&, const mluopsCall&, const mluopsDeformRoiPoolForwardProblem&);
mluOpStatus_t deform_roi_pool_backward(Context&, const mluopsCall&, const mluopsDeformRoiPoolBackwardProblem&);
mluOpStatus_t border_align_forward(Context&, const mluopsCall&, const mluopsBorderAlignForwardProblem&);
mluOpStatus_t border_align_backward(Context&, const mluopsCall&, const mluopsBorderAlignBackwardProblem&);

}  // namespace mluops::cpu
