// RoiCrop: bilinear samples of images at the points of grids; a sample's gradient goes to its four pixels.
//
// input and grad_input [B,H,W,C], grid [G,OH,OW,2], output and grad_output [G,OH,OW,C]; sampling/point_samples-inl.h
// says who owns what of the output, scatter/channel_sums-inl.h of the gradient.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/kernels/roi_crop/roi_crop.cpp"
#include <hwy/foreach_target.h>

#include "backends/cpu/dispatch.h"
#include "backends/cpu/kernels/roi_crop/geometry.h"
#include "backends/cpu/sampling/point_samples-inl.h"

HWY_BEFORE_NAMESPACE();
namespace mluops::cpu::roi_crop::HWY_NAMESPACE {
using namespace cpu::HWY_NAMESPACE;
namespace {

template <class T>
mluOpStatus_t forward(Context& context, const mluopsCall& call, const mluopsRoiCropForwardProblem& p) {
  return run_sum_points<T, Grids>(context, call, p);
}

template <class T>
mluOpStatus_t backward(Context& context, const mluopsCall& call, const mluopsRoiCropBackwardProblem& p) {
  return roi_gradient<T, PointRois<T, Grids, mluopsRoiCropBackwardProblem>>(context, call, p);
}

}  // namespace
}  // namespace mluops::cpu::roi_crop::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

MLUOPS_CPU_ENTRY(roi_crop_forward, roi_crop, forward, mluopsRoiCropForwardProblem, with_element)
MLUOPS_CPU_ENTRY(roi_crop_backward, roi_crop, backward, mluopsRoiCropBackwardProblem, with_element)
