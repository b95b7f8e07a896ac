// IndiceConvolution's gradient in the filters: outer products of the rows of each pair, summed offset by offset.
//
// features [L,Ci], output_grad [M,Co], filters_grad [K,Ci,Co]. The pairs of each offset are cut into chunks of 4096,
// whatever the number of threads: a task owns chunks and sums each in an array of its own; then the sums of an offset's
// chunks are added up in order. 64 pairs at a time are gathered into two panels, which stay in the first cache while
// register tiles of the sums go over them. 2 Ci Co flops for Ci + Co numbers of a pair: bound by arithmetic from 16
// channels on.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/indice_convolution/filters.cpp"
#include <hwy/foreach_target.h>

#include <algorithm>

#include "backends/cpu/dispatch.h"
#include "backends/cpu/indice_convolution/products-inl.h"
#include "backends/cpu/runtime/arena.h"
#include "backends/cpu/runtime/parallel.h"
#include "backends/cpu/runtime/path.h"
#include "backends/cpu/simd/simd-inl.h"
#include "common/shape.h"

#ifndef MLUOPS_CPU_INDICE_CONVOLUTION_FILTERS_ONCE_
#define MLUOPS_CPU_INDICE_CONVOLUTION_FILTERS_ONCE_
namespace mluops::cpu::indice_convolution {

using FilterProblem = mluopsIndiceConvolutionBackwardFilterProblem;

inline constexpr std::int64_t kChunkPairs = 4096, kPanelPairs = 64;

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

template <class A>
struct FilterArrays {
  std::int64_t height, width;  ///< of the sums of a chunk: Ci and Co, rounded up
  std::int64_t* first;         ///< [offsets + 1]: number of each offset's first chunk
  Chunk* chunks;
  A* sums;    ///< [chunks,height,width]
  A* panels;  ///< of each slot [kPanelPairs,height] and [kPanelPairs,width]

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
        chunks[i] = {k, begin, std::min(begin + kChunkPairs, pairs.indice_num[k])};
      }
    }
  }
};

}  // namespace mluops::cpu::indice_convolution
#endif

HWY_BEFORE_NAMESPACE();
namespace mluops::cpu::indice_convolution::HWY_NAMESPACE {
using namespace cpu::HWY_NAMESPACE;
namespace {

/// Gathers the rows of pairs [begin, end) of an offset into the panels; a pair that leads outside is left out. Returns
/// how many there are.
template <class T>
std::int64_t gather(const FilterProblem& p, std::int64_t offset, std::int64_t begin, std::int64_t end,
                    const FilterArrays<Acc<T>>& arrays, Acc<T>* left, Acc<T>* right) {
  const auto& s = p.shape;
  const std::int32_t* const first = p.pairs.indice_pairs + 2 * offset * p.pairs.places;
  const std::int32_t* const inputs = s.inverse != 0 ? first + p.pairs.places : first;
  const std::int32_t* const outputs = s.inverse != 0 ? first : first + p.pairs.places;
  std::int64_t count = 0;
  for (std::int64_t i = begin; i < end; ++i) {
    const std::int64_t in = inputs[i], out = outputs[i];
    if (in < 0 || in >= s.inputs || out < 0 || out >= s.outputs) continue;
    Acc<T>* const row = left + count * arrays.height;
    load_row(static_cast<const T*>(p.features) + in * s.ci, row, s.ci);
    std::fill(row + s.ci, row + arrays.height, Acc<T>{0});
    Acc<T>* const columns = right + count++ * arrays.width;
    load_row(static_cast<const T*>(p.output_grad) + out * s.co, columns, s.co);
    std::fill(columns + s.co, columns + arrays.width, Acc<T>{0});
  }
  return count;
}

template <class T>
void sum_chunk(const FilterProblem& p, const FilterArrays<Acc<T>>& arrays, std::int64_t number, int slot) {
  const Chunk& chunk = arrays.chunks[number];
  const std::int64_t size = arrays.height * arrays.width;
  Acc<T>* const sums = arrays.sums + number * size;
  Acc<T>* const left = arrays.panels + slot * kPanelPairs * (arrays.height + arrays.width);
  Acc<T>* const right = left + kPanelPairs * arrays.height;
  std::fill_n(sums, size, Acc<T>{0});
  for (std::int64_t i = chunk.begin; i < chunk.end; i += kPanelPairs) {
    const std::int64_t count = gather<T>(p, chunk.offset, i, std::min(i + kPanelPairs, chunk.end), arrays, left, right);
    add_outer_products(left, arrays.height, right, arrays.width, count, sums);
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
