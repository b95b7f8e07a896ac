// BezierAlign backward: a bin's gradient goes to the pixels of its samples.
//
// grad_output [R,PH,PW,C], beziers [R,17], grad_input [B,H,W,C]; scatter/channel_sums-inl.h says who owns what.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/kernels/bezier_align/backward.cpp"
#include <hwy/foreach_target.h>

#include "backends/cpu/dispatch.h"
#include "backends/cpu/kernels/bezier_align/geometry.h"
#include "backends/cpu/sampling/point_samples-inl.h"

HWY_BEFORE_NAMESPACE();
namespace mluops::cpu::bezier_align::HWY_NAMESPACE {
using namespace cpu::HWY_NAMESPACE;
namespace {

using BackwardProblem = mluopsBezierAlignBackwardProblem;

template <class T>
mluOpStatus_t backward(Context& context, const mluopsCall& call, const BackwardProblem& p) {
  if (const char* const reason = declined(p.shape)) return fail(call, MLUOP_STATUS_NOT_SUPPORTED, reason);
  return roi_gradient<T, PointRois<T, BezierRoi, BackwardProblem>>(context, call, p);
}

}  // namespace
}  // namespace mluops::cpu::bezier_align::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

MLUOPS_CPU_ENTRY(bezier_align_backward, bezier_align, backward, mluopsBezierAlignBackwardProblem, with_element)
