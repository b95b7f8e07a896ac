// AssignScoreWithk, forward: output[b,o,n,k] = sum over m of scores[b,n,k,m] * (points[b,i,m,o] - centers[b,j,m,o]).
//
// points and centers [B,N,M,O], scores [B,P,K,M], output [B,O,P,K]. An item is a run of some 64 pairs (n,k) of one
// image: it makes their sums in rows of O, next to each other, and owns their elements of the output, to which it
// transposes them. Each pair reads two rows of M*O elements that indices choose: bound by memory beyond the caches, 3
// flops an element.
#include <algorithm>

#include "backends/cpu/dispatch.h"
#include "backends/cpu/kernels/assign_score_withk/geometry.h"
#include "backends/cpu/runtime/machine.h"
#include "backends/cpu/runtime/parallel.h"
#include "common/shape.h"

namespace mluops::cpu::assign_score_withk {
namespace {

using ForwardProblem = mluopsAssignScoreWithkForwardProblem;

constexpr std::int64_t kRun = 64;

/// One row of sums [o].
template <class T>
void sum_pair(const ForwardProblem& p, std::int64_t number, Acc<T>* __restrict sums) {
  const Shape& s = p.shape;
  std::fill_n(sums, s.o, Acc<T>{0});
  const Pair pair(s, p.knn_idx, number);
  if (!pair.counts) return;
  const T* point = static_cast<const T*>(p.points) + pair.point * s.m * s.o;
  const T* center = static_cast<const T*>(p.centers) + pair.center * s.m * s.o;
  const T* const scores = static_cast<const T*>(p.scores) + number * s.m;
  for (std::int64_t m = 0; m < s.m; ++m, point += s.o, center += s.o) {
    const Acc<T> score = to_acc(scores[m]);
    for (std::int64_t o = 0; o < s.o; ++o) sums[o] += score * (to_acc(point[o]) - to_acc(center[o]));
  }
}

template <class T>
mluOpStatus_t forward(Context& context, const mluopsCall& call, const ForwardProblem& p) {
  const Shape& s = p.shape;
  const std::int64_t pairs = s.p * s.k, runs = ceil_div(pairs, kRun);
  const double run_ns = 2 * cost::kElement * static_cast<double>(std::min(kRun, pairs) * s.m * s.o);
  const Loop loop(context, call, s.b * runs, run_ns);
  const std::int64_t each = std::min(kRun, pairs) * s.o;
  auto* const all = context.arena.reserve_array<Acc<T>>(loop.slots(), each);
  if (all == nullptr) return no_memory(call);
  loop.run([&](std::int64_t begin, std::int64_t end, int slot) {
    Acc<T>* const sums = all + slot * each;
    for (std::int64_t item = begin; item < end; ++item) {
      const std::int64_t b = item / runs, first = item % runs * kRun, count = std::min(kRun, pairs - first);
      for (std::int64_t i = 0; i < count; ++i) sum_pair<T>(p, b * pairs + first + i, sums + i * s.o);
      T* to = static_cast<T*>(p.output) + b * s.o * pairs + first;
      for (std::int64_t o = 0; o < s.o; ++o, to += pairs) {
        for (std::int64_t i = 0; i < count; ++i) to[i] = from_acc<T>(sums[i * s.o + o]);
      }
    }
  });
  return MLUOP_STATUS_SUCCESS;
}

}  // namespace
}  // namespace mluops::cpu::assign_score_withk

namespace mluops::cpu {

mluOpStatus_t operators::assign_score_withk_forward(Context& context, const mluopsCall& call,
                                                    const mluopsAssignScoreWithkForwardProblem& problem) {
  return with_element(call, problem.shape.dtype, [&](auto tag) {
    return assign_score_withk::forward<typename decltype(tag)::type>(context, call, problem);
  });
}

}  // namespace mluops::cpu
