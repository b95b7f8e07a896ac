// RoiCrop: bilinear samples of images at the points of grids; a sample's gradient goes to its four pixels.
//
// input and grad_input [B,H,W,C], grid [G,OH,OW,2], output and grad_output [G,OH,OW,C]; sampling/point_samples-inl.h
// says who owns what of the output, sampling/roi_gradient-inl.h of the gradient.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/kernels/roi_crop/roi_crop.cpp"
#include <hwy/foreach_target.h>

#include "backends/cpu/dispatch.h"
#include "backends/cpu/sampling/bilinear.h"
#include "backends/cpu/sampling/point_samples-inl.h"

HWY_BEFORE_NAMESPACE();
namespace mluops::cpu::roi_crop::HWY_NAMESPACE {
using namespace cpu::HWY_NAMESPACE;
namespace {

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

template <class T>
mluOpStatus_t forward(Context& context, const mluopsCall& call, const mluopsRoiCropForwardProblem& p) {
  return run_sum_points<T, Grids>(context, call, p);
}

template <class T>
mluOpStatus_t backward(Context& context, const mluopsCall& call, const mluopsRoiCropBackwardProblem& p) {
  return roi_gradient<T, PointRois<T, Grids, mluopsRoiCropBackwardProblem>>(context, call, p);
}

}  // namespace
}  // namespace mluops::cpu::roi_crop::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

MLUOPS_CPU_ENTRY(roi_crop_forward, roi_crop, forward, mluopsRoiCropForwardProblem, with_element)
MLUOPS_CPU_ENTRY(roi_crop_backward, roi_crop, backward, mluopsRoiCropBackwardProblem, with_element)
