// DeformRoiPool: means of samples over bins that an offset shifts (roi_mean/).
#include "mluops/problem/deform_roi_pool.h"
#include "backends/cpu/dispatch.h"
#include "backends/cpu/roi_mean/roi_mean.h"

MLUOPS_CPU_DECLARE(deform_roi_pool_forward, mluopsDeformRoiPoolForwardProblem)
MLUOPS_CPU_DECLARE(deform_roi_pool_backward, mluopsDeformRoiPoolBackwardProblem)

namespace mluops::cpu {
namespace deform_roi_pool {
namespace {

template <class Problem>
roi_mean::Shape shape_of(const Problem& p) {
  const mluopsDeformRoiPoolShape& s = p.shape;
  return {.dtype = s.dtype,
          .batch = s.batch,
          .h = s.h,
          .w = s.w,
          .c = s.c,
          .rois = s.rois,
          .pooled_h = s.pooled_h,
          .pooled_w = s.pooled_w,
          .spatial_scale = p.exact_spatial_scale,
          .gamma = p.exact_gamma,
          .sampling_ratio = s.sampling_ratio,
          .aligned = true,
          .int32_samples = true};
}

}  // namespace
}  // namespace deform_roi_pool

mluOpStatus_t operators::deform_roi_pool_forward(Context& context, const mluopsCall& call,
                                                 const mluopsDeformRoiPoolForwardProblem& p) {
  return roi_mean::forward(context, call,
                           {deform_roi_pool::shape_of(p), p.input, p.rois, p.offset, p.output, p.layout});
}

mluOpStatus_t operators::deform_roi_pool_backward(Context& context, const mluopsCall& call,
                                                  const mluopsDeformRoiPoolBackwardProblem& p) {
  const void* const input = p.offset == nullptr ? nullptr : p.input;
  return roi_mean::backward(
      context, call,
      {deform_roi_pool::shape_of(p), p.grad_output, input, p.rois, p.offset, p.grad_input, p.grad_offset, p.layout});
}

}  // namespace mluops::cpu
