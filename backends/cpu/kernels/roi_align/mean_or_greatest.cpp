// RoiAlign: a bin of the output is the mean of its bilinear samples (roi_mean/) or the greatest of them
// (roi_align.cpp).
#include "backends/cpu/dispatch.h"
#include "backends/cpu/kernels/roi_align/geometry.h"

MLUOPS_CPU_DECLARE(roi_align_forward, mluopsRoiAlignForwardProblem)
MLUOPS_CPU_DECLARE(roi_align_backward, mluopsRoiAlignBackwardProblem)

namespace mluops::cpu {

mluOpStatus_t operators::roi_align_forward(Context& context, const mluopsCall& call,
                                           const mluopsRoiAlignForwardProblem& p) {
  if (p.shape.mean == 0) return roi_align::greatest_forward(context, call, p);
  return roi_mean::forward(context, call, {roi_align::mean_shape(p), p.input, p.rois, nullptr, p.output, p.layout});
}

mluOpStatus_t operators::roi_align_backward(Context& context, const mluopsCall& call,
                                            const mluopsRoiAlignBackwardProblem& p) {
  if (p.shape.mean == 0) return roi_align::greatest_backward(context, call, p);
  return roi_mean::backward(
      context, call,
      {roi_align::mean_shape(p), p.grad_output, nullptr, p.rois, nullptr, p.grad_input, nullptr, p.layout});
}

}  // namespace mluops::cpu
