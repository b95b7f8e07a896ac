// IndiceConvolution forward and its gradient in features: rows of one tensor times the filters, added to rows of
// another.
//
// Forward from features [L,Ci] to output [M,Co], backward from grad_output to grad_input with transposed filters. The
// filters are copied into factors' type, rows rounded up to whole vectors; the pairs are sorted by tiles of 512 rows of
// the result. A task owns tiles; offset by offset it multiplies eight gathered rows at a time in register tiles and
// adds them to its sums, which stay in the second cache, so no additions are shared and their order is the pairs'. 2 Ci
// Co flops for Ci + Co numbers of a pair: bound by arithmetic from 16 channels on. F is the type of the factors: that
// of the sums, or bfloat16 in tiles, where 32 rows are multiplied at a time.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/kernels/indice_convolution/rows.cpp"
#include <hwy/foreach_target.h>

#include <algorithm>

#include "backends/cpu/dispatch.h"
#include "backends/cpu/scatter/pair_lists.h"
#include "backends/cpu/simd/prefetch.h"
#include "backends/cpu/simd/products-inl.h"
#include "backends/cpu/simd/simd-inl.h"
#include "mluops/problem/indice_convolution.h"

HWY_BEFORE_NAMESPACE();
namespace mluops::cpu::indice_convolution::HWY_NAMESPACE {
using namespace cpu::HWY_NAMESPACE;
namespace {

/// Pairs from one that is multiplied to one whose row is prefetched.
inline constexpr std::int64_t kAhead = 2 * kProductRows;

/// Rows [from_rows,depth] times filters [offsets,depth,columns] into rows [to_rows,columns].
struct RowProduct {
  mluOpDataType_t dtype;
  std::int64_t from_rows, depth, to_rows, columns;
  std::int64_t filter_strides[3];  ///< of an offset, a row, a column
  bool swap;                       ///< rows are read by the second number of a pair
  mluopsIndicePairs pairs;
  const void* from;
  const void* filters;
  void* to;

  explicit RowProduct(const mluopsIndiceConvolutionForwardProblem& p)
      : dtype(p.shape.dtype),
        from_rows(p.shape.inputs),
        depth(p.shape.ci),
        to_rows(p.shape.outputs),
        columns(p.shape.co),
        filter_strides{p.shape.filter_strides[0], p.shape.filter_strides[1], p.shape.filter_strides[2]},
        swap(p.shape.inverse != 0),
        pairs(p.pairs),
        from(p.features),
        filters(p.filters),
        to(p.features_out) {}
  explicit RowProduct(const mluopsIndiceConvolutionBackwardDataProblem& p)
      : dtype(p.shape.dtype),
        from_rows(p.shape.outputs),
        depth(p.shape.co),
        to_rows(p.shape.inputs),
        columns(p.shape.ci),
        filter_strides{p.shape.filter_strides[0], p.shape.filter_strides[2], p.shape.filter_strides[1]},
        swap(p.shape.inverse == 0),
        pairs(p.pairs),
        from(p.grad_output),
        filters(p.filters),
        to(p.grad_input) {}
};

/// Pairs that are multiplied together in tiles.
inline constexpr std::int64_t kTilePairs = 2 * tiles::kEdge;

template <class T, class F>
struct RowArrays {
  PairLists lists;
  std::int64_t depth, width;
  F* filters;  ///< [offsets,depth,width], in tiles packed
  std::int64_t sums_size, row_size;
  Acc<T>* sums;  ///< of each slot [a tile's rows and one more,width], in tiles kTilePairs more
  F* rows;       ///< of each slot [kProductRows or kTilePairs,depth], where rows are not read in place

  RowArrays(Allocator& allocator, const RowProduct& p, int slots)
      : lists(allocator, p.pairs, p.from_rows, p.to_rows, p.swap),
        depth(round_up(p.depth, kDepthStep<F>)),
        width(padded_columns(p.columns)),
        filters(allocator.allocate<F>(p.pairs.offsets, depth, width)),
        sums_size((std::min(PairLists::kTileRows, p.to_rows) + (kInTiles<F> ? kTilePairs : 1)) * width),
        row_size(std::is_same_v<T, Acc<T>> ? 0 : size_product(kInTiles<F> ? kTilePairs : kProductRows, depth)),
        sums(allocator.allocate<Acc<T>>(slots, sums_size)),
        rows(allocator.allocate<F>(slots, row_size)) {}
};

/// Packs the filters of one offset in pairs of rows, zeros behind the last row and column.
template <class F>
void pack_offset(const RowProduct& p, std::int64_t offset, std::int64_t depth, std::int64_t width, F* packed) {
  const F* const filters = static_cast<const F*>(p.filters) + offset * p.filter_strides[0];
  std::fill_n(packed, depth * width, F{});
  for (std::int64_t k = 0; k < p.depth; ++k) {
    for (std::int64_t c = 0; c < p.columns; ++c) {
      F* const block = packed + c / tiles::kEdge * tiles::kEdge * depth;
      block[k / 2 * 2 * tiles::kEdge + c % tiles::kEdge * 2 + k % 2] =
          filters[k * p.filter_strides[1] + c * p.filter_strides[2]];
    }
  }
}

template <class T>
void pack_filters(const Context& context, const mluopsCall& call, const RowProduct& p, const RowArrays<T, T>& arrays) {
  const std::int64_t size = arrays.depth * arrays.width;
  Loop(context, call, p.pairs.offsets, cost::kGather * static_cast<double>(size))
      .run([&](std::int64_t begin, std::int64_t end, int) {
        for (std::int64_t k = begin; k < end; ++k) {
          pack_offset(p, k, arrays.depth, arrays.width, arrays.filters + k * size);
        }
      });
}

template <class T>
void copy_filters(const Context& context, const mluopsCall& call, const RowProduct& p,
                  const RowArrays<T, Acc<T>>& arrays) {
  const auto* const filters = static_cast<const T*>(p.filters);
  const std::int64_t rows = p.pairs.offsets * p.depth;
  Loop(context, call, rows, cost::kMove * static_cast<double>(arrays.width))
      .run([&](std::int64_t begin, std::int64_t end, int) HWY_ATTR {
        for (std::int64_t i = begin; i < end; ++i) {
          const T* const from = filters + i / p.depth * p.filter_strides[0] + i % p.depth * p.filter_strides[1];
          Acc<T>* const row = arrays.filters + i * arrays.width;
          if (p.filter_strides[2] == 1) {
            load_row(from, row, p.columns);
          } else {
            for (std::int64_t c = 0; c < p.columns; ++c) row[c] = to_acc(from[c * p.filter_strides[2]]);
          }
          std::fill(row + p.columns, row + arrays.width, Acc<T>{0});
        }
      });
}

/// Elements as sums' type: where they stand, or promoted to row number r of `rows`.
template <class T>
HWY_INLINE const Acc<T>* promoted(const T* row, std::int64_t depth, Acc<T>* rows, std::int64_t r) {
  if constexpr (std::is_same_v<T, Acc<T>>) {
    return row;
  } else {
    load_row(row, rows + r * depth, depth);
    return rows + r * depth;
  }
}

/// Adds what the pairs of one offset bring to a tile. Behind the last pair the register tile is filled with the first
/// row again, whose products go to a row that nobody reads.
template <class T>
void add_pairs(const RowProduct& p, std::span<const RowPair> pairs, const Acc<T>* filters, std::int64_t width,
               std::int64_t first_row, Acc<T>* sums, Acc<T>* spare, Acc<T>* rows) {
  using A = Acc<T>;
  const auto* const source = static_cast<const T*>(p.from);
  const auto count = static_cast<std::int64_t>(pairs.size());
  for (std::int64_t i = 0; i < count; i += kProductRows) {
    for (std::int64_t r = i + kAhead; r < std::min(i + kAhead + kProductRows, count); ++r) {
      prefetch(source + pairs[r].from * p.depth, p.depth);
    }
    const A* from[kProductRows];
    A* to[kProductRows];
    for (std::int64_t r = 0; r < kProductRows; ++r) {
      const bool there = i + r < count;
      from[r] = there ? promoted<T>(source + pairs[i + r].from * p.depth, p.depth, rows, r) : from[0];
      to[r] = there ? sums + (pairs[i + r].to - first_row) * width : spare;
    }
    add_products(from, p.depth, filters, width, to);
  }
}

/// What add_pairs does, in tiles: products [kTilePairs,width] first, which are then added to their rows.
template <class F>
void add_pairs_in_tiles(const RowProduct& p, std::span<const RowPair> pairs, const F* filters, std::int64_t depth,
                        std::int64_t width, std::int64_t first_row, float* sums, float* products, F* rows) {
  const auto* const source = static_cast<const F*>(p.from);
  const auto count = static_cast<std::int64_t>(pairs.size());
  for (std::int64_t i = 0; i < count; i += kTilePairs) {
    const std::int64_t here = std::min(kTilePairs, count - i);
    for (std::int64_t r = i; r < i + here; ++r) {
      if (r + kTilePairs < count) prefetch(source + pairs[r + kTilePairs].from * p.depth, p.depth);
      std::copy_n(source + pairs[r].from * p.depth, p.depth, rows + (r - i) * depth);
    }
    tiles::multiply(
        {round_up(here, tiles::kEdge), depth, width, rows, depth, filters, products, width, /*overwrite=*/true});
    for (std::int64_t r = 0; r < here; ++r) {
      axpy(1.0f, products + r * width, sums + (pairs[i + r].to - first_row) * width, width);
    }
  }
}

template <class T, class F>
void run_tile(const RowProduct& p, const RowArrays<T, F>& arrays, std::int64_t tile, int slot) {
  Acc<T>* const sums = arrays.sums + slot * arrays.sums_size;
  const std::int64_t width = arrays.width, first = arrays.lists.first_row(tile), rows = arrays.lists.rows(tile);
  F* const copies = arrays.rows + slot * arrays.row_size;
  std::fill_n(sums, rows * width, Acc<T>{0});
  if (kInTiles<F>) std::fill_n(copies, arrays.row_size, F{});
  for (std::int64_t k = 0; k < p.pairs.offsets; ++k) {
    const F* const filters = arrays.filters + k * arrays.depth * width;
    if constexpr (kInTiles<F>) {
      add_pairs_in_tiles(p, arrays.lists(tile, k), filters, arrays.depth, width, first, sums,
                         sums + arrays.sums_size - kTilePairs * width, copies);
    } else {
      add_pairs<T>(p, arrays.lists(tile, k), filters, width, first, sums, sums + arrays.sums_size - width, copies);
    }
  }
  for (std::int64_t r = 0; r < rows; ++r) {
    store_row(sums + r * width, static_cast<T*>(p.to) + (first + r) * p.columns, p.columns);
  }
}

template <class T, class F, class Problem>
mluOpStatus_t by_tiles(Context& context, const mluopsCall& call, const Problem& problem) {
  const RowProduct p(problem);
  const std::int64_t tiles = PairLists::tiles(p.to_rows);
  const double all_ns = row_product_ns(p.depth, p.columns) * static_cast<double>(all_pairs(p.pairs)) +
                        2 * cost::kMove * static_cast<double>(p.to_rows * p.columns);
  const Loop loop(context, call, tiles, all_ns / static_cast<double>(tiles));
  auto arrays = allocate<RowArrays<T, F>>(context.arena, p, loop.slots());
  if (!arrays) return no_memory(call);
  if constexpr (kInTiles<F>) {
    pack_filters(context, call, p, *arrays);
  } else {
    copy_filters(context, call, p, *arrays);
  }
  arrays->lists.fill(context, call);
  loop.run([&](std::int64_t begin, std::int64_t end, int slot) HWY_ATTR {
    for (std::int64_t tile = begin; tile < end; ++tile) run_tile(p, *arrays, tile, slot);
  });
  return MLUOP_STATUS_SUCCESS;
}

template <class T>
mluOpStatus_t forward(Context& context, const mluopsCall& call, const mluopsIndiceConvolutionForwardProblem& p) {
  return run_product_path<T>(context, call, p, std::min(p.shape.ci, p.shape.co), 1, "rows", [](auto factor) {
    return by_tiles<T, decltype(factor), mluopsIndiceConvolutionForwardProblem>;
  });
}

template <class T>
mluOpStatus_t backward_data(Context& context, const mluopsCall& call,
                            const mluopsIndiceConvolutionBackwardDataProblem& p) {
  return run_product_path<T>(context, call, p, std::min(p.shape.ci, p.shape.co), 1, "rows", [](auto factor) {
    return by_tiles<T, decltype(factor), mluopsIndiceConvolutionBackwardDataProblem>;
  });
}

}  // namespace
}  // namespace mluops::cpu::indice_convolution::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

MLUOPS_CPU_ENTRY(indice_convolution_forward, indice_convolution, forward, mluopsIndiceConvolutionForwardProblem,
                 with_element)
MLUOPS_CPU_ENTRY(indice_convolution_backward_data, indice_convolution, backward_data,
                 mluopsIndiceConvolutionBackwardDataProblem, with_element)
