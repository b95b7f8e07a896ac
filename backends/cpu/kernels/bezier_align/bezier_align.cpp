// BezierAlign: a bin of the output is the mean of bilinear samples of the input; its gradient goes to their pixels.
//
// input and grad_input [B,H,W,C], beziers [R,17], output and grad_output [R,PH,PW,C]; sampling/point_samples-inl.h says
// who owns what of the output, scatter/channel_sums-inl.h of the gradient.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/kernels/bezier_align/bezier_align.cpp"
#include <hwy/foreach_target.h>

#include "backends/cpu/dispatch.h"
#include "backends/cpu/kernels/bezier_align/geometry.h"
#include "backends/cpu/sampling/point_samples-inl.h"

HWY_BEFORE_NAMESPACE();
namespace mluops::cpu::bezier_align::HWY_NAMESPACE {
using namespace cpu::HWY_NAMESPACE;
namespace {

template <class T>
mluOpStatus_t forward(Context& context, const mluopsCall& call, const mluopsBezierAlignForwardProblem& p) {
  if (const char* const reason = declined(p.shape)) return fail(call, MLUOP_STATUS_NOT_SUPPORTED, reason);
  return run_sum_points<T, BezierRoi>(context, call, p);
}

template <class T>
mluOpStatus_t backward(Context& context, const mluopsCall& call, const mluopsBezierAlignBackwardProblem& p) {
  if (const char* const reason = declined(p.shape)) return fail(call, MLUOP_STATUS_NOT_SUPPORTED, reason);
  return roi_gradient<T, PointRois<T, BezierRoi, mluopsBezierAlignBackwardProblem>>(context, call, p);
}

}  // namespace
}  // namespace mluops::cpu::bezier_align::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

MLUOPS_CPU_ENTRY(bezier_align_forward, bezier_align, forward, mluopsBezierAlignForwardProblem, with_element)
MLUOPS_CPU_ENTRY(bezier_align_backward, bezier_align, backward, mluopsBezierAlignBackwardProblem, with_element)
