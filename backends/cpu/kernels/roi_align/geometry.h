// What both directions of RoiAlign share: the mean is sampling/roi_mean's, the greatest sample is this room's own.
#pragma once

#include <cstdint>
#include <limits>

#include "backends/cpu/layout/nchw.h"
#include "backends/cpu/sampling/roi.h"
#include "backends/cpu/sampling/roi_mean/roi_mean.h"

namespace mluops::cpu::roi_align {

using Shape = mluopsRoiAlignShape;
using ForwardProblem = mluopsRoiAlignForwardProblem;
using BackwardProblem = mluopsRoiAlignBackwardProblem;

template <class Problem>
roi_mean::Shape mean_shape(const Problem& p) {
  const Shape& s = p.shape;
  return {.dtype = s.dtype,
          .batch = s.batch,
          .h = s.h,
          .w = s.w,
          .c = s.c,
          .rois = s.rois,
          .pooled_h = s.pooled_h,
          .pooled_w = s.pooled_w,
          .spatial_scale = p.exact_spatial_scale,
          .gamma = 0,
          .sampling_ratio = s.sampling_ratio,
          .aligned = s.aligned != 0,
          .int32_samples = false};
}

/// What this backend leaves to others, nullptr for nothing. The number of samples of a bin is an int32, as on the
/// device.
inline const char* declined(const Shape& s) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();
  if (s.sampling_ratio > 46340) return "sampling_ratio: its square must be below 2^31";
  if (s.h > kMost || s.w > kMost) return "input: height and width must be below 2^31";
  return nullptr;
}

}  // namespace mluops::cpu::roi_align

namespace mluops::cpu::layout {

template <class Visit>
void visit_images(mluopsRoiAlignForwardProblem& p, Visit&& visit) {
  const mluopsRoiAlignShape& s = p.shape;
  const Image pooled = {s.rois, s.pooled_h * s.pooled_w, s.c, element_bytes(s.dtype)};
  visit(p.input, Image{s.batch, s.h * s.w, s.c, element_bytes(s.dtype)});
  visit(p.output, pooled);
  visit(p.argmax_x, pooled);
  visit(p.argmax_y, pooled);
}

}  // namespace mluops::cpu::layout
