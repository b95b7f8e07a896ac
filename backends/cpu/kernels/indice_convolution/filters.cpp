// IndiceConvolution's gradient in the filters: outer products of the rows of each pair, summed offset by offset.
//
// features [L,Ci], grad_output [M,Co], grad_filters [K,Ci,Co]. The pairs of each offset are cut into slices, as many
// whatever the number of threads: an item is a slice of an offset and sums it in an array of its own; those of an
// offset are added in order. The first slices of all offsets come first, so that rows that one offset has brought into
// the second cache serve the others. Register tiles of the sums go over the rows of 32 pairs at a time; rows that are
// not of sums' type or not whole vectors are copied first. 2 Ci Co flops for Ci + Co numbers of a pair: bound by
// arithmetic from 32 channels on. F is the type of the factors: that of the sums, or bfloat16 in tiles, where a panel
// is the rows of 128 pairs.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/kernels/indice_convolution/filters.cpp"
#include <hwy/foreach_target.h>

#include <algorithm>

#include "backends/cpu/dispatch.h"
#include "backends/cpu/scatter/pair_lists.h"
#include "backends/cpu/simd/panel-inl.h"
#include "backends/cpu/simd/prefetch.h"
#include "backends/cpu/simd/products-inl.h"
#include "backends/cpu/simd/simd-inl.h"
#include "mluops/problem/indice_convolution.h"

HWY_BEFORE_NAMESPACE();
namespace mluops::cpu::indice_convolution::HWY_NAMESPACE {
using namespace cpu::HWY_NAMESPACE;
namespace {

using FilterProblem = mluopsIndiceConvolutionBackwardFilterProblem;

inline constexpr std::int64_t kPanelPairs = 32, kPairsInTiles = 128;

/// Slices of some 2048 pairs, fewer where sums of an offset take so many bytes that all would not fit into 32 MiB.
inline std::int64_t slices_of(const mluopsIndicePairs& pairs, std::int64_t bytes) {
  constexpr std::int64_t kSlicePairs = 2048, kMostBytes = std::int64_t{32} << 20;
  const std::int64_t most =
      std::max<std::int64_t>(kMostBytes / std::max<std::int64_t>(size_product(pairs.offsets, bytes), 1), 1);
  return std::clamp<std::int64_t>(ceil_div(all_pairs(pairs), kSlicePairs * pairs.offsets), 1, most);
}

template <class A, class F>
struct FilterArrays {
  static constexpr std::int64_t kRows = kInTiles<F> ? 2 * kPairsInTiles : kPanelPairs;

  std::int64_t height, width;  ///< of the sums of an offset: Ci and Co, rounded up
  std::int64_t slices;
  A* sums;    ///< [slices,offsets,height,width]
  F* panels;  ///< of each slot [kRows,height + width], for rows that are copied and, in tiles, packed

  FilterArrays(Allocator& allocator, const FilterProblem& p, int slots)
      : height(round_up(p.shape.ci, kInTiles<F> ? tiles::kEdge : kProductRows)),
        width(padded_columns(p.shape.co)),
        slices(slices_of(p.pairs, size_product(height, width, static_cast<std::int64_t>(sizeof(A))))),
        sums(allocator.allocate<A>(slices, p.pairs.offsets, height, width)),
        panels(allocator.allocate<F>(slots, kRows, height + width)) {}
};

/// A row as sums' type and of the width of a panel: where it stands if it is that already, or copied to `panel`.
template <class T>
HWY_INLINE const Acc<T>* widened(const T* row, std::int64_t size, Acc<T>* panel, std::int64_t width) {
  if constexpr (std::is_same_v<T, Acc<T>>) {
    if (size == width) return row;
  }
  load_row(row, panel, size);
  std::fill(panel + size, panel + width, Acc<T>{0});
  return panel;
}

/// The pairs of one offset.
template <class T>
class OffsetPairs {
 public:
  OffsetPairs(const FilterProblem& p, std::int64_t offset)
      : shape_(p.shape),
        inputs_(p.pairs.indice_pairs + (2 * offset + (p.shape.inverse != 0 ? 1 : 0)) * p.pairs.places),
        outputs_(p.pairs.indice_pairs + (2 * offset + (p.shape.inverse != 0 ? 0 : 1)) * p.pairs.places),
        features_(static_cast<const T*>(p.features)),
        gradients_(static_cast<const T*>(p.grad_output)) {}

  bool lead_outside(std::int64_t i) const {
    return inputs_[i] < 0 || inputs_[i] >= shape_.inputs || outputs_[i] < 0 || outputs_[i] >= shape_.outputs;
  }
  const T* features(std::int64_t i) const { return features_ + inputs_[i] * shape_.ci; }
  const T* gradients(std::int64_t i) const { return gradients_ + outputs_[i] * shape_.co; }
  HWY_INLINE void prefetch_rows(std::int64_t i) const {
    if (lead_outside(i)) return;
    prefetch(features(i), shape_.ci);
    prefetch(gradients(i), shape_.co);
  }

 private:
  const mluopsIndiceConvolutionShape& shape_;
  const std::int32_t* inputs_;
  const std::int32_t* outputs_;
  const T* features_;
  const T* gradients_;
};

/// Rows of kPanelPairs pairs and their number; a pair that leads outside is left out.
template <class A>
struct Panel {
  std::int64_t count = 0;
  const A* left[kPanelPairs];
  const A* right[kPanelPairs];
};

template <class T>
Panel<Acc<T>> gather(const OffsetPairs<T>& pairs, std::int64_t begin, std::int64_t end, const FilterProblem& p,
                     const FilterArrays<Acc<T>, Acc<T>>& arrays, Acc<T>* copies) {
  Panel<Acc<T>> panel;
  for (std::int64_t i = begin; i < end; ++i) {
    if (pairs.lead_outside(i)) continue;
    Acc<T>* const copy = copies + panel.count * (arrays.height + arrays.width);
    panel.left[panel.count] = widened<T>(pairs.features(i), p.shape.ci, copy, arrays.height);
    panel.right[panel.count++] = widened<T>(pairs.gradients(i), p.shape.co, copy + arrays.height, arrays.width);
  }
  return panel;
}

/// Sums slice number item / offsets of offset item % offsets. While a panel is multiplied the rows of the next one are
/// prefetched, some before each register tile: the core would wait for many at once.
template <class T, class A>
void sum_slice(const FilterProblem& p, const FilterArrays<A, A>& arrays, std::int64_t item, int slot) {
  const std::int64_t slice = item / p.pairs.offsets, offset = item % p.pairs.offsets;
  const OffsetPairs<T> pairs(p, offset);
  const std::int64_t size = arrays.height * arrays.width, count = p.pairs.indice_num[offset];
  const std::int64_t share = ceil_div(kPanelPairs, count_tiles<A>(arrays.height, arrays.width));
  const std::int64_t end = count * (slice + 1) / arrays.slices;
  A* const copies = arrays.panels + slot * kPanelPairs * (arrays.height + arrays.width);
  A* const sums = arrays.sums + item * size;
  std::fill_n(sums, size, A{0});
  for (std::int64_t i = count * slice / arrays.slices; i < end; i += kPanelPairs) {
    std::int64_t next = std::min(i + kPanelPairs, end);
    const auto panel = gather<T>(pairs, i, next, p, arrays, copies);
    const std::int64_t last = std::min(next + kPanelPairs, end);
    add_outer_products(panel.left, arrays.height, panel.right, arrays.width, panel.count, sums, [&]() HWY_ATTR {
      for (const std::int64_t until = std::min(next + share, last); next < until; ++next) pairs.prefetch_rows(next);
    });
  }
}

/// The rows of kPairsInTiles pairs as tiles take them.
template <class F>
struct TilePanel {
  F *features, *gradients;  ///< [kPairsInTiles,height], [kPairsInTiles,width]
  F *left, *packed;         ///< the transpose of one, the other in pairs of rows

  TilePanel(F* at, std::int64_t height, std::int64_t width)
      : features(at),
        gradients(features + kPairsInTiles * height),
        left(gradients + kPairsInTiles * width),
        packed(left + kPairsInTiles * height) {}

  /// Pairs [begin, end), of which at least one row; zeros behind the last. Returns the depth of the product.
  HWY_INLINE std::int64_t gather(const OffsetPairs<F>& pairs, std::int64_t begin, std::int64_t end,
                                 const FilterProblem& p, std::int64_t height, std::int64_t width) const {
    std::int64_t count = 0;
    for (std::int64_t i = begin; i < end; ++i) {
      if (pairs.lead_outside(i)) continue;
      std::copy_n(pairs.features(i), p.shape.ci, features + count * height);
      std::copy_n(pairs.gradients(i), p.shape.co, gradients + count++ * width);
    }
    const std::int64_t depth = round_up(count, tiles::kDepth);
    std::fill(features + count * height, features + depth * height, F{});
    std::fill(gradients + count * width, gradients + depth * width, F{});
    if (depth == 0) return 0;
    transpose_panel(&features->bits, height, depth, height, &left->bits, kPairsInTiles);
    for (std::int64_t i = 0; i < depth; i += 2) {
      pack_rows(gradients + i * width, gradients + (i + 1) * width, width, depth, packed + i * tiles::kEdge);
    }
    return depth;
  }
};

/// What sum_slice does, in tiles.
template <class F>
void sum_slice_in_tiles(const FilterProblem& p, const FilterArrays<float, F>& arrays, std::int64_t item, int slot) {
  const std::int64_t slice = item / p.pairs.offsets, offset = item % p.pairs.offsets;
  const std::int64_t height = arrays.height, width = arrays.width, count = p.pairs.indice_num[offset];
  const OffsetPairs<F> pairs(p, offset);
  F* const copies = arrays.panels + slot * arrays.kRows * (height + width);
  const TilePanel<F> panel(copies, height, width);
  float* const sums = arrays.sums + item * height * width;
  std::fill_n(sums, height * width, 0.0f);
  std::fill_n(copies, kPairsInTiles * (height + width), F{});
  const std::int64_t end = count * (slice + 1) / arrays.slices;
  for (std::int64_t i = count * slice / arrays.slices; i < end; i += kPairsInTiles) {
    const std::int64_t next = std::min(i + kPairsInTiles, end), last = std::min(next + kPairsInTiles, end);
    for (std::int64_t ahead = next; ahead < last; ++ahead) pairs.prefetch_rows(ahead);
    const std::int64_t depth = panel.gather(pairs, i, next, p, height, width);
    tiles::multiply({height, depth, width, panel.left, kPairsInTiles, panel.packed, sums, width});
  }
}

/// Row number `row` of grad_filters, [offsets * ci]: the sum of its slices.
template <class T, class F>
void store_sums_of(const FilterProblem& p, const FilterArrays<Acc<T>, F>& arrays, std::int64_t row) {
  const auto& s = p.shape;
  const std::int64_t k = row / s.ci, c = row % s.ci, slice_size = p.pairs.offsets * arrays.height * arrays.width;
  Acc<T>* const sums = arrays.sums + (k * arrays.height + c) * arrays.width;
  for (std::int64_t slice = 1; slice < arrays.slices; ++slice) {
    const Acc<T>* const from = sums + slice * slice_size;
    for (std::int64_t o = 0; o < s.co; ++o) sums[o] += from[o];
  }
  T* const to = static_cast<T*>(p.grad_filters) + k * s.filter_strides[0] + c * s.filter_strides[1];
  for (std::int64_t o = 0; o < s.co; ++o) to[o * s.filter_strides[2]] = from_acc<T>(sums[o]);
}

template <class T, class F>
mluOpStatus_t by_slices(Context& context, const mluopsCall& call, const FilterProblem& p) {
  const auto& s = p.shape;
  Allocator measure;
  const std::int64_t slices = FilterArrays<Acc<T>, F>(measure, p, 1).slices, items = slices * p.pairs.offsets;
  const double all_ns = row_product_ns(s.ci, s.co) * static_cast<double>(all_pairs(p.pairs));
  const Loop loop(context, call, items, all_ns / static_cast<double>(items));
  const auto arrays = allocate<FilterArrays<Acc<T>, F>>(context.arena, p, loop.slots());
  if (!arrays) return no_memory(call);
  loop.run([&](std::int64_t begin, std::int64_t end, int slot) HWY_ATTR {
    for (std::int64_t item = begin; item < end; ++item) {
      if constexpr (kInTiles<F>) {
        sum_slice_in_tiles(p, *arrays, item, slot);
      } else {
        sum_slice<T>(p, *arrays, item, slot);
      }
    }
  });
  Loop(context, call, p.pairs.offsets * s.ci, cost::kMove * static_cast<double>(s.co * slices))
      .run([&](std::int64_t begin, std::int64_t end, int) HWY_ATTR {
        for (std::int64_t row = begin; row < end; ++row) store_sums_of<T>(p, *arrays, row);
      });
  return MLUOP_STATUS_SUCCESS;
}

template <class T>
mluOpStatus_t backward_filter(Context& context, const mluopsCall& call, const FilterProblem& p) {
  return run_product_path<T>(context, call, p, std::min(p.shape.ci, p.shape.co), 1, "slices",
                             [](auto factor) { return by_slices<T, decltype(factor)>; });
}

}  // namespace
}  // namespace mluops::cpu::indice_convolution::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

MLUOPS_CPU_ENTRY(indice_convolution_backward_filter, indice_convolution, backward_filter,
                 mluopsIndiceConvolutionBackwardFilterProblem, with_element)
