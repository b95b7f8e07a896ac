// RotatedFeatureAlign backward: a pixel's gradient goes to it and to the pixels of its samples.
//
// grad_output [B,H,W,C], bboxes [B,H,W,5], grad_input [B,H,W,C]; scatter/channel_sums-inl.h says who owns what.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/kernels/rotated_feature_align/backward.cpp"
#include <hwy/foreach_target.h>

#include "backends/cpu/dispatch.h"
#include "backends/cpu/kernels/rotated_feature_align/geometry.h"
#include "backends/cpu/sampling/point_samples-inl.h"

HWY_BEFORE_NAMESPACE();
namespace mluops::cpu::rotated_feature_align::HWY_NAMESPACE {
using namespace cpu::HWY_NAMESPACE;
namespace {

using BackwardProblem = mluopsRotatedFeatureAlignBackwardProblem;

template <class T>
mluOpStatus_t backward(Context& context, const mluopsCall& call, const BackwardProblem& p) {
  static constexpr Path<BackwardProblem> kNchwPaths[] = {
      layout::kTransposed<operators::rotated_feature_align_backward, BackwardProblem>};
  if (p.layout == MLUOP_LAYOUT_NCHW) return run_path(context, call, p, kNchwPaths);
  return roi_gradient<T, PointRois<T, BoxesOfMap, BackwardProblem>>(context, call, p);
}

}  // namespace
}  // namespace mluops::cpu::rotated_feature_align::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

MLUOPS_CPU_ENTRY(rotated_feature_align_backward, rotated_feature_align, backward,
                 mluopsRotatedFeatureAlignBackwardProblem, with_element)
