// AssignScoreWithk, forward: output[b,o,n,k] = sum over m of scores[b,n,k,m] * (points[b,i,m,o] - centers[b,j,m,o]).
//
// points and centers [B,N,M,O], scores [B,P,K,M], output [B,O,P,K]. Rows of points are M*O elements that indices
// choose, each a few times: pairs (n,k) are sorted by them, and an item of the first loop is a row, of whose pairs it
// makes the sums over points in rows of O. An item of the second is a run of some 64 pairs of one image: it takes off
// the sums over centers, whose rows pairs next to each other share, and owns their elements of the output, to which it
// transposes them. Both sums are made in the same order, so equal rows give 0. 4 flops an element of rows in the first
// cache.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/kernels/assign_score_withk/forward.cpp"
#include <hwy/foreach_target.h>

#include <algorithm>

#include "backends/cpu/dispatch.h"
#include "backends/cpu/kernels/assign_score_withk/geometry.h"
#include "backends/cpu/scatter/buckets.h"
#include "backends/cpu/simd/overlapping-inl.h"
#include "backends/cpu/simd/panel-inl.h"
#include "backends/cpu/simd/prefetch.h"
#include "mluops/problem/assign_score_withk.h"

HWY_BEFORE_NAMESPACE();
namespace mluops::cpu::assign_score_withk::HWY_NAMESPACE {
using namespace cpu::HWY_NAMESPACE;
namespace {

using ForwardProblem = mluopsAssignScoreWithkForwardProblem;

/// Pairs whose output is transposed together.
constexpr std::int64_t kRun = 64;
/// Pairs of which the next but so many is prefetched: their rows lie anywhere.
constexpr std::int64_t kAhead = 6;

template <class T>
struct ForwardArrays {
  std::int64_t run;
  Buckets pairs;  ///< by row of points
  Acc<T>* sums;   ///< [b * p * k, o], over points
  T* rows;        ///< [slots, run, o] of the output

  ForwardArrays(Allocator& allocator, const mluopsCall& call, const Shape& s)
      : run(std::min(kRun, s.p * s.k)),
        pairs(allocator, call, s.b * s.p * s.k, s.b * s.n),
        sums(allocator.allocate<Acc<T>>(s.b, s.p, s.k, s.o)),
        rows(allocator.allocate<T>(std::int64_t{call.threads}, run, s.o)) {}
};

/// put(d, o, the sums over m of scores[m] * row[m,o] from there on).
template <class T, int kWide, class Put>
HWY_INLINE void sum_wide(const Shape& s, const T* HWY_RESTRICT scores, const T* HWY_RESTRICT row, Put&& put) {
  using A = Acc<T>;
  for_overlapping<A, kWide>(s.o, [&](auto d, auto vectors, std::int64_t o, std::int64_t step) HWY_ATTR {
    constexpr int count = decltype(vectors)::value;
    hn::Vec<decltype(d)> sum[count];
    MLUOPS_UNROLL
    for (int v = 0; v < count; ++v) sum[v] = hn::Zero(d);
    const T* from = row + o;
    for (std::int64_t m = 0; m < s.m; ++m, from += s.o) {
      const auto score = hn::Set(d, to_acc(scores[m]));
      MLUOPS_UNROLL
      for (int v = 0; v < count; ++v) sum[v] = hn::MulAdd(score, load(d, from + v * step), sum[v]);
    }
    MLUOPS_UNROLL
    for (int v = 0; v < count; ++v) put(d, o + v * step, sum[v]);
  });
}

template <class T, class Put>
HWY_INLINE void sum_row(const Shape& s, const T* scores, const T* row, Put&& put) {
  s.o < 4 * kLanes<Acc<T>> ? sum_wide<T, 2>(s, scores, row, put) : sum_wide<T, 4>(s, scores, row, put);
}

template <class T>
void sum_points(Context& context, const mluopsCall& call, const ForwardProblem& p, const ForwardArrays<T>& arrays) {
  const Shape& s = p.shape;
  const T* const scores = static_cast<const T*>(p.scores);
  Loop(context, call, arrays.pairs.prefix_ns()).run([&](std::int64_t begin, std::int64_t end, int) HWY_ATTR {
    for (std::int64_t i = begin; i < end; ++i) {
      const T* const row = static_cast<const T*>(p.points) + i * s.m * s.o;
      for (const std::int64_t& pair : arrays.pairs[i]) {
        Acc<T>* const sums = arrays.sums + pair * s.o;
        const std::int64_t next = *std::min(&pair + kAhead, arrays.pairs.all().data() + arrays.pairs.all().size() - 1);
        prefetch(scores + next * s.m, s.m);
        prefetch(arrays.sums + next * s.o, s.o);
        sum_row(s, scores + pair * s.m, row,
                [&](auto d, std::int64_t o, auto sum) HWY_ATTR { hn::StoreU(sum, d, sums + o); });
      }
    }
  });
}

/// A row [o] of what the output has of a pair; `sums` are those over its point.
template <class T>
HWY_INLINE void finish_pair(const ForwardProblem& p, std::int64_t number, const Acc<T>* HWY_RESTRICT sums,
                            T* HWY_RESTRICT to) {
  const Shape& s = p.shape;
  const Pair pair(s, p.knn_idx, number);
  if (!pair.counts) {
    std::fill_n(to, s.o, T{});
    return;
  }
  sum_row(s, static_cast<const T*>(p.scores) + number * s.m, static_cast<const T*>(p.centers) + pair.center * s.m * s.o,
          [&](auto d, std::int64_t o, auto sum) HWY_ATTR { store(hn::Sub(hn::LoadU(d, sums + o), sum), d, to + o); });
}

template <class T>
void write_output(Context& context, const mluopsCall& call, const ForwardProblem& p, const ForwardArrays<T>& arrays) {
  const Shape& s = p.shape;
  const std::int64_t pairs = s.p * s.k, runs = ceil_div(pairs, kRun), each = arrays.run * s.o;
  const double run_ns = cost::kElement * static_cast<double>(each * s.m);
  Loop(context, call, s.b * runs, run_ns).run([&](std::int64_t begin, std::int64_t end, int slot) HWY_ATTR {
    T* const rows = arrays.rows + slot * each;
    for (std::int64_t item = begin; item < end; ++item) {
      const std::int64_t b = item / runs, first = item % runs * kRun, count = std::min(kRun, pairs - first);
      for (std::int64_t i = 0; i < count; ++i) {
        const std::int64_t number = b * pairs + first + i;
        finish_pair<T>(p, number, arrays.sums + number * s.o, rows + i * s.o);
      }
      T* const to = static_cast<T*>(p.output) + b * s.o * pairs + first;
      transpose_panel(reinterpret_cast<const Moved<T>*>(rows), s.o, count, s.o, reinterpret_cast<Moved<T>*>(to), pairs);
    }
  });
}

template <class T>
mluOpStatus_t forward(Context& context, const mluopsCall& call, const ForwardProblem& p) {
  const Shape& s = p.shape;
  auto arrays = allocate<ForwardArrays<T>>(context.arena, call, s);
  if (!arrays) return no_memory(call);
  const double row_ns = cost::kElement * static_cast<double>(s.m * s.o);
  const auto sort = [&](std::int64_t begin, std::int64_t end, auto&& put) {
    for (std::int64_t number = begin; number < end; ++number) {
      const Pair pair(s, p.knn_idx, number);
      if (pair.counts) put(number, pair.point, row_ns);
    }
  };
  if (!arrays->pairs.fill(context, call, cost::kStep, cost::kStep, sort)) return no_memory(call);
  sum_points(context, call, p, *arrays);
  write_output(context, call, p, *arrays);
  return MLUOP_STATUS_SUCCESS;
}

}  // namespace
}  // namespace mluops::cpu::assign_score_withk::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

MLUOPS_CPU_ENTRY(assign_score_withk_forward, assign_score_withk, forward, mluopsAssignScoreWithkForwardProblem,
                 with_element)
