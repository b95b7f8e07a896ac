// AssignScoreWithk, backward.
//
// grad_output [B,O,P,K] is transposed once, to a row of O for each pair (n,k).
// Pairs are sorted by the rows [m,o] of points and of centers that their indices choose. An item is such a row: it owns
// the same row of grad_points or grad_centers, which it makes in the first cache, from its pairs in their order, and
// writes once, and its share of each pair's grad_scores [B,P,K,M]; both shares are added up at the end. Sums do not
// depend on threads. 4 flops an element of rows in the first cache.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/kernels/assign_score_withk/backward.cpp"
#include <hwy/foreach_target.h>

#include <algorithm>

#include "backends/cpu/dispatch.h"
#include "backends/cpu/kernels/assign_score_withk/geometry.h"
#include "backends/cpu/layout/relayout.h"
#include "backends/cpu/scatter/buckets.h"
#include "backends/cpu/simd/prefetch.h"
#include "backends/cpu/simd/simd-inl.h"
#include "mluops/problem/assign_score_withk.h"

HWY_BEFORE_NAMESPACE();
namespace mluops::cpu::assign_score_withk::HWY_NAMESPACE {
using namespace cpu::HWY_NAMESPACE;
namespace {

using BackwardProblem = mluopsAssignScoreWithkBackwardProblem;

/// Pairs of which the next but so many is prefetched: their rows lie anywhere.
constexpr std::int64_t kPairsAhead = 6;

template <class T>
struct BackwardArrays {
  using A = Acc<T>;
  T* grads;       ///< [b * p * k, o]
  Buckets pairs;  ///< by row of points, then by row of centers
  A* shares;      ///< [2, b * p * k, m] of grad_scores: of points, of centers
  A* rows;        ///< [slots, m * o]

  BackwardArrays(Allocator& allocator, const mluopsCall& call, const Shape& s)
      : grads(allocator.allocate<T>(s.b, s.p, s.k, s.o)),
        pairs(allocator, call, s.b * s.p * s.k, 2 * s.b * s.n),
        shares(allocator.allocate<A>(2, s.b, s.p, s.k, s.m)),
        rows(allocator.allocate<A>(std::int64_t{call.threads}, s.m, s.o)) {}
};

/// A pair's part in a row [m,o] of points or centers: sums[m] += scores[m] * gradient, and shares[m] = row[m] *
/// gradient, where the gradient is `sign` times grads [o].
template <class T, int kWide>
void add_wide(const Shape& s, const T* HWY_RESTRICT row, const T* HWY_RESTRICT scores, const T* HWY_RESTRICT grads,
              Acc<T> sign, Acc<T>* HWY_RESTRICT sums, Acc<T>* HWY_RESTRICT shares) {
  using A = Acc<T>;
  std::fill_n(shares, s.m, A{0});
  for_wide<A, kWide>(s.o, [&](auto d, auto vectors, std::int64_t o) HWY_ATTR {
    constexpr int count = decltype(vectors)::value;
    hn::Vec<decltype(d)> grad[count];
    MLUOPS_UNROLL
    for (int v = 0; v < count; ++v) grad[v] = hn::Mul(hn::Set(d, sign), load(d, grads + o + v * kLanes<A>));
    for (std::int64_t m = 0; m < s.m; ++m) {
      const auto score = hn::Set(d, to_acc(scores[m]));
      auto share = hn::Zero(d);
      MLUOPS_UNROLL
      for (int v = 0; v < count; ++v) {
        const std::int64_t i = m * s.o + o + v * kLanes<A>;
        hn::StoreU(hn::MulAdd(score, grad[v], hn::LoadU(d, sums + i)), d, sums + i);
        share = hn::MulAdd(load(d, row + i), grad[v], share);
      }
      shares[m] += hn::GetLane(hn::SumOfLanes(d, share));
    }
  });
}

template <class T>
void add_pairs(Context& context, const mluopsCall& call, const BackwardProblem& p, const BackwardArrays<T>& arrays) {
  using A = Acc<T>;
  const Shape& s = p.shape;
  const std::int64_t rows = s.b * s.n, each = s.m * s.o;
  const T* const scores = static_cast<const T*>(p.scores);
  const auto add = s.o < 4 * kLanes<A> ? add_wide<T, 2> : add_wide<T, 4>;
  Loop(context, call, arrays.pairs.prefix_ns()).run([&](std::int64_t begin, std::int64_t end, int slot) HWY_ATTR {
    A* const sums = arrays.rows + slot * each;
    for (std::int64_t i = begin; i < end; ++i) {
      const bool is_center = i >= rows;
      const T* const row = static_cast<const T*>(is_center ? p.centers : p.points) + i % rows * each;
      A* const shares = arrays.shares + is_center * s.b * s.p * s.k * s.m;
      std::fill_n(sums, each, A{0});
      for (const std::int64_t& pair : arrays.pairs[i]) {
        const std::int64_t next =
            *std::min(&pair + kPairsAhead, arrays.pairs.all().data() + arrays.pairs.all().size() - 1);
        prefetch(scores + next * s.m, s.m);
        prefetch(arrays.grads + next * s.o, s.o);
        prefetch(shares + next * s.m, s.m);
        add(s, row, scores + pair * s.m, arrays.grads + pair * s.o, static_cast<A>(is_center ? -1 : 1), sums,
            shares + pair * s.m);
      }
      store_row(sums, static_cast<T*>(is_center ? p.grad_centers : p.grad_points) + i % rows * each, each);
    }
  });
}

template <class T>
void write_scores(Context& context, const mluopsCall& call, const BackwardProblem& p, const Acc<T>* shares) {
  const Shape& s = p.shape;
  const std::int64_t pairs = s.b * s.p * s.k;
  const double pair_ns = cost::kStep + cost::kMove * static_cast<double>(s.m);
  Loop(context, call, pairs, pair_ns).run([&](std::int64_t begin, std::int64_t end, int) HWY_ATTR {
    for (std::int64_t number = begin; number < end; ++number) {
      T* const to = static_cast<T*>(p.grad_scores) + number * s.m;
      if (!Pair(s, p.knn_idx, number).counts) {
        std::fill_n(to, s.m, T{});
        continue;
      }
      const Acc<T>* const point = shares + number * s.m;
      const Acc<T>* const center = point + pairs * s.m;
      for_lanes<Acc<T>>(s.m, [&](auto d, std::int64_t m) HWY_ATTR {
        store(hn::Add(hn::LoadU(d, point + m), hn::LoadU(d, center + m)), d, to + m);
      });
    }
  });
}

template <class T>
mluOpStatus_t backward(Context& context, const mluopsCall& call, const BackwardProblem& p) {
  const Shape& s = p.shape;
  auto arrays = allocate<BackwardArrays<T>>(context.arena, call, s);
  if (!arrays) return no_memory(call);
  const double row_ns = 2 * cost::kElement * static_cast<double>(s.m * s.o);
  const auto sort = [&](std::int64_t begin, std::int64_t end, auto&& put) {
    for (std::int64_t number = begin; number < end; ++number) {
      const Pair pair(s, p.knn_idx, number);
      if (!pair.counts) continue;
      put(number, pair.point, row_ns);
      put(number, s.b * s.n + pair.center, row_ns);
    }
  };
  if (!arrays->pairs.fill(context, call, 2 * cost::kStep, row_ns, sort)) return no_memory(call);
  layout::transpose(context, call, {s.b, s.o, s.p * s.k, sizeof(T)}, p.grad_output, arrays->grads);
  add_pairs(context, call, p, *arrays);
  write_scores<T>(context, call, p, arrays->shares);
  return MLUOP_STATUS_SUCCESS;
}

}  // namespace
}  // namespace mluops::cpu::assign_score_withk::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

MLUOPS_CPU_ENTRY(assign_score_withk_backward, assign_score_withk, backward, mluopsAssignScoreWithkBackwardProblem,
                 with_element)
