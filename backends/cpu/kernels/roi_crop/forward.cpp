// RoiCrop forward: bilinear samples of images at the points of grids.
//
// input [B,H,W,C], grid [G,OH,OW,2], output [G,OH,OW,C]. An item is a point, in NCHW a grid. Where some points lie is
// found by vectors of points. Then the channels of a pixel are vectors: 8 flops on 4 loads, bound by the caches the map
// lies in. NCHW moves the pixels under the points into rows of channels first, and the samples back into planes. Where
// channels or points are few, vectors of points are gathered out of planes instead: of maps in the caches grid by grid,
// else by sampling/point_planes-inl.h.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/kernels/roi_crop/forward.cpp"
#include <hwy/foreach_target.h>

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "backends/cpu/dispatch.h"
#include "backends/cpu/kernels/roi_crop/grid_points-inl.h"
#include "backends/cpu/sampling/bilinear.h"
#include "backends/cpu/sampling/point_samples-inl.h"
#include "mluops/problem/roi_crop.h"

HWY_BEFORE_NAMESPACE();
namespace mluops::cpu::roi_crop::HWY_NAMESPACE {
using namespace cpu::HWY_NAMESPACE;
namespace {

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

// ---- rows of channels ------------------------------------------------------------------------

/// The sample of all channels at point i of a block.
template <class T>
HWY_INLINE void take_sample(const RowBlock<Acc<T>>& block, std::int64_t i, const layout::PixelRows<T>& image,
                            std::int64_t channels, T* to) {
  using A = Acc<T>;
  const T* pixels[4];
  A weights[4];
  std::size_t count = 0;
  for (std::size_t k = 0; k < 4; ++k) {
    if (block.pixel[k][i] < 0) continue;
    pixels[count] = image.at(block.pixel[k][i]);
    weights[count++] = block.weight[k][i];
  }
  for_lanes<A>(channels, [&](auto d, std::int64_t c) HWY_ATTR {
    auto sum = hn::Zero(d);
    for (std::size_t k = 0; k < count; ++k) sum = hn::MulAdd(hn::Set(d, weights[k]), load(d, pixels[k] + c), sum);
    store(sum, d, to + c);
  });
}

/// Points whose pixels are on their way while one is sampled.
constexpr std::int64_t kAhead = 3;

template <class T>
HWY_INLINE void fetch(const RowBlock<Acc<T>>& block, std::int64_t i, const layout::PixelRows<T>& image,
                      std::int64_t channels) {
  for (std::size_t k = 0; k < 4; ++k) {
    if (block.pixel[k][i] >= 0) prefetch<2>(image.at(block.pixel[k][i]), channels);
  }
}

/// The samples of points [first, first + count) of an image, a row of `width` channels each.
template <class T>
void take_samples(const ForwardProblem& p, const layout::PixelRows<T>& image, std::int64_t first, std::int64_t count,
                  std::int64_t width, bool far, T* to) {
  for (std::int64_t done = 0; done < count; done += RowBlock<Acc<T>>::kMost) {
    RowBlock<Acc<T>> block;
    const std::int64_t some = std::min(block.kMost, count - done);
    block.template fill<T>(p.shape, p.grid, first + done, some);
    for (std::int64_t i = 0; i < some; ++i) {
      if (far && i + kAhead < some) fetch(block, i + kAhead, image, width);
      take_sample(block, i, image, width, to + (done + i) * width);
    }
  }
}

/// Scratch of a thread: in NCHW, the points of a grid as rows of channels.
template <class T>
struct GridRows {
  T* rows;

  GridRows(Allocator& allocator, std::int64_t points, std::int64_t channels)
      : rows(allocator.allocate<T>(points, channels)) {}
};

template <class T>
struct RowArrays {
  layout::ImageRows<T> input;
  SlotScratch<GridRows<T>> rooms;

  RowArrays(Allocator& allocator, int slots, const ForwardProblem& p, std::int64_t points)
      : input(allocator, p.layout, p.shape.batch, p.shape.h * p.shape.w, p.shape.c),
        rooms(allocator, slots, input.planes() ? points : 0, input.width()) {}
};

/// NHWC: an item is a point. NCHW: a grid, out of rows of transposed pixels, transposed when it is done.
template <class T>
mluOpStatus_t by_rows(Context& context, const mluopsCall& call, const ForwardProblem& p) {
  const Shape& s = p.shape;
  const std::int64_t points = s.out_h * s.out_w, of_image = s.grids / s.batch * points;
  const std::int64_t item = p.layout == MLUOP_LAYOUT_NCHW && s.c > 1 ? points : 1;
  const double point_ns = cost::kStep + cost::kElement * static_cast<double>(s.c);
  const Loop loop(context, call, s.grids * points / item, static_cast<double>(item) * point_ns);
  auto arrays = allocate<RowArrays<T>>(context.arena, loop.slots(), p, points);
  if (!arrays) return no_memory(call);
  layout::ImageRows<T>& input = arrays->input;
  const auto find = [&](auto& touched) { find_touched(context, call, GridRois<T>(s, p.grid), touched); };
  const double reads = 4 * static_cast<double>(s.grids * points);
  if (!input.make_room(context, call, reads, find)) return no_memory(call);
  const bool large = s.grids * points * s.c * static_cast<std::int64_t>(sizeof(T)) > second_cache(64);
  constexpr double kOftenRead = 6;  // such pixels are in the caches most of the time
  const bool far = input.far() && reads <= kOftenRead * static_cast<double>(s.batch * s.h * s.w);
  const auto sample = [&](std::int64_t begin, std::int64_t end, int slot) HWY_ATTR {
    T* const rows = arrays->rooms.of(slot, input.planes() ? points : 0, input.width()).rows;
    std::int64_t count;
    for (std::int64_t first = begin * item; first < end * item; first += count) {
      const std::int64_t image = first / of_image;
      count = input.planes() ? points : std::min(end, (image + 1) * of_image) - first;
      T* const output = static_cast<T*>(p.output) + first * s.c + input.channels().first * points;
      take_samples(p, input.of(image), first, count, input.width(), far, input.planes() ? rows : output);
      if (!input.planes()) continue;
      using M = Moved<T>;
      layout::HWY_NAMESPACE::rows_to_planes(large, reinterpret_cast<const M*>(rows), input.width(), points,
                                            input.channels().count, reinterpret_cast<M*>(output), points);
    }
    non_temporal_fence();
  };
  input.each_group(context, call, p.input, [&] { loop.run(sample); });
  return MLUOP_STATUS_SUCCESS;
}

// ---- planes ----------------------------------------------------------------------------------

/// The samples of a grid, out of planes and into planes.
template <class T>
void sample_planes(const ForwardProblem& p, std::int64_t grid) {
  using A = Acc<T>;
  using Block = PlaneBlock<A>;
  const Shape& s = p.shape;
  const std::int64_t points = s.out_h * s.out_w, plane = s.h * s.w;
  const T* const image = static_cast<const T*>(p.input) + image_of(s, grid) * s.c * plane;
  for (std::int64_t first = 0; first < points; first += Block::kMost) {
    const std::int64_t count = std::min(Block::kMost, points - first);
    Block block;
    block.template fill<T>(s, p.grid, grid * points + first, count);
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
  const double point_ns = cost::kStep + 4 * cost::kGather * static_cast<double>(s.c);
  Loop(context, call, s.grids, static_cast<double>(s.out_h * s.out_w) * point_ns)
      .run([&](std::int64_t begin, std::int64_t end, int) HWY_ATTR {
        for (std::int64_t grid = begin; grid < end; ++grid) sample_planes<T>(p, grid);
      });
  return MLUOP_STATUS_SUCCESS;
}

/// Rows take kRowNs a point and a pixel that is moved, for any few channels; planes kSampleNs a point and channel. Few
/// points on a map in the caches repay gathers of any number of channels, unless they are slow.
template <class T>
Fit few_pixels(const Context&, const mluopsCall&, const ForwardProblem& p) {
  constexpr bool kGathers = std::is_same_v<T, Acc<T>>;
  constexpr double kRowNs = 9, kSampleNs = cost::kGather * (kGathers ? 4 : 8), kMostMoved = 4;
  const Shape& s = p.shape;
  const bool near = Planes::of(s).near<T>();
  const double pixels = near ? static_cast<double>(s.batch * s.h * s.w) : 0;
  const double moved = std::min(kMostMoved, pixels / static_cast<double>(s.grids * s.out_h * s.out_w));
  const bool few_channels = static_cast<double>(s.c) * kSampleNs <= kRowNs * (1 + moved);
  return fit(s.h * s.w <= INT32_MAX, few_channels || (kGathers && moved == kMostMoved && !gathers_are_slow()));
}

template <class T>
mluOpStatus_t forward(Context& context, const mluopsCall& call, const ForwardProblem& p) {
  static constexpr Path<ForwardProblem> kPaths[] = {{"rows", always<ForwardProblem>, by_rows<T>}};
  static constexpr Path<ForwardProblem> kNchwPaths[] = {
      {"nchw_planes", few_pixels<T>, by_grids<T>},
      {"nchw_points", few_points<T, Grids, 150, ForwardProblem>, sum_planes<T, Grids, ForwardProblem>},
      {"nchw_rois", always<ForwardProblem>, by_rows<T>}};
  if (p.layout == MLUOP_LAYOUT_NCHW) return run_path(context, call, p, kNchwPaths);
  return run_path(context, call, p, kPaths);
}

}  // namespace
}  // namespace mluops::cpu::roi_crop::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

MLUOPS_CPU_ENTRY(roi_crop_forward, roi_crop, forward, mluopsRoiCropForwardProblem, with_element)
