// What both directions of RoiAlign share: the mean is roi_mean's, the greatest sample is this room's own.
#pragma once

#include <cstdint>

#include "backends/cpu/roi_mean/roi_mean.h"
#include "backends/cpu/sampling/roi.h"
#include "mluops/problem/roi_align.h"

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

// roi_align.cpp
mluOpStatus_t greatest_forward(Context& context, const mluopsCall& call, const ForwardProblem& p);
mluOpStatus_t greatest_backward(Context& context, const mluopsCall& call, const BackwardProblem& p);

inline const char* declined(const Shape& s) {
  return grid_declined(s.sampling_ratio, s.h, s.w);
}

}  // namespace mluops::cpu::roi_align
