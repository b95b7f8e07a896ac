// RoiAlign forward: a bin of the output is the mean (sampling/roi_mean/) or the greatest of bilinear samples.
//
// Greatest: input [batch,h,w,c], rois [rois,5], output, argmax_x and argmax_y [rois,pooled_h,pooled_w,c]. A task owns
// rows of bins; samples are compared in the order of rows. Per element and sample 9 flops on 4 loads from the caches.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/kernels/roi_align/forward.cpp"
#include <hwy/foreach_target.h>

#include "backends/cpu/dispatch.h"
#include "backends/cpu/kernels/roi_align/geometry.h"
#include "backends/cpu/kernels/roi_align/greatest-inl.h"

HWY_BEFORE_NAMESPACE();
namespace mluops::cpu::roi_align::HWY_NAMESPACE {
using namespace cpu::HWY_NAMESPACE;
namespace {

template <class T>
mluOpStatus_t greatest_forward(Context& context, const mluopsCall& call, const ForwardProblem& p) {
  static constexpr Path<ForwardProblem> kPaths[] = {{"greatest", always<ForwardProblem>, greatest_of_bins<T>}};
  static constexpr Path<ForwardProblem> kNchwPaths[] = {
      layout::kTransposed<operators::roi_align_forward, ForwardProblem>};
  return run_path(context, call, p, p.layout == MLUOP_LAYOUT_NCHW ? kNchwPaths : kPaths);
}

}  // namespace
}  // namespace mluops::cpu::roi_align::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

MLUOPS_CPU_FUNCTION(roi_align::greatest_forward, roi_align, greatest_forward, mluopsRoiAlignForwardProblem,
                    with_element)

#if HWY_ONCE
namespace mluops::cpu {

mluOpStatus_t operators::roi_align_forward(Context& context, const mluopsCall& call,
                                           const mluopsRoiAlignForwardProblem& p) {
  if (const char* const reason = roi_align::declined(p.shape)) return fail(call, MLUOP_STATUS_NOT_SUPPORTED, reason);
  if (p.shape.mean == 0) return roi_align::greatest_forward(context, call, p);
  return roi_mean::forward(context, call, {roi_align::mean_shape(p), p.input, p.rois, nullptr, p.output, p.layout});
}

}  // namespace mluops::cpu
#endif
