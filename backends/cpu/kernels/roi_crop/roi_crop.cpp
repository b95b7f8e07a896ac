// RoiCrop: bilinear samples of images at the points of grids; a sample's gradient goes to its four pixels.
//
// input and grad_input [B,H,W,C], grid [G,OH,OW,2], output and grad_output [G,OH,OW,C]. Forward an item is a row of
// points of a grid and owns their samples. The channels of a pixel are vectors: 8 flops on 4 loads, bound by the caches
// the map lies in. NCHW goes grid by grid (sampling/point_samples-inl.h); where grids take few pixels, points are
// vectors, gathered out of planes: of small maps and few channels grid by grid, else by sampling/point_planes-inl.h.
// Backward sampling/channel_sums-inl.h says who owns what.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/kernels/roi_crop/roi_crop.cpp"
#include <hwy/foreach_target.h>

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "backends/cpu/dispatch.h"
#include "backends/cpu/sampling/bilinear.h"
#include "backends/cpu/sampling/point_samples-inl.h"
#include "mluops/problem/roi_crop.h"

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
  static double most_pixels(const RoiBins& of_grid) { return 4 * static_cast<double>(of_grid.rows * of_grid.columns); }
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

/// One sample a bin: 9 to 27 % faster than lists of samples (sum_points).
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

// ---- planes ----------------------------------------------------------------------------------

/// Samples of some points of a grid, for vectors of points.
template <class A>
struct PointBlock {
  using Index = hn::TFromD<hn::RebindToSigned<hn::ScalableTag<A>>>;
  static constexpr std::int64_t kMost = 64;

  HWY_ALIGN Index pixel[4][kMost];  ///< -1: not on the map
  HWY_ALIGN A weight[4][kMost];

  template <class T>
  void fill(const ForwardProblem& p, std::int64_t first, std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i) {
      PaddedSample<A> found;
      const bool any = sample<T>(p.shape, p.grid, first + i, found);
      for (std::size_t k = 0; k < 4; ++k) {
        const bool on_map = any && found.on_map[k];
        pixel[k][i] = on_map ? static_cast<Index>(found.pixel[k]) : Index{-1};
        weight[k][i] = on_map ? found.weight[k] : A{0};
      }
    }
  }
};

/// The samples of a grid, out of planes and into planes.
template <class T>
void sample_planes(const ForwardProblem& p, std::int64_t grid) {
  using A = Acc<T>;
  const Shape& s = p.shape;
  const std::int64_t points = s.out_h * s.out_w, plane = s.h * s.w;
  const T* const image = static_cast<const T*>(p.input) + image_of(s, grid) * s.c * plane;
  for (std::int64_t first = 0; first < points; first += PointBlock<A>::kMost) {
    const std::int64_t count = std::min(PointBlock<A>::kMost, points - first);
    PointBlock<A> block;
    block.template fill<T>(p, grid * points + first, count);
    for (std::int64_t c = 0; c < s.c; ++c) {
      const T* const from = image + c * plane;
      T* const to = static_cast<T*>(p.output) + (grid * s.c + c) * points + first;
      for_lanes<A>(count, [&](auto d, std::int64_t i) HWY_ATTR {
        auto sum = hn::Zero(d);
        for (std::size_t k = 0; k < 4; ++k)
          sum = hn::MulAdd(hn::LoadU(d, block.weight[k] + i), gather_pixels(d, from, block.pixel[k] + i), sum);
        store(sum, d, to + i);
      });
    }
  }
}

template <class T>
mluOpStatus_t by_grids(Context& context, const mluopsCall& call, const ForwardProblem& p) {
  const Shape& s = p.shape;
  const double point_ns = cost::kStep * 4 + 4 * cost::kGather * static_cast<double>(s.c);
  Loop(context, call, s.grids, static_cast<double>(s.out_h * s.out_w) * point_ns)
      .run([&](std::int64_t begin, std::int64_t end, int) HWY_ATTR {
        for (std::int64_t grid = begin; grid < end; ++grid) sample_planes<T>(p, grid);
      });
  return MLUOP_STATUS_SUCCESS;
}

/// Few channels share too little of what is found for all of them; nor does that repay on maps that the caches hold,
/// unless gathers are slow.
template <class T>
Fit few_pixels(const Context&, const mluopsCall&, const ForwardProblem& p) {
  const Shape& s = p.shape;
  const std::int64_t pixels = s.batch * s.h * s.w, touched = 4 * s.grids * s.out_h * s.out_w;
  const bool in_place = s.c <= (gathers_are_slow() ? 16 : s.c) && touched <= pixels && Planes::of(s).near<T>();
  return fit(s.h * s.w <= INT32_MAX, s.c <= 4 || (std::is_same_v<T, Acc<T>> && in_place));
}

template <class T>
mluOpStatus_t forward(Context& context, const mluopsCall& call, const ForwardProblem& p) {
  static constexpr Path<ForwardProblem> kPaths[] = {{"rows", always<ForwardProblem>, by_rows<T>}};
  static constexpr Path<ForwardProblem> kNchwPaths[] = {
      {"nchw_planes", few_pixels<T>, by_grids<T>},
      {"nchw_points", few_points<T, Grids, 150, ForwardProblem>, sum_planes<T, Grids, ForwardProblem>},
      {"nchw_rois", always<ForwardProblem>, sum_points<T, Grids, ForwardProblem>}};
  if (p.layout == MLUOP_LAYOUT_NCHW) return run_path(context, call, p, kNchwPaths);
  return run_path(context, call, p, kPaths);
}

template <class T>
mluOpStatus_t backward(Context& context, const mluopsCall& call, const mluopsRoiCropBackwardProblem& p) {
  return point_gradient<T, Grids, mluopsRoiCropBackwardProblem>(context, call, p);
}

}  // namespace
}  // namespace mluops::cpu::roi_crop::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

MLUOPS_CPU_ENTRY(roi_crop_forward, roi_crop, forward, mluopsRoiCropForwardProblem, with_element)
MLUOPS_CPU_ENTRY(roi_crop_backward, roi_crop, backward, mluopsRoiCropBackwardProblem, with_element)
