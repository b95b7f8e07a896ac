// Deformable convolution's gradients in filter and bias.
//
// input [N,H,W,Ci], grad_output [N,Ho,Wo,Co], grad_filter [Co,Kh,Kw,Ci/g]. A task owns some taps of a slice of at most
// 64 channels: tile by tile of all images' output pixels it takes the transpose of grad_output, which is made once for
// all tasks of a group, samples each of its taps into the first cache and adds the product [Co/g, pixels] x [pixels,
// channels] to sums of its own. Every sum is made in the order of the pixels, so the bits do not depend on how taps are
// shared among threads. 2 Co/g flops for each number sampled: bound by arithmetic. F is the type of the factors: that
// of the sums, or bfloat16 in tiles, where a sampled number is the sum of two.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/kernels/dcn/backward_weight.cpp"
#include <hwy/foreach_target.h>

#include <algorithm>

#include "backends/cpu/dispatch.h"
#include "backends/cpu/kernels/dcn/samples-inl.h"
#include "backends/cpu/simd/panel-inl.h"
#include "backends/cpu/simd/products-inl.h"
#include "backends/cpu/simd/simd-inl.h"
#include "mluops/problem/dcn.h"

MLUOPS_CPU_DECLARE(dcn_backward_weight, mluopsDcnBackwardWeightProblem)

HWY_BEFORE_NAMESPACE();
namespace mluops::cpu::dcn::HWY_NAMESPACE {
using namespace cpu::HWY_NAMESPACE;
namespace {

using WeightProblem = mluopsDcnBackwardWeightProblem;

/// How the work is cut.
struct WeightPlan {
  static constexpr std::int64_t kTilePixels = 128;

  std::int64_t slices;
  std::int64_t taps;   ///< of a task
  std::int64_t parts;  ///< that the taps of a slice are in
  std::int64_t height, width;
  bool shares;  ///< several tasks want the same transpose

  WeightPlan(const Shape& s, int threads, std::int64_t element, std::int64_t row_step)
      : slices(count_slices(s, 0, s.ci, kSliceChannels)),
        height(round_up(group_outputs(s), row_step)),
        width(padded_columns(std::min({kSliceChannels, group_inputs(s), s.ci / s.deform_groups}))) {
    const std::int64_t sums = size_product(height, width, element);
    const std::int64_t in_cache = std::max<std::int64_t>(1, second_cache_bytes() / sums);
    const std::int64_t shared = ceil_div(count_taps(s), ceil_div(std::int64_t{4} * threads, slices));
    taps = std::clamp<std::int64_t>(std::min(in_cache, shared), 1, count_taps(s));
    parts = ceil_div(count_taps(s), taps);
    shares = slices * parts > s.groups;
  }
};

inline std::int64_t count_weight_tiles(const Shape& s) {
  return count_tiles_of(s, WeightPlan::kTilePixels);
}

/// A thread's scratch.
template <class A, class F>
struct WeightScratch {
  A* sums;        ///< [taps of a task,height,width]
  A* bias;        ///< [2,Co/g]: of all tiles, of one
  A* rows;        ///< [kTilePixels,Co/g]
  F* transposed;  ///< [height,kTilePixels]: their transpose, if no other task wants it
  F* columns;     ///< packed [kTilePixels,width], of each part
  Tap<A>* taps;   ///< [kTilePixels,taps]

  WeightScratch(Allocator& allocator, const WeightPlan& p)
      : sums(allocator.allocate<A>(p.taps, p.height, p.width)),
        bias(allocator.allocate<A>(2, p.height)),
        rows(allocator.allocate<A>(WeightPlan::kTilePixels, p.height)),
        transposed(allocator.allocate<F>(p.shares ? 0 : WeightPlan::kTilePixels, p.height)),
        columns(allocator.allocate<F>(kSampleParts<F>, WeightPlan::kTilePixels, p.width)),
        taps(allocator.allocate<Tap<A>>(WeightPlan::kTilePixels, p.taps)) {}
};

template <class T, class F>
struct WeightArrays {
  WeightPlan plan;
  Slice* slices;
  T* zeros;       ///< a pixel beyond the map
  F* transposed;  ///< [batch * tiles,groups,height,kTilePixels], if tasks share it
  SlotScratch<WeightScratch<Acc<T>, F>> scratch;

  WeightArrays(Allocator& allocator, const Shape& s, const WeightPlan& p, int slots)
      : plan(p),
        slices(allocator.allocate<Slice>(p.slices)),
        zeros(allocator.allocate<T>(p.width)),
        transposed(allocator.allocate<F>(p.shares ? s.batch : 0, count_weight_tiles(s), s.groups, p.height,
                                         WeightPlan::kTilePixels)),
        scratch(allocator, slots, p) {}

  F* transposed_of(const Shape& s, std::int64_t image, std::int64_t tile, std::int64_t group) const {
    const std::int64_t number = (image * count_weight_tiles(s) + tile) * s.groups + group;
    return transposed + number * plan.height * WeightPlan::kTilePixels;
  }
};

/// The transpose of grad_output [height,kTilePixels] for a tile and a group; `rows`: scratch. Rows behind the last
/// output are zeros: they are multiplied, too.
template <class T, class F>
void transpose_gradients(const WeightProblem& p, const WeightPlan& plan, const Tile& tile, std::int64_t group,
                         Acc<T>* rows, F* to) {
  const Shape& s = p.shape;
  constexpr std::int64_t kStride = WeightPlan::kTilePixels;
  const std::int64_t outputs = group_outputs(s), depth = round_up(tile.count, kDepthStep<F>);
  const T* const from =
      static_cast<const T*>(p.grad_output) + (tile.image * out_pixels(s) + tile.first) * s.co + group * outputs;
  if constexpr (kInTiles<F>) {
    transpose_panel(&from->bits, s.co, tile.count, outputs, &to->bits, kStride);
    for (std::int64_t o = 0; o < outputs; ++o) std::fill(to + o * kStride + tile.count, to + o * kStride + depth, F{});
  } else {
    for (std::int64_t i = 0; i < tile.count; ++i) load_row(from + i * s.co, rows + i * outputs, outputs);
    transpose_panel(rows, outputs, tile.count, outputs, to, kStride);
  }
  std::fill_n(to + outputs * kStride, (plan.height - outputs) * kStride, F{});
}

/// A task: some taps of a slice.
template <class T, class F>
class WeightTask {
 public:
  using A = Acc<T>;

  WeightTask(const WeightProblem& p, const WeightArrays<T, F>& arrays, std::int64_t number, int slot)
      : p_(p),
        s_(p.shape),
        plan_(arrays.plan),
        slice_(arrays.slices[number / arrays.plan.parts]),
        first_tap_(number % arrays.plan.parts * arrays.plan.taps),
        taps_(std::min(arrays.plan.taps, count_taps(p.shape) - first_tap_)),
        width_(padded_columns(slice_.count)),
        arrays_(arrays),
        own_(arrays.scratch.of(slot, plan_)) {}

  HWY_INLINE void run() const {
    std::fill_n(own_.sums, taps_ * plan_.height * width_, A{0});
    std::fill_n(own_.bias, plan_.height, A{0});
    for (std::int64_t image = 0; image < s_.batch; ++image) {
      for (std::int64_t i = 0; i < count_weight_tiles(s_); ++i) {
        const Tile tile = tile_at(s_, image, i, WeightPlan::kTilePixels);
        if (owns_bias()) add_bias(tile);
        run_tile(tile, transposed_of(tile, i));
      }
    }
    store_filters();
    if (owns_bias()) {
      store_row(own_.bias, static_cast<T*>(p_.grad_bias) + slice_.group * group_outputs(s_), group_outputs(s_));
    }
  }

 private:
  /// Whether the task is the first of its group of the convolution.
  bool owns_bias() const { return p_.grad_bias != nullptr && first_tap_ == 0 && slice_.first % group_inputs(s_) == 0; }

  HWY_INLINE const F* transposed_of(const Tile& tile, std::int64_t number) const {
    if (plan_.shares) return arrays_.transposed_of(s_, tile.image, number, slice_.group);
    transpose_gradients<T>(p_, plan_, tile, slice_.group, own_.rows, own_.transposed);
    return own_.transposed;
  }

  HWY_INLINE void run_tile(const Tile& tile, const F* transposed) const {
    find_taps<T>(p_, tile, slice_.deform_group, first_tap_, first_tap_ + taps_, own_.taps);
    for (std::int64_t k = 0; k < taps_; ++k) {
      A* const sums = own_.sums + k * plan_.height * width_;
      if constexpr (kInTiles<F>) {
        sample_pairs(tile, k);
        tiles::multiply({plan_.height, round_up(tile.count, tiles::kDepth), width_, transposed, WeightPlan::kTilePixels,
                         own_.columns, sums, width_, false, 0, part()});
      } else {
        sample(tile, k);
        add_matrix_product(plan_.height, tile.count, width_, transposed, WeightPlan::kTilePixels, own_.columns, sums,
                           width_);
      }
    }
  }

  /// Elements of a part of the columns.
  std::int64_t part() const { return WeightPlan::kTilePixels * plan_.width; }

  /// What sample() does, for tiles: two pixels at a time, the depth filled with zeros.
  HWY_INLINE void sample_pairs(const Tile& tile, std::int64_t tap) const {
    const T* const input = static_cast<const T*>(p_.input) + tile.image * s_.h * s_.w * s_.ci + slice_.first;
    const ImageSlice<T> image = {input, s_.ci, arrays_.zeros};
    const std::int64_t depth = round_up(tile.count, tiles::kDepth);
    alignas(kCacheLineBytes) A rows[2][kSliceChannels] = {};
    for (std::int64_t i = 0; i < depth; ++i) {
      A* const row = rows[i % 2];
      if (i < tile.count) {
        sample_channels(image, own_.taps[i * taps_ + tap], 0, slice_.count, row);
      } else {
        std::fill_n(row, slice_.count, A{0});
      }
      if (i % 2 == 1) pack_split_rows(rows[0], rows[1], width_, depth, own_.columns + (i - 1) * tiles::kEdge, part());
    }
  }

  /// A tile's sums apart keep the rounding of long sums small.
  HWY_INLINE void add_bias(const Tile& tile) const {
    const std::int64_t outputs = group_outputs(s_);
    const T* const from = static_cast<const T*>(p_.grad_output) + (tile.image * out_pixels(s_) + tile.first) * s_.co +
                          slice_.group * outputs;
    A* const of_tile = own_.bias + plan_.height;
    std::fill_n(of_tile, outputs, A{0});
    for (std::int64_t i = 0; i < tile.count; ++i) axpy(A{1}, from + i * s_.co, of_tile, outputs);
    axpy(A{1}, of_tile, own_.bias, outputs);
  }

  /// One tap's samples as a packed matrix [tile.count,width].
  HWY_INLINE void sample(const Tile& tile, std::int64_t tap) const {
    const T* const input = static_cast<const T*>(p_.input) + tile.image * s_.h * s_.w * s_.ci + slice_.first;
    const ImageSlice<T> image = {input, s_.ci, arrays_.zeros};
    for_packed_tiles<A>(width_, [&](std::int64_t column, std::int64_t lanes) HWY_ATTR {
      const std::int64_t channels = std::clamp<std::int64_t>(slice_.count - column, 0, lanes);
      A* row = own_.columns + tile.count * column;
      for (std::int64_t i = 0; i < tile.count; ++i, row += lanes) {
        sample_channels(image, own_.taps[i * taps_ + tap], column, channels, row);
        std::fill(row + channels, row + lanes, A{0});
      }
    });
  }

  HWY_INLINE void store_filters() const {
    const std::int64_t outputs = group_outputs(s_), inputs = group_inputs(s_);
    T* const to = static_cast<T*>(p_.grad_filter) + slice_.first % inputs;
    for (std::int64_t o = 0; o < outputs; ++o) {
      for (std::int64_t k = 0; k < taps_; ++k) {
        T* const row = to + ((slice_.group * outputs + o) * count_taps(s_) + first_tap_ + k) * inputs;
        store_row(own_.sums + (k * plan_.height + o) * width_, row, slice_.count);
      }
    }
  }

  const WeightProblem& p_;
  const Shape& s_;
  const WeightPlan& plan_;
  const Slice slice_;
  std::int64_t first_tap_, taps_, width_;
  const WeightArrays<T, F>& arrays_;
  WeightScratch<A, F> own_;
};

/// The transposes of tiles and groups [begin, end), for the tasks that share them.
template <class T, class F>
void transpose_tiles(const WeightProblem& p, const WeightArrays<T, F>& arrays, std::int64_t begin, std::int64_t end,
                     int slot) {
  const Shape& s = p.shape;
  const std::int64_t tiles = count_weight_tiles(s);
  for (std::int64_t i = begin; i < end; ++i) {
    const std::int64_t group = i % s.groups, tile = i / s.groups % tiles, image = i / s.groups / tiles;
    transpose_gradients<T>(p, arrays.plan, tile_at(s, image, tile, WeightPlan::kTilePixels), group,
                           arrays.scratch.of(slot, arrays.plan).rows, arrays.transposed_of(s, image, tile, group));
  }
}

template <class T, class F>
mluOpStatus_t weight_by_slices(Context& context, const mluopsCall& call, const WeightProblem& p) {
  const Shape& s = p.shape;
  const auto loop_of = [&](const WeightPlan& plan) {
    const double numbers = static_cast<double>(s.batch * out_pixels(s) * plan.taps * plan.width);
    const double task_ns = numbers * (cost::kElement + cost::kMultiplyAdd * static_cast<double>(group_outputs(s)));
    return Loop(context, call, plan.slices * plan.parts, task_ns);
  };
  WeightPlan plan(s, call.threads, sizeof(Acc<T>), kRowStep<F>);
  // Each task reads all tiles again, so a thread that does all of them has few.
  if (loop_of(plan).slots() == 1) plan = WeightPlan(s, 1, sizeof(Acc<T>), kRowStep<F>);
  const Loop loop = loop_of(plan);
  const double tile_ns = static_cast<double>(WeightPlan::kTilePixels * group_outputs(s)) * 2 * cost::kMove;
  const Loop tiles(context, call, plan.shares ? s.batch * count_weight_tiles(s) * s.groups : 0, tile_ns);
  const auto arrays = allocate<WeightArrays<T, F>>(context.arena, s, plan, std::max(loop.slots(), tiles.slots()));
  if (!arrays) return no_memory(call);
  std::fill_n(arrays->zeros, plan.width, T{});
  for_slices(s, 0, s.ci, kSliceChannels, [&](std::int64_t i, const Slice& slice) { arrays->slices[i] = slice; });
  tiles.run([&](std::int64_t begin, std::int64_t end, int slot)
                HWY_ATTR { transpose_tiles(p, *arrays, begin, end, slot); });
  loop.run([&](std::int64_t begin, std::int64_t end, int slot) HWY_ATTR {
    for (std::int64_t i = begin; i < end; ++i) WeightTask<T, F>(p, *arrays, i, slot).run();
  });
  return MLUOP_STATUS_SUCCESS;
}

template <class T>
mluOpStatus_t backward_weight(Context& context, const mluopsCall& call, const WeightProblem& p) {
  static constexpr Path<WeightProblem> kNchwPaths[] = {
      layout::kTransposed<operators::dcn_backward_weight, WeightProblem>};
  if (p.layout == MLUOP_LAYOUT_NCHW) return run_path(context, call, p, kNchwPaths);
  const std::int64_t channels = std::min(group_inputs(p.shape), group_outputs(p.shape));
  return run_product_path<T>(context, call, p, channels, kSampleParts<Bfloat16>, "slices",
                             [](auto factor) { return weight_by_slices<T, decltype(factor)>; });
}

}  // namespace
}  // namespace mluops::cpu::dcn::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

MLUOPS_CPU_ENTRY(dcn_backward_weight, dcn, backward_weight, mluopsDcnBackwardWeightProblem, with_element)
