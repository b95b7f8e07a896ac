// RoiAlignRotated backward: a bin's gradient goes to the pixels of its samples.
//
// grad_output [R,PH,PW,C], rois [R,6], grad_input [B,H,W,C]; scatter/channel_sums-inl.h says who owns what.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/kernels/roi_align_rotated/backward.cpp"
#include <hwy/foreach_target.h>

#include "backends/cpu/dispatch.h"
#include "backends/cpu/kernels/roi_align_rotated/geometry.h"
#include "backends/cpu/sampling/point_samples-inl.h"

HWY_BEFORE_NAMESPACE();
namespace mluops::cpu::roi_align_rotated::HWY_NAMESPACE {
using namespace cpu::HWY_NAMESPACE;
namespace {

using BackwardProblem = mluopsRoiAlignRotatedBackwardProblem;

template <class T>
mluOpStatus_t backward(Context& context, const mluopsCall& call, const BackwardProblem& p) {
  if (const char* const reason = declined(p.shape)) return fail(call, MLUOP_STATUS_NOT_SUPPORTED, reason);
  return roi_gradient<T, PointRois<T, RotatedRoi, BackwardProblem>>(context, call, p);
}

}  // namespace
}  // namespace mluops::cpu::roi_align_rotated::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

MLUOPS_CPU_ENTRY(roi_align_rotated_backward, roi_align_rotated, backward, mluopsRoiAlignRotatedBackwardProblem,
                 with_element)
