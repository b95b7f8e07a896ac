// RotatedFeatureAlign: a pixel of the output is that of the input and samples of it at points of the pixel's box; its
// gradient goes to all of these.
//
// input, output and their gradients [B,H,W,C], bboxes [B,H,W,5]; sampling/point_samples-inl.h says who owns what of the
// output, sampling/channel_sums-inl.h of the gradient.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/kernels/rotated_feature_align/rotated_feature_align.cpp"
#include <hwy/foreach_target.h>

#include "backends/cpu/dispatch.h"
#include "backends/cpu/kernels/rotated_feature_align/geometry.h"
#include "backends/cpu/sampling/point_samples-inl.h"
#include "mluops/problem/rotated_feature_align.h"

MLUOPS_CPU_DECLARE(rotated_feature_align_forward, mluopsRotatedFeatureAlignForwardProblem)
MLUOPS_CPU_DECLARE(rotated_feature_align_backward, mluopsRotatedFeatureAlignBackwardProblem)

HWY_BEFORE_NAMESPACE();
namespace mluops::cpu::rotated_feature_align::HWY_NAMESPACE {
using namespace cpu::HWY_NAMESPACE;
namespace {

using ForwardProblem = mluopsRotatedFeatureAlignForwardProblem;
using BackwardProblem = mluopsRotatedFeatureAlignBackwardProblem;

template <class T>
mluOpStatus_t forward(Context& context, const mluopsCall& call, const ForwardProblem& p) {
  static constexpr Path<ForwardProblem> kPaths[] = {
      {"rows", always<ForwardProblem>, sum_points<T, BoxesOfMap, ForwardProblem>}};
  static constexpr Path<ForwardProblem> kNchwPaths[] = {
      layout::kTransposed<operators::rotated_feature_align_forward, ForwardProblem>};
  return run_path(context, call, p, p.layout == MLUOP_LAYOUT_NCHW ? kNchwPaths : kPaths);
}

template <class T>
mluOpStatus_t backward(Context& context, const mluopsCall& call, const BackwardProblem& p) {
  static constexpr Path<BackwardProblem> kNchwPaths[] = {
      layout::kTransposed<operators::rotated_feature_align_backward, BackwardProblem>};
  if (p.layout == MLUOP_LAYOUT_NCHW) return run_path(context, call, p, kNchwPaths);
  return point_gradient<T, BoxesOfMap, BackwardProblem>(context, call, p);
}

}  // namespace
}  // namespace mluops::cpu::rotated_feature_align::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

MLUOPS_CPU_ENTRY(rotated_feature_align_forward, rotated_feature_align, forward, mluopsRotatedFeatureAlignForwardProblem,
                 with_element)
MLUOPS_CPU_ENTRY(rotated_feature_align_backward, rotated_feature_align, backward,
                 mluopsRotatedFeatureAlignBackwardProblem, with_element)
