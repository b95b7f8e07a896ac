// Where the points of a grid lie in their image.
#pragma once

#include "backends/cpu/sampling/bilinear.h"
#include "backends/cpu/sampling/point_samples.h"
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

/// The points of a grid. They are placed in the type of the sums.
template <class T, class Problem>
struct GridPoints {
  const Problem& p;
  std::int64_t grid, image;
  static constexpr double inverse_count = 1;

  static std::int64_t row() { return 0; }
  static std::int64_t column() { return 0; }
  template <class Visit>
  void for_each_sample(std::int64_t row, std::int64_t column, Visit&& visit) const {
    PaddedSample<Acc<T>> found;
    if (!sample<T>(p.shape, p.grid, (grid * p.shape.out_h + row) * p.shape.out_w + column, found)) return;
    for (std::size_t k = 0; k < 4; ++k) {
      if (found.on_map[k]) visit(WeightedPixels<1>{{found.pixel[k]}, {found.weight[k]}});
    }
  }
};

struct Grids {
  static RoiBins bins(const Shape& s) { return {s.grids, s.out_h, s.out_w, 1}; }
  template <class T, class Problem>
  static GridPoints<T, Problem> read(const Problem& p, std::int64_t grid) {
    return {p, grid, image_of(p.shape, grid)};
  }
};

}  // namespace mluops::cpu::roi_crop
