// Deformable convolution's gradients in input, offset and mask.
//
// input [N,H,W,Ci], grad_output [N,Ho,Wo,Co], filter [Co,Kh,Kw,Ci/g]. A task owns a band of tiles of output pixels of
// an image, for a part of the channels of a deformable group, of which it takes at most 64 at a time: tile by tile,
// some taps at a time, it multiplies the rows of grad_output with the taps' filters, which gives the gradients of the
// samples; four dot products of each with the pixels under its sample are what grad_offset and grad_mask need, and it
// is added to those pixels' sums. Each band has sums of its own, of the rows under its samples. The sums of bands are
// added up in their order afterwards, and the dot products of the parts of a deformable group in theirs; neither
// depends on the number of threads. 2 Co/g flops for each number of a sample's gradient: bound by arithmetic. F is the
// type of the factors: that of the sums, or bfloat16 in tiles.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/kernels/dcn/backward_data.cpp"
#include <hwy/foreach_target.h>

#include <algorithm>

#include "backends/cpu/dispatch.h"
#include "backends/cpu/kernels/dcn/bands.h"
#include "backends/cpu/kernels/dcn/data_arrays-inl.h"
#include "backends/cpu/kernels/dcn/samples-inl.h"
#include "backends/cpu/runtime/index.h"
#include "backends/cpu/sampling/four_pixels-inl.h"
#include "backends/cpu/simd/products-inl.h"
#include "backends/cpu/simd/simd-inl.h"
#include "mluops/problem/dcn.h"

MLUOPS_CPU_DECLARE(dcn_backward_data, mluopsDcnBackwardDataProblem)

HWY_BEFORE_NAMESPACE();
namespace mluops::cpu::dcn::HWY_NAMESPACE {
using namespace cpu::HWY_NAMESPACE;
namespace {

/// The rows of the input under a tile's samples of a deformable group.
template <class T>
Run touched_rows(const DataProblem& p, const Tile& tile, std::int64_t deform_group) {
  using A = Acc<T>;
  const Shape& s = p.shape;
  const A height = static_cast<A>(s.h);
  A least = height, most = -1;
  for (std::int64_t i = 0; i < tile.count; ++i) {
    const std::int64_t pixel = tile.first + i, top = pixel / s.out_w * s.stride_h - s.pad_top;
    const std::int64_t number = (tile.image * out_pixels(s) + pixel) * s.deform_groups + deform_group;
    const T* offset = static_cast<const T*>(p.offset) + 2 * number * count_taps(s);
    for (std::int64_t k = 0; k < s.kernel_h; ++k) {
      const A row = static_cast<A>(top + k * s.dilation_h);
      for (std::int64_t tap = 0; tap < s.kernel_w; ++tap, offset += 2) {
        const A y = row + to_acc(*offset);
        const bool inside = y > -1 && y < height;
        least = inside && y < least ? y : least;
        most = inside && y > most ? y : most;
      }
    }
  }
  if (least > most) return {};
  const std::int64_t last = most < 0 ? -1 : index_of(most, s.h);
  return {index_of(least, s.h), std::min(last + 2, s.h)};
}

/// The channels of a part of an image, numbered [deform_groups,parts,batch].
template <class T, class F>
class DataTask {
 public:
  using A = Acc<T>;

  DataTask(const DataProblem& p, const DataArrays<T, F>& arrays, std::int64_t part, int slot)
      : p_(p),
        s_(p.shape),
        arrays_(arrays),
        depth_(depth_of<F>(s_)),
        image_(part % s_.batch),
        part_(part / s_.batch),
        deform_group_(part_ / arrays.plan.parts),
        channels_(arrays.plan.channels(s_, part_)),
        stride_(arrays.plan.sum_channels()),
        bands_(arrays.bands + (deform_group_ * s_.batch + image_) * arrays.plan.bands),
        slopes_(arrays.slopes + part * out_pixels(s_) * count_taps(s_)),
        own_(arrays.scratch.of(slot, s_, arrays.plan, arrays.shared)),
        sums_(arrays.shared ? arrays.sums + part * arrays.plan.sum_rows * s_.w * stride_ : own_.band) {}

  /// The sums and the slopes of a band of tiles.
  HWY_INLINE void run_band(std::int64_t number) const {
    const Band& band = bands_[number];
    std::fill_n(sums_ + row_of(band, band.rows.begin) * s_.w * stride_, band.rows.count() * s_.w * stride_, A{0});
    for (std::int64_t i = band.tiles.begin; i < band.tiles.end; ++i) {
      const Tile tile = tile_at(s_, image_, i, DataPlan::kTilePixels);
      find_taps<T>(p_, tile, deform_group_, own_.taps);
      std::fill_n(slopes_ + tile.first * count_taps(s_), tile.count * count_taps(s_), TapGradient<A>{});
      for_slices(s_, channels_.begin, channels_.end, arrays_.plan.slice_channels,
                 [&](std::int64_t n, const Slice& slice) HWY_ATTR { run_tile(band, n, slice, tile); });
    }
  }

  /// All bands, one after the other, and grad_input.
  HWY_INLINE void run_all() const {
    const std::int64_t bands = arrays_.plan.bands;
    for (std::int64_t i = 0; i < bands; ++i) {
      run_band(i);
      const Run& rows = bands_[i].rows;
      for (std::int64_t row = rows.begin; bands > 1 && row < rows.end; ++row) add_row(i, row, map_row(row));
    }
    for (std::int64_t row = 0; row < s_.h; ++row) store(row);
  }

  /// Stores a row of grad_input, the sums of all bands.
  HWY_INLINE void store(std::int64_t row) const {
    const std::int64_t bands = arrays_.plan.bands;
    A* const sums = arrays_.shared ? own_.map : map_row(row);
    if (!has_row(bands, row)) std::fill_n(sums, s_.w * stride_, A{0});
    for (std::int64_t i = 0; arrays_.shared && i < bands; ++i) {
      if (bands_[i].rows.has(row)) add_row(i, row, sums);
    }
    T* const to = static_cast<T*>(p_.grad_input) + (image_ * s_.h + row) * s_.w * s_.ci + channels_.begin;
    for (std::int64_t x = 0; x < s_.w; ++x) store_row(sums + x * stride_, to + x * s_.ci, channels_.count());
  }

 private:
  /// Where a row of the map stands among the sums of a band.
  std::int64_t row_of(const Band& band, std::int64_t row) const {
    return row - band.rows.begin + (arrays_.shared ? band.first_row : 0);
  }
  A* map_row(std::int64_t row) const { return own_.map + row * s_.w * stride_; }

  /// Whether samples of the first bands are on a row.
  bool has_row(std::int64_t bands, std::int64_t row) const {
    return std::any_of(bands_, bands_ + bands, [&](const Band& band) { return band.rows.has(row); });
  }

  /// Adds a band's sums of a row of the map to `to`, which has those of the bands before.
  HWY_INLINE void add_row(std::int64_t number, std::int64_t row, A* to) const {
    const A* const sums = sums_ + row_of(bands_[number], row) * s_.w * stride_;
    if (has_row(number, row)) {
      axpy(A{1}, sums, to, s_.w * stride_);
    } else {
      std::copy_n(sums, s_.w * stride_, to);
    }
  }

  /// Multiplies a tile with a slice's filters and adds the samples' gradients.
  HWY_INLINE void run_tile(const Band& band, std::int64_t number, const Slice& slice, const Tile& tile) const {
    const std::int64_t rows = round_up(tile.count, kRowStep<F>), width = padded_columns(slice.count);
    std::int64_t stride = 0;
    const F* const gradients = rows_of(slice, tile, stride);
    const F* filters = arrays_.filters_of(s_, own_, part_, number);
    for_chunks(s_, arrays_.plan, [&](std::int64_t first, std::int64_t taps) HWY_ATTR {
      const std::int64_t all = taps * width;
      if constexpr (kInTiles<F>) {
        tiles::multiply({rows, depth_, all, gradients, stride, filters, own_.columns, all, true});
      } else {
        add_matrix_product<A, true>(rows, depth_, all, gradients, stride, filters, own_.columns, all);
      }
      filters += depth_ * all;
      for (std::int64_t i = 0; i < tile.count; ++i) {
        for (std::int64_t k = 0; k < taps; ++k) {
          const Tap<A>& tap = own_.taps[i * count_taps(s_) + first + k];
          const Dots found = scatter(band, slice, tap, own_.columns + (i * taps + k) * width);
          add_slope({tap.at, found.dots}, tap, slopes_[(tile.first + i) * count_taps(s_) + first + k]);
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
    for (std::int64_t i = 0; i < tile.count; ++i) {
      copy_row(from + i * s_.co, own_.rows + i * depth_, outputs);
      std::fill_n(own_.rows + i * depth_ + outputs, depth_ - outputs, F{});
    }
    const std::int64_t rows = round_up(tile.count, kRowStep<F>);
    std::fill_n(own_.rows + tile.count * depth_, (rows - tile.count) * depth_, F{});
    return own_.rows;
  }

  struct Dots {
    A dots[4];
  };

  /// Adds the gradient of one sample to the band's sums; returns its products with the pixels under it.
  HWY_INLINE Dots scatter(const Band& band, const Slice& slice, const Tap<A>& tap, const A* gradient) const {
    const T* const input = static_cast<const T*>(p_.input) + image_ * s_.h * s_.w * s_.ci + slice.first;
    A* const sums = sums_ + slice.first - channels_.begin;
    const std::int64_t moved = row_of(band, 0) * s_.w;
    Dots all = {};
    for_wide<A, 4>(slice.count, [&](auto d, auto vectors, std::int64_t c) HWY_ATTR {
      scatter_channels<decltype(vectors)::value>(d, input + c, sums + c, moved, tap, gradient + c, all.dots);
    });
    return all;
  }

  static HWY_INLINE void add_slope(const SampleSlopes<A>& slope, const Tap<A>& tap, TapGradient<A>& sum) {
    sum.down += tap.mask * slope.down;
    sum.across += tap.mask * slope.across;
    sum.mask += slope.weight;
  }

  /// Adds kVectors vectors of a sample's gradient to the sums of its pixels, which stand `moved` pixels on, and their
  /// products with its pixels to dots.
  template <int kVectors, class D>
  HWY_INLINE void scatter_channels(D d, const T* input, A* pixel_sums, std::int64_t moved, const Tap<A>& tap,
                                   const A* gradient, A* dots) const {
    const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
    hn::Vec<D> g[kVectors], sums[4] = {hn::Zero(d), hn::Zero(d), hn::Zero(d), hn::Zero(d)};
    MLUOPS_UNROLL
    for (int v = 0; v < kVectors; ++v) g[v] = hn::LoadU(d, gradient + v * lanes);
    MLUOPS_UNROLL
    for (std::size_t c = 0; c < 4; ++c) {
      if (!tap.at.on_map[c]) continue;
      const T* const pixel = input + tap.at.pixel[c] * s_.ci;
      A* const to = pixel_sums + (tap.at.pixel[c] + moved) * stride_;
      const auto factor = hn::Set(d, tap.mask * tap.at.weight[c]);
      MLUOPS_UNROLL
      for (int v = 0; v < kVectors; ++v) sums[c] = hn::MulAdd(g[v], load(d, pixel + v * lanes), sums[c]);
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
  const std::int64_t depth_, image_, part_, deform_group_;
  const Run channels_;
  const std::int64_t stride_;
  const Band* bands_;
  TapGradient<A>* slopes_;
  DataScratch<A, F> own_;
  A* sums_;
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

/// The bands of all images and deformable groups.
template <class T, class F>
void find_bands(const Context& context, const mluopsCall& call, const DataProblem& p, const DataArrays<T, F>& arrays) {
  const Shape& s = p.shape;
  const DataPlan& plan = arrays.plan;
  const std::int64_t tiles = plan.tiles, images = s.deform_groups * s.batch;
  if (plan.bands == 1) {
    std::fill_n(arrays.bands, images, Band{{0, tiles}, {0, s.h}, 0});
    return;
  }
  const double tile_ns = static_cast<double>(DataPlan::kTilePixels * count_taps(s)) * cost::kStep;
  Loop(context, call, images * tiles, tile_ns).run([&](std::int64_t begin, std::int64_t end, int) {
    for (std::int64_t i = begin; i < end; ++i) {
      const Tile tile = tile_at(s, i / tiles % s.batch, i % tiles, DataPlan::kTilePixels);
      arrays.touched[i] = touched_rows<T>(p, tile, i / tiles / s.batch);
    }
  });
  for (std::int64_t i = 0; i < images; ++i) {
    place_bands(plan, arrays.touched + i * tiles, arrays.bands + i * plan.bands);
  }
}

/// The loops over tasks that have scratch.
struct DataLoops {
  bool shared;   ///< whether threads share parts, band by band
  Loop packing;  ///< blocks of the filters of parts, if shared
  Loop tasks;    ///< parts of all images, or their bands
  Loop rows;     ///< rows of the parts, if shared

  DataLoops(const Context& context, const mluopsCall& call, const Shape& s, const DataPlan& plan, std::int64_t blocks)
      : shared(plan.bands > 1 && over_bands(context, call, s, plan, plan.bands).slots() > 1),
        packing(context, call, shared ? s.deform_groups * plan.parts * blocks : 0,
                cost::kMove * static_cast<double>(kPackedRows * count_taps(s) * plan.part_channels)),
        tasks(over_bands(context, call, s, plan, shared ? plan.bands : 1)),
        rows(context, call, shared ? plan.count_parts(s) * s.h : 0,
             3 * cost::kMove * static_cast<double>(s.w * plan.sum_channels())) {}

  int slots() const { return std::max({packing.slots(), tasks.slots(), rows.slots()}); }

 private:
  static Loop over_bands(const Context& context, const mluopsCall& call, const Shape& s, const DataPlan& plan,
                         std::int64_t bands) {
    const double numbers = static_cast<double>(out_pixels(s) * count_taps(s) * plan.part_channels);
    const double part_ns =
        numbers * (cost::kElement + cost::kMove + cost::kMultiplyAdd * static_cast<double>(group_outputs(s)));
    return {context, call, plan.count_parts(s) * bands, part_ns / static_cast<double>(bands)};
  }
};

/// grad_input and the slopes of all parts.
template <class T, class F>
void run_parts(const DataProblem& p, const DataArrays<T, F>& arrays, const DataLoops& loops) {
  const std::int64_t parts = arrays.plan.count_parts(p.shape), blocks = count_packed_blocks<F>(p.shape);
  const std::int64_t h = p.shape.h, batch = p.shape.batch;
  loops.tasks.run([&](std::int64_t begin, std::int64_t end, int slot) HWY_ATTR {
    for (std::int64_t i = begin; i < end; ++i) {
      if (loops.shared) {  // the last bands of all parts, which are shorter, come last
        DataTask<T, F>(p, arrays, i % parts, slot).run_band(i / parts);
        continue;
      }
      if (i == begin || i % batch == 0) pack_blocks(p, arrays, i / batch * blocks, (i / batch + 1) * blocks, slot);
      DataTask<T, F>(p, arrays, i, slot).run_all();
    }
  });
  loops.rows.run([&](std::int64_t begin, std::int64_t end, int slot) HWY_ATTR {
    for (std::int64_t i = begin; i < end; ++i) DataTask<T, F>(p, arrays, i / h, slot).store(i % h);
  });
}

template <class T, class F>
mluOpStatus_t data_by_slices(Context& context, const mluopsCall& call, const DataProblem& p) {
  const Shape& s = p.shape;
  const DataPlan plan(s);
  const DataLoops loops(context, call, s, plan, count_packed_blocks<F>(s));
  const auto arrays = allocate<DataArrays<T, F>>(context.arena, s, plan, loops.shared, loops.slots());
  if (!arrays) return no_memory(call);
  loops.packing.run([&](std::int64_t begin, std::int64_t end, int slot)
                        HWY_ATTR { pack_blocks(p, *arrays, begin, end, slot); });
  find_bands(context, call, p, *arrays);
  run_parts(p, *arrays, loops);
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
  return run_product_path<T>(context, call, p, channels, 1, "slices",
                             [](auto factor) { return data_by_slices<T, decltype(factor)>; });
}

}  // namespace
}  // namespace mluops::cpu::dcn::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

MLUOPS_CPU_ENTRY(dcn_backward_data, dcn, backward_data, mluopsDcnBackwardDataProblem, with_element)
