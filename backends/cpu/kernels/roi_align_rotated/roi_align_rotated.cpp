// RoiAlignRotated: a bin of the output is the mean of bilinear samples of the input; its gradient goes to their pixels.
//
// input and grad_input [B,H,W,C], rois [R,6], output and grad_output [R,PH,PW,C]; sampling/point_samples-inl.h says who
// owns what of the output, scatter/channel_sums-inl.h of the gradient.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/kernels/roi_align_rotated/roi_align_rotated.cpp"
#include <hwy/foreach_target.h>

#include "backends/cpu/dispatch.h"
#include "backends/cpu/kernels/roi_align_rotated/geometry.h"
#include "backends/cpu/sampling/point_samples-inl.h"

HWY_BEFORE_NAMESPACE();
namespace mluops::cpu::roi_align_rotated::HWY_NAMESPACE {
using namespace cpu::HWY_NAMESPACE;
namespace {

template <class T>
mluOpStatus_t forward(Context& context, const mluopsCall& call, const mluopsRoiAlignRotatedForwardProblem& p) {
  if (const char* const reason = declined(p.shape)) return fail(call, MLUOP_STATUS_NOT_SUPPORTED, reason);
  return run_sum_points<T, RotatedRoi>(context, call, p);
}

template <class T>
mluOpStatus_t backward(Context& context, const mluopsCall& call, const mluopsRoiAlignRotatedBackwardProblem& p) {
  if (const char* const reason = declined(p.shape)) return fail(call, MLUOP_STATUS_NOT_SUPPORTED, reason);
  return roi_gradient<T, PointRois<T, RotatedRoi, mluopsRoiAlignRotatedBackwardProblem>>(context, call, p);
}

}  // namespace
}  // namespace mluops::cpu::roi_align_rotated::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

MLUOPS_CPU_ENTRY(roi_align_rotated_forward, roi_align_rotated, forward, mluopsRoiAlignRotatedForwardProblem,
                 with_element)
MLUOPS_CPU_ENTRY(roi_align_rotated_backward, roi_align_rotated, backward, mluopsRoiAlignRotatedBackwardProblem,
                 with_element)
