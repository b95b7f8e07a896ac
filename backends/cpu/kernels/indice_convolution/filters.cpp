// IndiceConvolution's gradient in the filters: outer products of the rows of each pair, summed offset by offset.
//
// features [L,Ci], output_grad [M,Co], filters_grad [K,Ci,Co]. The pairs of each offset are cut into chunks of 2048,
// whatever the number of threads: a task owns chunks and sums each in an array of its own; after so many chunks as have
// arrays at a time, those of each offset are added to its sum in order. Chunks are worked on in the order of the inputs
// they are about, so that rows that one offset has brought into the second cache serve the others. Register tiles of
// the sums go over the rows of 32 pairs at a time; rows that are not of sums' type or not whole vectors are copied
// first. 2 Ci Co flops for Ci + Co numbers of a pair: bound by arithmetic from 32 channels on.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/kernels/indice_convolution/filters.cpp"
#include <hwy/foreach_target.h>

#include <algorithm>
#include <tuple>

#include "backends/cpu/dispatch.h"
#include "backends/cpu/simd/prefetch.h"
#include "backends/cpu/simd/products-inl.h"
#include "backends/cpu/simd/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace mluops::cpu::indice_convolution::HWY_NAMESPACE {
using namespace cpu::HWY_NAMESPACE;
namespace {

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

/// Pairs [begin, end) of an offset.
struct Chunk {
  std::int64_t offset, begin, end;
};

/// Chunks that have arrays at a time: what takes kMostBytes, but two for each thread.
inline std::int64_t chunks_at_once(const FilterProblem& p, std::int64_t threads, std::int64_t bytes) {
  constexpr std::int64_t kMostBytes = std::int64_t{32} << 20;
  return std::min(all_chunks(p.pairs), std::max(kMostBytes / bytes, 2 * threads));
}

template <class A>
struct FilterArrays {
  std::int64_t height, width;  ///< of the sums of a chunk: Ci and Co, rounded up
  std::int64_t count, at_once;
  Chunk* chunks;
  A* of_chunks;   ///< [at_once,height,width]
  A* of_offsets;  ///< [offsets,height,width]
  A* panels;      ///< of each slot [kPanelPairs,height + width], for rows that are copied

  FilterArrays(Allocator& allocator, const FilterProblem& p, std::int64_t threads, int slots)
      : height(round_up(p.shape.ci, kProductRows)),
        width(padded_columns(p.shape.co)),
        count(all_chunks(p.pairs)),
        at_once(chunks_at_once(p, threads, size_product(height, width, static_cast<std::int64_t>(sizeof(A))))),
        chunks(allocator.allocate<Chunk>(count)),
        of_chunks(allocator.allocate<A>(at_once, height, width)),
        of_offsets(allocator.allocate<A>(p.pairs.offsets, height, width)),
        panels(allocator.allocate<A>(slots, kPanelPairs, height + width)) {}

  void list_chunks(const mluopsIndicePairs& pairs) const {
    Chunk* next = chunks;
    for (std::int64_t k = 0; k < pairs.offsets; ++k) {
      for (std::int64_t begin = 0; begin < pairs.indice_num[k]; begin += kChunkPairs) {
        *next++ = {k, begin, std::min(begin + kChunkPairs, pairs.indice_num[k])};
      }
    }
    // Pairs of an offset are mostly in the order of their inputs.
    const auto place = [&](const Chunk& c) {
      return static_cast<double>(c.begin + c.end) / static_cast<double>(pairs.indice_num[c.offset]);
    };
    std::sort(chunks, next, [&](const Chunk& a, const Chunk& b) {
      return std::tuple(place(a), a.offset, a.begin) < std::tuple(place(b), b.offset, b.begin);
    });
  }
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
void sum_chunk(const FilterProblem& p, const FilterArrays<Acc<T>>& arrays, const Chunk& chunk, Acc<T>* sums, int slot) {
  using A = Acc<T>;
  const OffsetPairs<T> pairs(p, chunk.offset);
  const std::int64_t size = arrays.height * arrays.width;
  const std::int64_t share = ceil_div(kPanelPairs, count_tiles<A>(arrays.height, arrays.width));
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

/// Row `c` of the sums of chunks [begin, end) is added to that of their offsets.
template <class A>
void add_chunks(const FilterArrays<A>& arrays, std::int64_t begin, std::int64_t end, std::int64_t c) {
  const std::int64_t size = arrays.height * arrays.width;
  for (std::int64_t i = begin; i < end; ++i) {
    const A* const from = arrays.of_chunks + (i - begin) * size + c * arrays.width;
    A* const to = arrays.of_offsets + arrays.chunks[i].offset * size + c * arrays.width;
    for (std::int64_t o = 0; o < arrays.width; ++o) to[o] += from[o];
  }
}

/// Row number `row` of filters_grad, [offsets * ci].
template <class T>
void store_sums_of(const FilterProblem& p, const FilterArrays<Acc<T>>& arrays, std::int64_t row) {
  const auto& s = p.shape;
  const std::int64_t k = row / s.ci, c = row % s.ci;
  const Acc<T>* const from = arrays.of_offsets + (k * arrays.height + c) * arrays.width;
  T* const to = static_cast<T*>(p.filters_grad) + k * s.filter_strides[0] + c * s.filter_strides[1];
  for (std::int64_t o = 0; o < s.co; ++o) to[o * s.filter_strides[2]] = from_acc<T>(from[o]);
}

template <class T>
mluOpStatus_t backward_filter(Context& context, const mluopsCall& call, const FilterProblem& p) {
  const auto& s = p.shape;
  const std::int64_t count = all_chunks(p.pairs);
  std::int64_t pairs = 0;
  for (std::int64_t k = 0; k < p.pairs.offsets; ++k) pairs += p.pairs.indice_num[k];
  const double chunk_ns =
      row_product_ns(s.ci, s.co) * static_cast<double>(pairs) / static_cast<double>(std::max<std::int64_t>(count, 1));
  const Loop all(context, call, count, chunk_ns);
  const auto arrays = allocate<FilterArrays<Acc<T>>>(context.arena, p, call.threads, all.slots());
  if (!arrays) return no_memory(call);
  arrays->list_chunks(p.pairs);
  const std::int64_t size = arrays->height * arrays->width;
  std::fill_n(arrays->of_offsets, p.pairs.offsets * size, Acc<T>{0});
  for (std::int64_t first = 0; first < count; first += arrays->at_once) {
    const std::int64_t last = std::min(count, first + arrays->at_once);
    Loop(context, call, last - first, chunk_ns).run([&](std::int64_t begin, std::int64_t end, int slot) HWY_ATTR {
      for (std::int64_t i = begin; i < end; ++i) {
        sum_chunk<T>(p, *arrays, arrays->chunks[first + i], arrays->of_chunks + i * size, slot);
      }
    });
    Loop(context, call, arrays->height, cost::kMove * static_cast<double>((last - first) * arrays->width))
        .run([&](std::int64_t begin, std::int64_t end, int) HWY_ATTR {
          for (std::int64_t c = begin; c < end; ++c) add_chunks(*arrays, first, last, c);
        });
  }
  Loop(context, call, p.pairs.offsets * s.ci, cost::kMove * static_cast<double>(s.co))
      .run([&](std::int64_t begin, std::int64_t end, int) HWY_ATTR {
        for (std::int64_t row = begin; row < end; ++row) store_sums_of<T>(p, *arrays, row);
      });
  return MLUOP_STATUS_SUCCESS;
}

}  // namespace
}  // namespace mluops::cpu::indice_convolution::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

MLUOPS_CPU_ENTRY(indice_convolution_backward_filter, indice_convolution, backward_filter,
                 mluopsIndiceConvolutionBackwardFilterProblem, with_element)
