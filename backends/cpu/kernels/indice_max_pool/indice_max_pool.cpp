// IndiceMaxPool forward and backward: rows compared with, or added to, other rows, pair by pair.
//
// features [L,C], features_out [M,C]. The pairs are sorted by tiles of 512 rows of the result. A task owns tiles, so no
// additions are shared and their order is the pairs'. A comparison for each number read: bound by the caches the rows
// lie in. Maxima are found in the tensors' own type; gradients of half and bfloat16 are summed in float.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/kernels/indice_max_pool/indice_max_pool.cpp"
#include <hwy/foreach_target.h>

#include <algorithm>

#include "backends/cpu/dispatch.h"
#include "backends/cpu/scatter/pair_lists.h"
#include "backends/cpu/simd/simd-inl.h"
#include "mluops/problem/indice_max_pool.h"

HWY_BEFORE_NAMESPACE();
namespace mluops::cpu::indice_max_pool::HWY_NAMESPACE {
using namespace cpu::HWY_NAMESPACE;
namespace {

using ForwardProblem = mluopsIndiceMaxPoolForwardProblem;
using BackwardProblem = mluopsIndiceMaxPoolBackwardProblem;

template <class A>
struct Arrays {
  PairLists lists;
  std::int64_t sums_size;
  A* sums;  ///< of each slot [a tile's rows,c]

  Arrays(Allocator& allocator, const mluopsIndicePairs& pairs, std::int64_t from_rows, std::int64_t to_rows, bool swap,
         std::int64_t c, int slots)
      : lists(allocator, pairs, from_rows, to_rows, swap),
        sums_size(std::min(PairLists::kTileRows, to_rows) * c),
        sums(allocator.allocate<A>(slots, sums_size)) {}
};

/// each(tile's first row, pair, row of sums) for all pairs, offset by offset, then the sums into rows of `to`.
template <class T, class Each>
mluOpStatus_t by_tiles(Context& context, const mluopsCall& call, const mluopsIndicePairs& pairs, std::int64_t from_rows,
                       std::int64_t to_rows, bool swap, std::int64_t c, void* to, const Each& each) {
  using A = Acc<T>;
  const std::int64_t tiles = PairLists::tiles(to_rows);
  const double all_ns =
      static_cast<double>(all_pairs(pairs) + 2 * to_rows) * (3 + 2 * cost::kMove * static_cast<double>(c));
  const Loop loop(context, call, tiles, all_ns / static_cast<double>(tiles));
  auto arrays = allocate<Arrays<A>>(context.arena, pairs, from_rows, to_rows, swap, c, loop.slots());
  if (!arrays) return no_memory(call);
  arrays->lists.fill(context, call);
  loop.run([&](std::int64_t begin, std::int64_t end, int slot) HWY_ATTR {
    A* const sums = arrays->sums + slot * arrays->sums_size;
    for (std::int64_t tile = begin; tile < end; ++tile) {
      const std::int64_t first = arrays->lists.first_row(tile), rows = arrays->lists.rows(tile);
      std::fill_n(sums, rows * c, A{0});
      for (std::int64_t k = 0; k < pairs.offsets; ++k) {
        for (const RowPair& pair : arrays->lists(tile, k)) each(pair, sums + (pair.to - first) * c);
      }
      store_row(sums, static_cast<T*>(to) + first * c, rows * c);
    }
  });
  return MLUOP_STATUS_SUCCESS;
}

template <class T>
mluOpStatus_t forward(Context& context, const mluopsCall& call, const ForwardProblem& p) {
  const auto& s = p.shape;
  return by_tiles<T>(context, call, p.pairs, s.inputs, s.outputs, false, s.c, p.features_out,
                     [&](const RowPair& pair, Acc<T>* greatest) HWY_ATTR {
                       const T* const row = static_cast<const T*>(p.features) + pair.from * s.c;
                       for_lanes<Acc<T>>(s.c, [&](auto d, std::int64_t i) HWY_ATTR {
                         const auto old = hn::LoadU(d, greatest + i), value = load(d, row + i);
                         hn::StoreU(hn::IfThenElse(hn::Lt(old, value), value, old), d, greatest + i);
                       });
                     });
}

template <class T>
mluOpStatus_t backward(Context& context, const mluopsCall& call, const BackwardProblem& p) {
  const auto& s = p.shape;
  return by_tiles<T>(context, call, p.pairs, s.outputs, s.inputs, true, s.c, p.grad_input,
                     [&](const RowPair& pair, Acc<T>* sums) HWY_ATTR {
                       const T* const value = static_cast<const T*>(p.features) + pair.to * s.c;
                       const T* const greatest = static_cast<const T*>(p.features_out) + pair.from * s.c;
                       const T* const grad = static_cast<const T*>(p.grad_output) + pair.from * s.c;
                       for_lanes<Acc<T>>(s.c, [&](auto d, std::int64_t i) HWY_ATTR {
                         const auto same = hn::Eq(load(d, greatest + i), load(d, value + i));
                         const auto old = hn::LoadU(d, sums + i);
                         hn::StoreU(hn::Add(old, hn::IfThenElseZero(same, load(d, grad + i))), d, sums + i);
                       });
                     });
}

}  // namespace
}  // namespace mluops::cpu::indice_max_pool::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

MLUOPS_CPU_ENTRY(indice_max_pool_forward, indice_max_pool, forward, mluopsIndiceMaxPoolForwardProblem, with_element)
MLUOPS_CPU_ENTRY(indice_max_pool_backward, indice_max_pool, backward, mluopsIndiceMaxPoolBackwardProblem, with_element)
