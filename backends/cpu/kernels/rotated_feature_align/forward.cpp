// RotatedFeatureAlign forward: a pixel of the output is that of the input and samples of it at points of the pixel's
// box.
//
// input [B,H,W,C], bboxes [B,H,W,5], output [B,H,W,C]; sampling/point_samples-inl.h says who owns what.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/kernels/rotated_feature_align/forward.cpp"
#include <hwy/foreach_target.h>

#include "backends/cpu/dispatch.h"
#include "backends/cpu/kernels/rotated_feature_align/geometry.h"
#include "backends/cpu/sampling/point_samples-inl.h"

HWY_BEFORE_NAMESPACE();
namespace mluops::cpu::rotated_feature_align::HWY_NAMESPACE {
using namespace cpu::HWY_NAMESPACE;
namespace {

using ForwardProblem = mluopsRotatedFeatureAlignForwardProblem;

template <class T>
mluOpStatus_t forward(Context& context, const mluopsCall& call, const ForwardProblem& p) {
  return run_sum_points<T, BoxesOfMap, operators::rotated_feature_align_forward, false>(context, call, p);
}

}  // namespace
}  // namespace mluops::cpu::rotated_feature_align::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

MLUOPS_CPU_ENTRY(rotated_feature_align_forward, rotated_feature_align, forward, mluopsRotatedFeatureAlignForwardProblem,
                 with_element)
