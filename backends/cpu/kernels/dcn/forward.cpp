// Deformable convolution forward: sampled columns times the filters.
//
// input [N,H,W,Ci], filter [Co,Kh,Kw,Ci/g], output [N,Ho,Wo,Co]. A task owns tiles of output pixels of an image. Some
// taps at a time it samples the columns [pixels, taps * channels] of a convolution group into the second cache and
// multiplies them with the packed filters of those taps, added to the tile's sums; so the columns of an image are
// never in memory at once. 2 Co/g flops for each number sampled: bound by arithmetic. Sums are made in the same order
// whatever the tile's size is. F is the type of the factors: that of the sums, or bfloat16 in tiles, where a sampled
// number is the sum of two.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/kernels/dcn/forward.cpp"
#include <hwy/foreach_target.h>

#include <algorithm>

#include "backends/cpu/dispatch.h"
#include "backends/cpu/kernels/dcn/pixel_lanes-inl.h"
#include "backends/cpu/kernels/dcn/samples-inl.h"
#include "backends/cpu/simd/panel-inl.h"
#include "backends/cpu/simd/products-inl.h"
#include "backends/cpu/simd/simd-inl.h"
#include "mluops/problem/dcn.h"

MLUOPS_CPU_DECLARE(dcn_forward, mluopsDcnForwardProblem)

HWY_BEFORE_NAMESPACE();
namespace mluops::cpu::dcn::HWY_NAMESPACE {
using namespace cpu::HWY_NAMESPACE;
namespace {

using ForwardProblem = mluopsDcnForwardProblem;

/// How the work is cut.
struct ForwardPlan {
  std::int64_t width;       ///< columns of a group's packed filters
  std::int64_t chunk_taps;  ///< taps sampled at a time
  std::int64_t depth;       ///< of a product: chunk_taps times a group's channels
  std::int64_t tile_pixels, tiles;

  ForwardPlan(const Shape& s, int threads, std::int64_t row_step, std::int64_t depth_step)
      : width(padded_columns(group_outputs(s))),
        chunk_taps(std::clamp<std::int64_t>(kDepth / group_inputs(s), 1, count_taps(s))),
        depth(round_up(chunk_taps * group_inputs(s), depth_step)) {
    const std::int64_t all = s.batch * out_pixels(s);
    tile_pixels = round_up(std::clamp<std::int64_t>(ceil_div(all, 4 * threads), kLeastPixels, kMostPixels), row_step);
    tiles = count_tiles_of(s, tile_pixels);
  }
  std::int64_t chunks(const Shape& s) const { return ceil_div(count_taps(s), chunk_taps); }

 private:
  static constexpr std::int64_t kDepth = 512, kLeastPixels = 24, kMostPixels = 96;
};

template <class T, class F>
struct ForwardArrays {
  using A = Acc<T>;
  ForwardPlan plan;
  F* filters;  ///< packed [groups,chunks,depth,width]
  F* wide;     ///< the filters as factors' type, where they are not
  T* zeros;    ///< a pixel beyond the map
  A* bias;     ///< [groups,width]
  // One for each slot.
  Tap<A>* taps;  ///< [deform_groups,tile_pixels,taps]
  F* columns;    ///< [parts,tile_pixels,depth]
  A* sums;       ///< [tile_pixels,width]

  ForwardArrays(Allocator& allocator, const Shape& s, const ForwardPlan& p, int slots)
      : plan(p),
        filters(allocator.allocate<F>(s.groups, p.chunks(s), p.depth, p.width)),
        wide(allocator.allocate<F>(std::is_same_v<T, F> ? 0 : s.co, count_taps(s), group_inputs(s))),
        zeros(allocator.allocate<T>(s.ci)),
        bias(allocator.allocate<A>(s.groups, p.width)),
        taps(allocator.allocate<Tap<A>>(slots, s.deform_groups, p.tile_pixels, count_taps(s))),
        columns(allocator.allocate<F>(slots, kSampleParts<F>, p.tile_pixels, p.depth)),
        sums(allocator.allocate<A>(slots, p.tile_pixels, p.width)) {}

  /// The packed filters of a group from a tap on, the first of a chunk.
  F* filters_of(const Shape& s, std::int64_t group, std::int64_t tap) const {
    return filters + (group * plan.chunks(s) + tap / plan.chunk_taps) * plan.depth * plan.width;
  }
};

/// Packs the filters of one group for one chunk of taps: rows are its taps' channels, columns its outputs.
template <class A>
void pack_chunk(const Shape& s, const A* filters, std::int64_t group, std::int64_t tap, std::int64_t taps,
                std::int64_t width, A* packed) {
  const std::int64_t outputs = group_outputs(s), row = count_taps(s) * group_inputs(s);
  const std::int64_t depth = taps * group_inputs(s);
  const A* const first = filters + group * outputs * row + tap * group_inputs(s);
  for_packed_tiles<A>(width, [&](std::int64_t column, std::int64_t lanes) HWY_ATTR {
    A* const to = packed + depth * column;
    const std::int64_t real = std::clamp<std::int64_t>(outputs - column, 0, lanes);
    if (real < lanes) std::fill_n(to, depth * lanes, A{0});
    if (real > 0) transpose_panel(first + column * row, row, real, depth, to, lanes);
  });
}

/// Packs the filters of a chunk for tiles, which take the rows of the depth in pairs.
template <class F>
void pack_chunk_in_pairs(const Shape& s, const F* filters, std::int64_t group, std::int64_t tap, std::int64_t taps,
                         std::int64_t width, F* packed) {
  const std::int64_t outputs = group_outputs(s), row = count_taps(s) * group_inputs(s);
  const std::int64_t real = taps * group_inputs(s), depth = round_up(real, tiles::kDepth);
  std::fill_n(packed, depth * width, F{});
  for (std::int64_t o = 0; o < outputs; ++o) {
    const F* const from = filters + (group * outputs + o) * row + tap * group_inputs(s);
    F* const to = packed + o / tiles::kEdge * tiles::kEdge * depth + o % tiles::kEdge * 2;
    for (std::int64_t k = 0; k < real; ++k) to[k / 2 * (2 * tiles::kEdge) + k % 2] = from[k];
  }
}

template <class T, class F>
void pack_filters(const Context& context, const mluopsCall& call, const ForwardProblem& p,
                  const ForwardArrays<T, F>& arrays) {
  const Shape& s = p.shape;
  const ForwardPlan& plan = arrays.plan;
  const auto* const given = static_cast<const T*>(p.filter);
  const std::int64_t row = count_taps(s) * group_inputs(s), chunks = plan.chunks(s);
  const F* filters = arrays.wide;
  if constexpr (std::is_same_v<T, F>) {
    filters = given;
  } else {
    Loop(context, call, s.co, cost::kMove * static_cast<double>(row))
        .run([&](std::int64_t begin, std::int64_t end, int)
                 HWY_ATTR { load_row(given + begin * row, arrays.wide + begin * row, (end - begin) * row); });
  }
  Loop(context, call, s.groups * chunks, cost::kElement * static_cast<double>(plan.depth * plan.width))
      .run([&](std::int64_t begin, std::int64_t end, int) HWY_ATTR {
        for (std::int64_t i = begin; i < end; ++i) {
          const std::int64_t group = i / chunks, tap = i % chunks * plan.chunk_taps;
          const std::int64_t taps = std::min(plan.chunk_taps, count_taps(s) - tap);
          F* const packed = arrays.filters_of(s, group, tap);
          if constexpr (kInTiles<F>) {
            pack_chunk_in_pairs(s, filters, group, tap, taps, plan.width, packed);
          } else {
            pack_chunk(s, filters, group, tap, taps, plan.width, packed);
          }
        }
      });
}

template <class T, class F>
void fill_bias(const ForwardProblem& p, const ForwardArrays<T, F>& arrays) {
  const Shape& s = p.shape;
  std::fill_n(arrays.bias, s.groups * arrays.plan.width, Acc<T>{0});
  if (p.bias == nullptr) return;
  const std::int64_t outputs = group_outputs(s);
  for (std::int64_t g = 0; g < s.groups; ++g) {
    load_row(static_cast<const T*>(p.bias) + g * outputs, arrays.bias + g * arrays.plan.width, outputs);
  }
}

/// A task's part of the arrays and of the problem.
template <class T, class F>
class ForwardTask {
 public:
  using A = Acc<T>;

  ForwardTask(const ForwardProblem& p, const ForwardArrays<T, F>& arrays, int slot)
      : p_(p),
        s_(p.shape),
        plan_(arrays.plan),
        arrays_(arrays),
        taps_(arrays.taps + slot * s_.deform_groups * plan_.tile_pixels * count_taps(s_)),
        columns_(arrays.columns + slot * kSampleParts<F> * part()),
        sums_(arrays.sums + slot * plan_.tile_pixels * plan_.width) {
    // Rows behind a tile's last pixel are multiplied, too.
    std::fill_n(columns_, kSampleParts<F> * part(), F{});
  }

  HWY_INLINE void run(const Tile& tile) const {
    for (std::int64_t g = 0; g < s_.deform_groups; ++g) find_taps<T>(p_, tile, g, taps_of(g));
    for (std::int64_t group = 0; group < s_.groups; ++group) {
      const A* const bias = arrays_.bias + group * plan_.width;
      for (std::int64_t i = 0; i < tile.count; ++i) std::copy_n(bias, plan_.width, sums_ + i * plan_.width);
      multiply_group(tile, group);
      store_group(tile, group);
    }
  }

 private:
  Tap<A>* taps_of(std::int64_t deform_group) const { return taps_ + deform_group * plan_.tile_pixels * count_taps(s_); }

  HWY_INLINE void multiply_group(const Tile& tile, std::int64_t group) const {
    for (std::int64_t tap = 0; tap < count_taps(s_); tap += plan_.chunk_taps) {
      const std::int64_t taps = std::min(plan_.chunk_taps, count_taps(s_) - tap);
      const std::int64_t real = taps * group_inputs(s_), depth = round_up(real, kDepthStep<F>);
      for_slices(s_, group * group_inputs(s_), (group + 1) * group_inputs(s_), s_.ci,
                 [&](std::int64_t, const Slice& slice) HWY_ATTR { sample(tile, slice, tap, taps, depth); });
      const F* const filters = arrays_.filters_of(s_, group, tap);
      const std::int64_t rows = round_up(tile.count, kRowStep<F>), width = plan_.width;
      if constexpr (kInTiles<F>) {
        clear_columns(tile, real, depth);
        tiles::multiply({rows, depth, width, columns_, depth, filters, sums_, width, false, part()});
      } else {
        add_matrix_product(rows, depth, width, columns_, depth, filters, sums_, width);
      }
    }
  }

  /// Columns [real, depth).
  void clear_columns(const Tile& tile, std::int64_t real, std::int64_t depth) const {
    for (std::int64_t i = 0; i < tile.count; ++i) {
      for (F* const row : {columns_ + i * depth, columns_ + i * depth + part()})
        std::fill(row + real, row + depth, F{});
    }
  }

  /// Elements of a part of the columns.
  std::int64_t part() const { return plan_.tile_pixels * plan_.depth; }
  auto row_of(F* columns) const {
    if constexpr (kInTiles<F>) {
      return SplitRow{columns, part()};
    } else {
      return columns;
    }
  }

  /// The columns [tile.count, depth] of a slice for some taps.
  HWY_INLINE void sample(const Tile& tile, const Slice& slice, std::int64_t tap, std::int64_t taps,
                         std::int64_t depth) const {
    const T* const image = static_cast<const T*>(p_.input) + tile.image * s_.h * s_.w * s_.ci;
    const ImageSlice<T> channels = {image + slice.first, s_.ci, arrays_.zeros};
    const Tap<A>* const found = taps_of(slice.deform_group) + tap;
    F* const columns = columns_ + slice.first % group_inputs(s_);
    for (std::int64_t i = 0; i < tile.count; ++i) {
      for (std::int64_t k = 0; k < taps; ++k) {
        sample_channels(channels, found[i * count_taps(s_) + k], 0, slice.count,
                        row_of(columns + i * depth + k * group_inputs(s_)));
      }
    }
  }

  HWY_INLINE void store_group(const Tile& tile, std::int64_t group) const {
    T* const output = static_cast<T*>(p_.output) + (tile.image * out_pixels(s_) + tile.first) * s_.co;
    for (std::int64_t i = 0; i < tile.count; ++i) {
      store_row(sums_ + i * plan_.width, output + i * s_.co + group * group_outputs(s_), group_outputs(s_));
    }
  }

  const ForwardProblem& p_;
  const Shape& s_;
  const ForwardPlan& plan_;
  const ForwardArrays<T, F>& arrays_;
  Tap<A>* taps_;
  F* columns_;
  A* sums_;
};

template <class T, class F>
mluOpStatus_t forward_by_tiles(Context& context, const mluopsCall& call, const ForwardProblem& p) {
  const Shape& s = p.shape;
  const ForwardPlan plan(s, call.threads, kRowStep<F>, kDepthStep<F>);
  const double numbers = static_cast<double>(plan.tile_pixels * count_taps(s) * s.ci);
  const double tile_ns = numbers * (cost::kElement + cost::kMultiplyAdd * static_cast<double>(group_outputs(s)));
  const Loop loop(context, call, s.batch * plan.tiles, tile_ns);
  const auto arrays = allocate<ForwardArrays<T, F>>(context.arena, s, plan, loop.slots());
  if (!arrays) return no_memory(call);
  std::fill_n(arrays->zeros, s.ci, T{});
  fill_bias(p, *arrays);
  pack_filters(context, call, p, *arrays);
  loop.run([&](std::int64_t begin, std::int64_t end, int slot) HWY_ATTR {
    const ForwardTask<T, F> task(p, *arrays, slot);
    for (std::int64_t i = begin; i < end; ++i) task.run(tile_at(s, i / plan.tiles, i % plan.tiles, plan.tile_pixels));
  });
  return MLUOP_STATUS_SUCCESS;
}

/// A problem whose filter stays in its layout when the other tensors are transposed.
struct LanesProblem : ForwardProblem {
  bool filter_is_nchw;
};

template <class T>
mluOpStatus_t forward_by_lanes(Context& context, const mluopsCall& call, const ForwardProblem& p) {
  if (p.layout != MLUOP_LAYOUT_NCHW) return lanes::forward<T>(context, call, LanesProblem{p, false});
  return layout::run_nchw<LanesProblem>(context, call, {p, true}, lanes::forward<T, LanesProblem>);
}

/// Packing a filter costs more than the product of few pixels, most of all one that comes from memory; packed, few
/// outputs of a group leave lanes empty.
Fit prefers_lanes(const Context&, const mluopsCall&, const ForwardProblem& p) {
  constexpr std::int64_t kFewPixels = 64, kFewOfMemory = 256, kFewOutputs = 16;
  const Shape& s = p.shape;
  const std::int64_t pixels = s.batch * out_pixels(s), filter = layout::DcnImages(s).filter().bytes();
  const bool few =
      (pixels <= kFewPixels && filter > second_cache(16)) || (pixels <= kFewOfMemory && filter > second_cache(4 * 64));
  return fit(true, few || group_outputs(s) < kFewOutputs);
}

template <class T>
mluOpStatus_t forward(Context& context, const mluopsCall& call, const ForwardProblem& p) {
  static constexpr Path<ForwardProblem> kLanes = {"pixel_lanes", prefers_lanes, forward_by_lanes<T>};
  static constexpr Path<ForwardProblem> kNchwPaths[] = {kLanes,
                                                        layout::kTransposed<operators::dcn_forward, ForwardProblem>};
  if (p.layout == MLUOP_LAYOUT_NCHW) return run_path(context, call, p, kNchwPaths);
  const std::int64_t channels = std::min(group_inputs(p.shape), group_outputs(p.shape));
  return run_product_path<T>(
      context, call, p, channels, kSampleParts<Bfloat16>, "tiles",
      [](auto factor) { return forward_by_tiles<T, decltype(factor)>; }, kLanes);
}

}  // namespace
}  // namespace mluops::cpu::dcn::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

MLUOPS_CPU_ENTRY(dcn_forward, dcn, forward, mluopsDcnForwardProblem, with_element)
