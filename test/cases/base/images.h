// Image tensors, in NHWC.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "test/cases/operator.h"

namespace mluops::cases {

inline TensorSpec nhwc(const char* name, mluOpDataType_t dtype, std::vector<std::int64_t> dims, Fill fill = {}) {
  return {.name = name, .layout = MLUOP_LAYOUT_NHWC, .dtype = dtype, .dims = std::move(dims), .fill = std::move(fill)};
}

/// [batch,h,w,c] of a shape with such members.
template <class Shape>
TensorSpec image(const char* name, const Shape& s, Fill fill = {}) {
  return nhwc(name, s.dtype, {s.batch, s.h, s.w, s.c}, std::move(fill));
}

/// [rois,pooled_h,pooled_w,c]
template <class Shape>
TensorSpec bins(const char* name, const Shape& s, Fill fill = {}) {
  return nhwc(name, s.dtype, {s.rois, s.pooled_h, s.pooled_w, s.c}, std::move(fill));
}

}  // namespace mluops::cases
