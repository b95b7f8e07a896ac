// Means of bilinear samples over the bins of RoIs, and their gradients. Bins are where the RoI's grid has them, or
// shifted by an offset each.
#pragma once

#include <cstdint>

#include "backends/cpu/layout/nchw.h"
#include "backends/cpu/runtime/context.h"

namespace mluops::cpu::roi_mean {

/// input [batch,h,w,c], rois [rois,5], offset [rois,2,pooled_h,pooled_w], output [rois,pooled_h,pooled_w,c].
struct Shape {
  mluOpDataType_t dtype;
  std::int64_t batch, h, w, c;
  std::int64_t rois;
  std::int64_t pooled_h, pooled_w;
  double spatial_scale;
  double gamma;  ///< a RoI's size by an offset of 1
  int sampling_ratio;
  bool aligned;        ///< half a pixel is taken off the corners; else a RoI is at least one pixel long
  bool int32_samples;  ///< a bin of 2^31 samples or more, which an int32 does not count, is declined
};

struct ForwardProblem {
  Shape shape;
  const void* input;
  const void* rois;
  const void* offset;  ///< may be nullptr
  void* output;
  mluOpTensorLayout_t layout;  ///< of input and output
};

struct BackwardProblem {
  Shape shape;
  const void* grad_output;
  const void* input;  ///< nullptr exactly when offset is
  const void* rois;
  const void* offset;  ///< may be nullptr
  void* grad_input;
  void* grad_offset;           ///< nullptr exactly when offset is
  mluOpTensorLayout_t layout;  ///< of grad_output, input and grad_input
};

mluOpStatus_t forward(Context& context, const mluopsCall& call, const ForwardProblem& p);
mluOpStatus_t backward(Context& context, const mluopsCall& call, const BackwardProblem& p);

inline layout::Image map_of(const Shape& s) {
  return {s.batch, s.h * s.w, s.c, layout::element_bytes(s.dtype)};
}
inline layout::Image pooled_of(const Shape& s) {
  return {s.rois, s.pooled_h * s.pooled_w, s.c, layout::element_bytes(s.dtype)};
}

template <class Visit>
void visit_images(ForwardProblem& p, Visit&& visit) {
  visit(p.input, map_of(p.shape));
  visit(p.output, pooled_of(p.shape));
}

template <class Visit>
void visit_images(BackwardProblem& p, Visit&& visit) {
  visit(p.grad_output, pooled_of(p.shape));
  if (p.input != nullptr) visit(p.input, map_of(p.shape));
  visit(p.grad_input, map_of(p.shape));
}

}  // namespace mluops::cpu::roi_mean
