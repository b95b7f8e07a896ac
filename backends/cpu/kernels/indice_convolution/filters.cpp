// IndiceConvolution's gradient in the filters: outer products of the rows of each pair, summed offset by offset.
//
// features [L,Ci], output_grad [M,Co], filters_grad [K,Ci,Co]. The pairs of each offset are cut into chunks of 2048,
// whatever the number of threads: a task owns chunks and sums each in an array of its own; then the sums of an offset's
// chunks are added up in order. Chunks are worked on in the order of the inputs they are about, so that rows that one
// offset has brought into the second cache serve the others. Register tiles of the sums go over the rows of 32 pairs at
// a time; rows that are not of sums' type or not whole vectors are copied first. 2 Ci Co flops for Ci + Co numbers of a
// pair: bound by arithmetic from 32 channels on.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/kernels/indice_convolution/filters.cpp"
#include <hwy/foreach_target.h>

#include <algorithm>

#include "backends/cpu/dispatch.h"
#include "backends/cpu/kernels/indice_convolution/products-inl.h"
#include "backends/cpu/runtime/arena.h"
#include "backends/cpu/runtime/parallel.h"
#include "backends/cpu/runtime/path.h"
#include "backends/cpu/simd/prefetch.h"
#include "backends/cpu/simd/simd-inl.h"
#include "common/shape.h"

#ifndef MLUOPS_CPU_INDICE_CONVOLUTION_FILTERS_ONCE_
#define MLUOPS_CPU_INDICE_CONVOLUTION_FILTERS_ONCE_
namespace mluops::cpu::indice_convolution {

using FilterProblem = mluopsIndiceConvolutionBackwardFilterProblem;

inline constexpr std::int64_t kChunkPairs = 2048, kPanelPairs = 32;

inline std::int64_t chunks_of(const mluopsIndicePairs& pairs, std::int64_t k) {
  return ceil_div(pairs.indice_num[k], kChunkPairs);
}
inline std::int64_t all_chunks(const mluopsIndicePairs& pairs) {
  std::int64_t sum = 0;
  for (std::int64_t k = 0; k < pairs.offsets; ++k) sum += chunks_of(pairs, k);
  return sum;
}

/// Pairs [begin, end) of an offset, and where their sums are.
struct Chunk {
  std::int64_t offset, begin, end, number;
};

template <class A>
struct FilterArrays {
  std::int64_t height, width;  ///< of the sums of a chunk: Ci and Co, rounded up
  std::int64_t* first;         ///< [offsets + 1]: number of each offset's first chunk
  Chunk* chunks;
  A* sums;    ///< [chunks,height,width]
  A* panels;  ///< of each slot [kPanelPairs,height + width], for rows that are copied

  FilterArrays(Allocator& allocator, const FilterProblem& p, int slots)
      : height(round_up(p.shape.ci, kTile)),
        width(padded(p.shape.co)),
        first(allocator.allocate<std::int64_t>(p.pairs.offsets + 1)),
        chunks(allocator.allocate<Chunk>(all_chunks(p.pairs))),
        sums(allocator.allocate<A>(all_chunks(p.pairs) * height * width)),
        panels(allocator.allocate<A>(slots * kPanelPairs * (height + width))) {}

  void list_chunks(const mluopsIndicePairs& pairs) const {
    first[0] = 0;
    for (std::int64_t k = 0; k < pairs.offsets; ++k) {
      first[k + 1] = first[k] + chunks_of(pairs, k);
      for (std::int64_t i = first[k]; i < first[k + 1]; ++i) {
        const std::int64_t begin = (i - first[k]) * kChunkPairs;
        chunks[i] = {k, begin, std::min(begin + kChunkPairs, pairs.indice_num[k]), i};
      }
    }
    // Pairs of an offset are mostly in the order of their inputs.
    const auto place = [&](const Chunk& c) {
      return static_cast<double>(c.begin + c.end) / static_cast<double>(pairs.indice_num[c.offset]);
    };
    std::sort(chunks, chunks + first[pairs.offsets], [&](const Chunk& a, const Chunk& b) {
      return std::pair(place(a), a.number) < std::pair(place(b), b.number);
    });
  }
};

}  // namespace mluops::cpu::indice_convolution
#endif

HWY_BEFORE_NAMESPACE();
namespace mluops::cpu::indice_convolution::HWY_NAMESPACE {
using namespace cpu::HWY_NAMESPACE;
namespace {

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
        gradients_(static_cast<const T*>(p.output_grad)) {}

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
                     const FilterArrays<Acc<T>>& arrays, Acc<T>* copies) {
  Panel<Acc<T>> panel;
  for (std::int64_t i = begin; i < end; ++i) {
    if (pairs.lead_outside(i)) continue;
    Acc<T>* const copy = copies + panel.count * (arrays.height + arrays.width);
    panel.left[panel.count] = widened<T>(pairs.features(i), p.shape.ci, copy, arrays.height);
    panel.right[panel.count++] = widened<T>(pairs.gradients(i), p.shape.co, copy + arrays.height, arrays.width);
  }
  return panel;
}

/// While a panel is multiplied the rows of the next one are prefetched, some before each register tile: the core would
/// wait for many at once.
template <class T>
void sum_chunk(const FilterProblem& p, const FilterArrays<Acc<T>>& arrays, std::int64_t i_chunk, int slot) {
  using A = Acc<T>;
  const Chunk& chunk = arrays.chunks[i_chunk];
  const OffsetPairs<T> pairs(p, chunk.offset);
  const std::int64_t size = arrays.height * arrays.width;
  const std::int64_t share = ceil_div(kPanelPairs, count_tiles<A>(arrays.height, arrays.width));
  A* const sums = arrays.sums + chunk.number * size;
  A* const copies = arrays.panels + slot * kPanelPairs * (arrays.height + arrays.width);
  std::fill_n(sums, size, A{0});
  for (std::int64_t i = chunk.begin; i < chunk.end; i += kPanelPairs) {
    std::int64_t next = std::min(i + kPanelPairs, chunk.end);
    const auto panel = gather<T>(pairs, i, next, p, arrays, copies);
    const std::int64_t last = std::min(next + kPanelPairs, chunk.end);
    add_outer_products(panel.left, arrays.height, panel.right, arrays.width, panel.count, sums, [&]() HWY_ATTR {
      for (const std::int64_t until = std::min(next + share, last); next < until; ++next) pairs.prefetch_rows(next);
    });
  }
}

/// Row number `row` of filters_grad, [offsets * ci], from the sums of its offset's chunks.
template <class T>
void add_chunks(const FilterProblem& p, const FilterArrays<Acc<T>>& arrays, std::int64_t row) {
  const auto& s = p.shape;
  const std::int64_t k = row / s.ci, c = row % s.ci, size = arrays.height * arrays.width;
  T* const to = static_cast<T*>(p.filters_grad) + k * s.filter_strides[0] + c * s.filter_strides[1];
  const std::int64_t stride = s.filter_strides[2];
  if (arrays.first[k] == arrays.first[k + 1]) {
    for (std::int64_t o = 0; o < s.co; ++o) to[o * stride] = T{};
    return;
  }
  Acc<T>* const sums = arrays.sums + arrays.first[k] * size + c * arrays.width;
  for (std::int64_t i = 1; i < arrays.first[k + 1] - arrays.first[k]; ++i) {
    for (std::int64_t o = 0; o < s.co; ++o) sums[o] += sums[i * size + o];
  }
  for (std::int64_t o = 0; o < s.co; ++o) to[o * stride] = from_acc<T>(sums[o]);
}

template <class T>
mluOpStatus_t by_chunks(Context& context, const mluopsCall& call, const FilterProblem& p) {
  const auto& s = p.shape;
  const std::int64_t chunks = all_chunks(p.pairs);
  std::int64_t pairs = 0;
  for (std::int64_t k = 0; k < p.pairs.offsets; ++k) pairs += p.pairs.indice_num[k];
  const double all_ns = pair_ns(s.ci, s.co) * static_cast<double>(pairs);
  const Loop loop(context, call, chunks, all_ns / static_cast<double>(std::max<std::int64_t>(chunks, 1)));
  const auto arrays = allocate<FilterArrays<Acc<T>>>(context.arena, p, loop.slots());
  if (!arrays) return no_memory(call);
  arrays->list_chunks(p.pairs);
  loop.run([&](std::int64_t begin, std::int64_t end, int slot) HWY_ATTR {
    for (std::int64_t i = begin; i < end; ++i) sum_chunk<T>(p, *arrays, i, slot);
  });
  Loop(context, call, p.pairs.offsets * s.ci, cost::kMove * 4 * static_cast<double>(s.co))
      .run([&](std::int64_t begin, std::int64_t end, int) HWY_ATTR {
        for (std::int64_t row = begin; row < end; ++row) add_chunks<T>(p, *arrays, row);
      });
  return MLUOP_STATUS_SUCCESS;
}

template <class T>
mluOpStatus_t backward_filter(Context& context, const mluopsCall& call, const FilterProblem& p) {
  static constexpr Path<FilterProblem> kPaths[] = {{"chunks", always<FilterProblem>, by_chunks<T>}};
  return run_path(context, call, p, kPaths);
}

MLUOPS_CPU_KERNEL(backward_filter, mluopsIndiceConvolutionBackwardFilterProblem, with_element)

}  // namespace
}  // namespace mluops::cpu::indice_convolution::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mluops::cpu {

MLUOPS_CPU_ENTRY(indice_convolution_backward_filter, indice_convolution, backward_filter,
                 mluopsIndiceConvolutionBackwardFilterProblem)

}  // namespace mluops::cpu
#endif
