// RoiCrop backward: a sample's gradient goes to its four pixels.
//
// grad_output [G,OH,OW,C], grid [G,OH,OW,2], grad_input [B,H,W,C]; scatter/channel_sums-inl.h says who owns what.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/kernels/roi_crop/backward.cpp"
#include <hwy/foreach_target.h>

#include "backends/cpu/dispatch.h"
#include "backends/cpu/kernels/roi_crop/geometry.h"
#include "backends/cpu/sampling/point_samples-inl.h"

HWY_BEFORE_NAMESPACE();
namespace mluops::cpu::roi_crop::HWY_NAMESPACE {
using namespace cpu::HWY_NAMESPACE;
namespace {

using BackwardProblem = mluopsRoiCropBackwardProblem;

/// The points of a grid. They are placed in the type of the sums.
template <class T>
struct GridPoints {
  const BackwardProblem& p;
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
  template <class T>
  static GridPoints<T> read(const BackwardProblem& p, std::int64_t grid) {
    return {p, grid, image_of(p.shape, grid)};
  }
};

template <class T>
mluOpStatus_t backward(Context& context, const mluopsCall& call, const BackwardProblem& p) {
  return roi_gradient<T, PointRois<T, Grids, BackwardProblem>>(context, call, p);
}

MLUOPS_CPU_KERNEL(backward, mluopsRoiCropBackwardProblem, with_element)

}  // namespace
}  // namespace mluops::cpu::roi_crop::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
MLUOPS_CPU_ENTRY(roi_crop_backward, roi_crop, backward, mluopsRoiCropBackwardProblem)
#endif
