// Deformable convolution's gradients in input, offset and mask.
//
// input [N,H,W,Ci], grad_output [N,Ho,Wo,Co], filter [Co,Kh,Kw,Ci/g]. A task owns some channels of a deformable group
// of an image, and takes at most 64 of them at a time: tile by tile of output pixels, some taps at a time, it
// multiplies the rows of grad_output with the taps' filters, which gives the gradients of the samples; four dot
// products of each with the pixels under its sample are what grad_offset and grad_mask need, and it is added to those
// pixels' sums in a panel [H*W, channels] of the task's own. So no two tasks add to one place, and the order of
// additions is that of the pixels. Where there are more threads than such tasks, a task owns a band of input rows, too:
// it multiplies the tiles with samples on its rows, and takes the dot products of a band of tiles. The dot products of
// the parts of a deformable group are added up in order afterwards; parts do not depend on the number of threads. 2
// Co/g flops for each number of a sample's gradient: bound by arithmetic. F is the type of the factors: that of the
// sums, or bfloat16 in tiles.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/kernels/dcn/backward_data.cpp"
#include <hwy/foreach_target.h>

#include <algorithm>

#include "backends/cpu/dispatch.h"
#include "backends/cpu/kernels/dcn/samples-inl.h"
#include "backends/cpu/sampling/four_pixels-inl.h"
#include "backends/cpu/simd/products-inl.h"
#include "backends/cpu/simd/simd-inl.h"
#include "mluops/problem/dcn.h"

MLUOPS_CPU_DECLARE(dcn_backward_data, mluopsDcnBackwardDataProblem)

HWY_BEFORE_NAMESPACE();
namespace mluops::cpu::dcn::HWY_NAMESPACE {
using namespace cpu::HWY_NAMESPACE;
namespace {

using DataProblem = mluopsDcnBackwardDataProblem;

/// How the work is cut: parts by the problem alone, so that sums are the same for every number of threads.
struct DataPlan {
  static constexpr std::int64_t kTilePixels = 96, kMostParts = 8;

  std::int64_t group_channels;  ///< of a deformable group
  std::int64_t slice_channels;  ///< at most, that are worked on at a time
  std::int64_t part_channels;   ///< that a task owns
  std::int64_t parts;           ///< of a deformable group
  std::int64_t width;           ///< of a slice's rows
  std::int64_t chunk_taps;      ///< taps that are multiplied together
  std::int64_t bands;           ///< of input rows and of tiles, each with a task of its own; sums do not depend on it

  DataPlan(const Shape& s, int threads)
      : group_channels(s.ci / s.deform_groups),
        slice_channels(std::clamp<std::int64_t>(round_up(ceil_div(group_channels, 2), 16), 32, kSliceChannels)),
        part_channels(std::max(slice_channels, round_up(ceil_div(group_channels, kMostParts), slice_channels))),
        parts(ceil_div(group_channels, part_channels)),
        width(padded_columns(std::min(slice_channels, group_channels))),
        chunk_taps(std::clamp<std::int64_t>(kChunkColumns / width, 1, count_taps(s))),
        bands(std::min(slice_channels, group_inputs(s)) < kLeastChannels ? 1 : bands_for(s, threads)) {}

 private:
  static constexpr std::int64_t kChunkColumns = 576;
  static constexpr std::int64_t kLeastChannels = 32;  ///< with fewer, finding taps would be most of a band's work
  static constexpr std::int64_t kLeastRows = 8;       ///< of a band: samples of a tile fall on some rows around its own

  std::int64_t bands_for(const Shape& s, int threads) const {
    const std::int64_t tasks = std::max<std::int64_t>(1, s.deform_groups * parts * s.batch);
    return std::clamp<std::int64_t>(ceil_div(threads, tasks), 1, std::max<std::int64_t>(1, s.h / kLeastRows));
  }
};

/// The gradients of a tap's place and mask.
template <class A>
struct TapGradient {
  A down, across, mask;
};

/// The depth of the products: a group's outputs, and zeros behind them.
template <class F>
std::int64_t depth_of(const Shape& s) {
  return round_up(group_outputs(s), kDepthStep<F>);
}

/// A thread's scratch.
template <class A, class F>
struct DataScratch {
  F* filters;    ///< packed [depth,chunk_taps * width] of each chunk of taps
  A* panel;      ///< [h * w,width]: sums of grad_input
  A* columns;    ///< [kTilePixels,chunk_taps,width]: gradients of samples
  F* rows;       ///< [kTilePixels,depth]: grad_output, where it cannot be read in place
  Tap<A>* taps;  ///< [kTilePixels,taps]

  DataScratch(Allocator& allocator, const Shape& s, const DataPlan& p)
      : filters(allocator.allocate<F>(count_taps(s), depth_of<F>(s), p.width)),
        panel(allocator.allocate<A>(s.h, s.w, p.width)),
        columns(allocator.allocate<A>(DataPlan::kTilePixels, p.chunk_taps, p.width)),
        rows(allocator.allocate<F>(DataPlan::kTilePixels, depth_of<F>(s))),
        taps(allocator.allocate<Tap<A>>(DataPlan::kTilePixels, count_taps(s))) {}
};

template <class T, class F>
struct DataArrays {
  using A = Acc<T>;
  DataPlan plan;
  TapGradient<A>* slopes;  ///< [deform_groups,parts,batch,pixels,taps]
  SlotScratch<DataScratch<A, F>> scratch;

  DataArrays(Allocator& allocator, const Shape& s, const DataPlan& p, int slots)
      : plan(p),
        slopes(allocator.allocate<TapGradient<A>>(s.deform_groups, p.parts, s.batch, out_pixels(s), count_taps(s))),
        scratch(allocator, slots, s, p) {}
};

/// The i-th of so many nearly equal runs of [0, size).
struct Band {
  std::int64_t begin, end;

  Band(std::int64_t size, std::int64_t i, std::int64_t count) : begin(size * i / count), end(size * (i + 1) / count) {}
  bool has(std::int64_t at) const { return at >= begin && at < end; }
};

/// A task: some channels of a deformable group of an image; of them a band of input rows and a band of tiles.
template <class T, class F>
class DataTask {
 public:
  using A = Acc<T>;

  DataTask(const DataProblem& p, const DataArrays<T, F>& arrays, std::int64_t number, int slot)
      : p_(p),
        s_(p.shape),
        arrays_(arrays),
        depth_(depth_of<F>(s_)),
        rows_(s_.h, number % arrays.plan.bands, arrays.plan.bands),
        tiles_(count_tiles_of(s_, DataPlan::kTilePixels), number % arrays.plan.bands, arrays.plan.bands),
        part_(number / arrays.plan.bands),
        image_(part_ % s_.batch),
        deform_group_(part_ / s_.batch / arrays.plan.parts),
        first_(deform_group_ * arrays.plan.group_channels +
               part_ / s_.batch % arrays.plan.parts * arrays.plan.part_channels),
        slopes_(arrays.slopes + part_ * out_pixels(s_) * count_taps(s_)),
        own_(arrays.scratch.of(slot, s_, arrays.plan)) {}

  HWY_INLINE void run() const {
    const DataPlan& plan = arrays_.plan;
    const std::int64_t end = std::min(first_ + plan.part_channels, (deform_group_ + 1) * plan.group_channels);
    for (std::int64_t i = tiles_.begin; i < tiles_.end; ++i) {
      const Tile tile = tile_at(s_, image_, i, DataPlan::kTilePixels);
      std::fill_n(slopes_ + tile.first * count_taps(s_), tile.count * count_taps(s_), TapGradient<A>{});
    }
    // Rows behind a tile's last pixel are multiplied, too.
    std::fill_n(own_.rows, DataPlan::kTilePixels * depth_, F{});
    for_slices(s_, first_, end, plan.slice_channels,
               [&](std::int64_t, const Slice& slice) HWY_ATTR { run_slice(slice); });
  }

 private:
  HWY_INLINE void run_slice(const Slice& slice) const {
    const std::int64_t width = padded_columns(slice.count), begin = rows_.begin * s_.w, end = rows_.end * s_.w;
    pack_filters(slice, width);
    std::fill_n(own_.panel + begin * width, (end - begin) * width, A{0});
    for (std::int64_t i = 0; i < count_tiles_of(s_, DataPlan::kTilePixels); ++i) {
      const Tile tile = tile_at(s_, image_, i, DataPlan::kTilePixels);
      find_taps<T>(p_, tile, deform_group_, own_.taps);
      if (tiles_.has(i) || reaches_rows(tile)) run_tile(slice, width, tile, tiles_.has(i));
    }
    T* const to = static_cast<T*>(p_.grad_input) + image_ * s_.h * s_.w * s_.ci + slice.first;
    for (std::int64_t i = begin; i < end; ++i) store_row(own_.panel + i * width, to + i * s_.ci, slice.count);
  }

  /// Whether samples of a tile are on rows that the task owns.
  bool reaches_rows(const Tile& tile) const {
    return std::any_of(own_.taps, own_.taps + tile.count * count_taps(s_),
                       [&](const Tap<A>& tap) { return adds(tap); });
  }
  bool adds(const Tap<A>& tap, std::size_t corner) const {
    return tap.at.on_map[corner] && tap.at.pixel[corner] >= rows_.begin * s_.w &&
           tap.at.pixel[corner] < rows_.end * s_.w;
  }
  bool adds(const Tap<A>& tap) const { return adds(tap, 0) || adds(tap, 1) || adds(tap, 2) || adds(tap, 3); }

  /// f(first tap, taps) for each chunk.
  template <class Chunk>
  HWY_INLINE void for_chunks(Chunk&& f) const {
    const std::int64_t most = arrays_.plan.chunk_taps;
    for (std::int64_t k = 0; k < count_taps(s_); k += most) f(k, std::min(most, count_taps(s_) - k));
  }

  /// A matrix [depth,taps * width] for each chunk; columns behind a slice's channels are zeros.
  HWY_INLINE void pack_filters(const Slice& slice, std::int64_t width) const {
    const std::int64_t outputs = group_outputs(s_), row = count_taps(s_) * group_inputs(s_);
    const T* const filters =
        static_cast<const T*>(p_.filter) + slice.group * outputs * row + slice.first % group_inputs(s_);
    for_chunks([&](std::int64_t first, std::int64_t taps) HWY_ATTR {
      const std::int64_t all = taps * width;
      F* const packed = own_.filters + first * depth_ * width;
      F* const wide = reinterpret_cast<F*>(own_.columns);  // two rows before they are packed
      std::fill_n(wide, 2 * all, F{});
      const auto widen = [&](std::int64_t o, F* to) HWY_ATTR {
        for (std::int64_t k = 0; k < taps; ++k, to += width) {
          copy_row(filters + o * row + (first + k) * group_inputs(s_), to, slice.count);
        }
      };
      if constexpr (kInTiles<F>) {
        for (std::int64_t o = 0; o < depth_; o += 2) {
          if (o + 2 > outputs) std::fill_n(wide, 2 * all, F{});
          for (std::int64_t next = o; next < std::min(o + 2, outputs); ++next) widen(next, wide + (next - o) * all);
          pack_rows(wide, wide + all, all, depth_, packed + o * tiles::kEdge);
        }
      } else {
        for (std::int64_t o = 0; o < outputs; ++o) {
          widen(o, wide);
          for_packed_tiles<A>(all, [&](std::int64_t column, std::int64_t lanes) HWY_ATTR {
            std::copy_n(wide + column, lanes, packed + outputs * column + o * lanes);
          });
        }
      }
    });
  }

  /// Elements as factors.
  HWY_INLINE static void copy_row(const T* from, F* to, std::int64_t count) {
    if constexpr (std::is_same_v<T, F>) {
      std::copy_n(from, count, to);
    } else {
      load_row(from, to, count);
    }
  }

  /// `owned`: the task takes the dot products of the tile.
  HWY_INLINE void run_tile(const Slice& slice, std::int64_t width, const Tile& tile, bool owned) const {
    const std::int64_t rows = round_up(tile.count, kRowStep<F>);
    std::int64_t stride = 0;
    const F* const gradients = rows_of(slice, tile, stride);
    for_chunks([&](std::int64_t first, std::int64_t taps) HWY_ATTR {
      const std::int64_t all = taps * width;
      const F* const filters = own_.filters + first * depth_ * width;
      if constexpr (kInTiles<F>) {
        tiles::multiply({rows, depth_, all, gradients, stride, filters, own_.columns, all, true});
      } else {
        std::fill_n(own_.columns, rows * all, A{0});
        add_matrix_product(rows, depth_, all, gradients, stride, filters, own_.columns, all);
      }
      for (std::int64_t i = 0; i < tile.count; ++i) {
        for (std::int64_t k = 0; k < taps; ++k) {
          const Tap<A>& tap = own_.taps[i * count_taps(s_) + first + k];
          if (!owned && !adds(tap)) continue;
          const SampleSlopes<A> slope(tap.at, scatter(slice, width, tap, own_.columns + (i * taps + k) * width).dots);
          if (owned) add_slope(slope, tap, slopes_[(tile.first + i) * count_taps(s_) + first + k]);
        }
      }
    });
  }

  /// The rows of grad_output of a tile, as many as are multiplied.
  HWY_INLINE const F* rows_of(const Slice& slice, const Tile& tile, std::int64_t& stride) const {
    const std::int64_t outputs = group_outputs(s_);
    const T* const from =
        static_cast<const T*>(p_.grad_output) + (image_ * out_pixels(s_) + tile.first) * s_.co + slice.group * outputs;
    if constexpr (std::is_same_v<T, F>) {
      stride = s_.co;
      if (tile.count % kRowStep<F> == 0 && outputs == depth_) return from;
    }
    stride = depth_;
    for (std::int64_t i = 0; i < tile.count; ++i) copy_row(from + i * s_.co, own_.rows + i * depth_, outputs);
    return own_.rows;
  }

  struct Dots {
    A dots[4];
  };

  /// Adds the gradient of one sample to the panel; returns its products with the pixels under it.
  HWY_INLINE Dots scatter(const Slice& slice, std::int64_t width, const Tap<A>& tap, const A* gradient) const {
    const T* const input = static_cast<const T*>(p_.input) + image_ * s_.h * s_.w * s_.ci + slice.first;
    Dots all = {};
    for_wide<A, 4>(slice.count, [&](auto d, auto vectors, std::int64_t c) HWY_ATTR {
      scatter_channels<decltype(vectors)::value>(d, input + c, own_.panel + c, width, tap, gradient + c, all.dots);
    });
    return all;
  }

  static HWY_INLINE void add_slope(const SampleSlopes<A>& slope, const Tap<A>& tap, TapGradient<A>& sum) {
    sum.down += tap.mask * slope.down;
    sum.across += tap.mask * slope.across;
    sum.mask += slope.weight;
  }

  /// Adds kVectors vectors of a sample's gradient to the sums of those of its pixels that the task owns, and their
  /// products with all its pixels to dots.
  template <int kVectors, class D>
  HWY_INLINE void scatter_channels(D d, const T* input, A* panel, std::int64_t width, const Tap<A>& tap,
                                   const A* gradient, A* dots) const {
    const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
    hn::Vec<D> g[kVectors], sums[4] = {hn::Zero(d), hn::Zero(d), hn::Zero(d), hn::Zero(d)};
    MLUOPS_UNROLL
    for (int v = 0; v < kVectors; ++v) g[v] = hn::LoadU(d, gradient + v * lanes);
    MLUOPS_UNROLL
    for (std::size_t c = 0; c < 4; ++c) {
      if (!tap.at.on_map[c]) continue;
      const T* const pixel = input + tap.at.pixel[c] * s_.ci;
      A* const to = panel + tap.at.pixel[c] * width;
      const auto factor = hn::Set(d, tap.mask * tap.at.weight[c]);
      MLUOPS_UNROLL
      for (int v = 0; v < kVectors; ++v) sums[c] = hn::MulAdd(g[v], load(d, pixel + v * lanes), sums[c]);
      if (!adds(tap, c)) continue;
      MLUOPS_UNROLL
      for (int v = 0; v < kVectors; ++v) {
        hn::StoreU(hn::MulAdd(factor, g[v], hn::LoadU(d, to + v * lanes)), d, to + v * lanes);
      }
    }
    A some[4];
    sum_4_vectors(d, sums[0], sums[1], sums[2], sums[3], some);
    for (std::size_t c = 0; c < 4; ++c) dots[c] += some[c];
  }

  const DataProblem& p_;
  const Shape& s_;
  const DataArrays<T, F>& arrays_;
  const std::int64_t depth_;
  Band rows_, tiles_;
  std::int64_t part_, image_, deform_group_, first_;
  TapGradient<A>* slopes_;
  DataScratch<A, F> own_;
};

/// grad_offset and grad_mask of one output pixel: the sums of all parts.
template <class T, class F>
void add_parts(const DataProblem& p, const DataArrays<T, F>& arrays, std::int64_t pixel) {
  const Shape& s = p.shape;
  const std::int64_t taps = count_taps(s), parts = arrays.plan.parts, pixels = s.batch * out_pixels(s);
  T *const offsets = static_cast<T*>(p.grad_offset), *const masks = static_cast<T*>(p.grad_mask);
  for (std::int64_t i = 0; i < s.deform_groups * taps; ++i) {
    TapGradient<Acc<T>> sum = {};
    for (std::int64_t part = 0; part < parts; ++part) {
      const auto& one = arrays.slopes[((i / taps * parts + part) * pixels + pixel) * taps + i % taps];
      sum = {sum.down + one.down, sum.across + one.across, sum.mask + one.mask};
    }
    const std::int64_t number = pixel * s.deform_groups * taps + i;
    offsets[2 * number] = from_acc<T>(sum.down);
    offsets[2 * number + 1] = from_acc<T>(sum.across);
    if (masks != nullptr) masks[number] = from_acc<T>(sum.mask);
  }
}

template <class T, class F>
mluOpStatus_t data_by_slices(Context& context, const mluopsCall& call, const DataProblem& p) {
  const Shape& s = p.shape;
  const auto loop_of = [&](const DataPlan& plan) {
    const double numbers = static_cast<double>(out_pixels(s) * count_taps(s) * plan.part_channels);
    const double part_ns =
        numbers * (cost::kElement + cost::kMove + cost::kMultiplyAdd * static_cast<double>(group_outputs(s)));
    return Loop(context, call, s.deform_groups * plan.parts * s.batch * plan.bands,
                part_ns / static_cast<double>(plan.bands));
  };
  DataPlan plan(s, call.threads);
  // Bands multiply some tiles twice, so a thread that does all of them has one.
  if (loop_of(plan).slots() == 1) plan = DataPlan(s, 1);
  const Loop loop = loop_of(plan);
  const auto arrays = allocate<DataArrays<T, F>>(context.arena, s, plan, loop.slots());
  if (!arrays) return no_memory(call);
  loop.run([&](std::int64_t begin, std::int64_t end, int slot) HWY_ATTR {
    for (std::int64_t i = begin; i < end; ++i) DataTask<T, F>(p, *arrays, i, slot).run();
  });
  const double pixel_ns = static_cast<double>(s.deform_groups * count_taps(s) * plan.parts) * 2;
  Loop(context, call, s.batch * out_pixels(s), pixel_ns).run([&](std::int64_t begin, std::int64_t end, int) HWY_ATTR {
    for (std::int64_t i = begin; i < end; ++i) add_parts(p, *arrays, i);
  });
  return MLUOP_STATUS_SUCCESS;
}

template <class T>
mluOpStatus_t backward_data(Context& context, const mluopsCall& call, const DataProblem& p) {
  static constexpr Path<DataProblem> kNchwPaths[] = {layout::kTransposed<operators::dcn_backward_data, DataProblem>};
  if (p.layout == MLUOP_LAYOUT_NCHW) return run_path(context, call, p, kNchwPaths);
  const std::int64_t channels = std::min(group_inputs(p.shape), group_outputs(p.shape));
  return run_product_path<T>(context, call, p, channels, "slices",
                             [](auto factor) { return data_by_slices<T, decltype(factor)>; });
}

}  // namespace
}  // namespace mluops::cpu::dcn::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

MLUOPS_CPU_ENTRY(dcn_backward_data, dcn, backward_data, mluopsDcnBackwardDataProblem, with_element)
