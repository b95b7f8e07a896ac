// RoiCrop backward: a sample's gradient goes to its four pixels.
//
// grad_output [G,OH,OW,C], grid [G,OH,OW,2], grad_input [B,H,W,C]; scatter/channel_sums-inl.h says who owns what.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/kernels/roi_crop/backward.cpp"
#include <hwy/foreach_target.h>

#include "backends/cpu/dispatch.h"
#include "backends/cpu/kernels/roi_crop/geometry.h"
#include "backends/cpu/sampling/point_samples-inl.h"

HWY_BEFORE_NAMESPACE();
namespace mluops::cpu::roi_crop::HWY_NAMESPACE {
using namespace cpu::HWY_NAMESPACE;
namespace {

using BackwardProblem = mluopsRoiCropBackwardProblem;

template <class T>
mluOpStatus_t backward(Context& context, const mluopsCall& call, const BackwardProblem& p) {
  return roi_gradient<T, PointRois<T, Grids, BackwardProblem>>(context, call, p);
}

}  // namespace
}  // namespace mluops::cpu::roi_crop::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

MLUOPS_CPU_ENTRY(roi_crop_backward, roi_crop, backward, mluopsRoiCropBackwardProblem, with_element)
