// RoiCrop forward: bilinear samples of images at the points of grids.
//
// input [B,H,W,C], grid [G,OH,OW,2], output [G,OH,OW,C]. An item is a row of points of a grid and owns their samples.
// The channels of a pixel are vectors: 8 flops on 4 loads, bound by the caches the map lies in. NCHW goes grid
// by grid (sampling/point_samples-inl.h).
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/kernels/roi_crop/forward.cpp"
#include <hwy/foreach_target.h>

#include "backends/cpu/dispatch.h"
#include "backends/cpu/kernels/roi_crop/geometry.h"
#include "backends/cpu/sampling/point_samples-inl.h"
#include "backends/cpu/simd/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace mluops::cpu::roi_crop::HWY_NAMESPACE {
using namespace cpu::HWY_NAMESPACE;
namespace {

using ForwardProblem = mluopsRoiCropForwardProblem;

/// The sample of all channels at a point of all grids; `image` is the one it lies in.
template <class T>
HWY_INLINE void take_sample(const ForwardProblem& p, const T* image, std::int64_t point) {
  using A = Acc<T>;
  const Shape& s = p.shape;
  PaddedSample<A> found;
  const T* pixels[4];
  A weights[4];
  std::size_t count = 0;
  if (sample<T>(s, p.grid, point, found)) {
    for (std::size_t k = 0; k < 4; ++k) {
      if (!found.on_map[k]) continue;
      pixels[count] = image + found.pixel[k] * s.c;
      weights[count++] = found.weight[k];
    }
  }
  T* const to = static_cast<T*>(p.output) + point * s.c;
  for_lanes<A>(s.c, [&](auto d, std::int64_t c) HWY_ATTR {
    auto sum = hn::Zero(d);
    for (std::size_t k = 0; k < count; ++k) sum = hn::MulAdd(hn::Set(d, weights[k]), load(d, pixels[k] + c), sum);
    store(sum, d, to + c);
  });
}

template <class T>
mluOpStatus_t by_rows(Context& context, const mluopsCall& call, const ForwardProblem& p) {
  const Shape& s = p.shape;
  const double row_ns = static_cast<double>(s.out_w) * (cost::kStep + cost::kElement * static_cast<double>(s.c));
  Loop(context, call, s.grids * s.out_h, row_ns).run([&](std::int64_t begin, std::int64_t end, int) HWY_ATTR {
    for (std::int64_t row = begin; row < end; ++row) {
      const T* const image = static_cast<const T*>(p.input) + image_of(s, row / s.out_h) * s.h * s.w * s.c;
      for (std::int64_t x = 0; x < s.out_w; ++x) take_sample(p, image, row * s.out_w + x);
    }
  });
  return MLUOP_STATUS_SUCCESS;
}

template <class T>
mluOpStatus_t forward(Context& context, const mluopsCall& call, const ForwardProblem& p) {
  static constexpr Path<ForwardProblem> kPaths[] = {{"rows", always<ForwardProblem>, by_rows<T>}};
  static constexpr Path<ForwardProblem> kNchwPaths[] = {
      {"nchw_rois", always<ForwardProblem>, sum_points_of_planes<T, Grids, ForwardProblem>},
      layout::kTransposed<operators::roi_crop_forward, ForwardProblem>,
  };
  return p.layout == MLUOP_LAYOUT_NCHW ? run_path(context, call, p, kNchwPaths) : run_path(context, call, p, kPaths);
}

}  // namespace
}  // namespace mluops::cpu::roi_crop::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

MLUOPS_CPU_ENTRY(roi_crop_forward, roi_crop, forward, mluopsRoiCropForwardProblem, with_element)
