// Where the points of a grid lie in their image.
#pragma once

#include "backends/cpu/layout/nchw.h"
#include "backends/cpu/sampling/bilinear.h"
#include "backends/cpu/simd/element.h"
#include "mluops/problem.h"

namespace mluops::cpu::roi_crop {

using Shape = mluopsRoiCropShape;

/// The image that a grid samples.
inline std::int64_t image_of(const Shape& s, std::int64_t grid) {
  return grid / (s.grids / s.batch);
}

/// Pixels under a point of all grids; false where none is on the map.
template <class T>
inline bool sample(const Shape& s, const void* grid, std::int64_t point, PaddedSample<Acc<T>>& to) {
  using A = Acc<T>;
  const T* const yx = static_cast<const T*>(grid) + 2 * point;
  const auto at = [](T x, std::int64_t size) { return (to_acc(x) + 1) * static_cast<A>(size - 1) / 2; };
  return sample_padded(at(yx[0], s.h), at(yx[1], s.w), s.h, s.w, to);
}

}  // namespace mluops::cpu::roi_crop

namespace mluops::cpu::layout {

template <class Visit>
void visit_images(mluopsRoiCropForwardProblem& p, Visit&& visit) {
  const mluopsRoiCropShape& s = p.shape;
  visit(p.input, Image{s.batch, s.h * s.w, s.c, element_bytes(s.dtype)});
  visit(p.output, Image{s.grids, s.out_h * s.out_w, s.c, element_bytes(s.dtype)});
}

}  // namespace mluops::cpu::layout
