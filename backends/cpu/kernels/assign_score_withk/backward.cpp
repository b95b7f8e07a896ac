// AssignScoreWithk, backward.
//
// grad_scores [B,P,K,M]: an item is a run of pairs (n,k) of one image, whose gradients it brings into rows of O; it
// owns their rows of grad_scores. grad_points and grad_centers [B,N,M,O]: an item is up to 16 channels of one image; it
// goes over all pairs in their order, so sums do not depend on threads, and owns its channels of both gradients. Both
// read two rows a pair that indices choose, 3 flops an element: bound by memory beyond the caches.
#include <algorithm>

#include "backends/cpu/dispatch.h"
#include "backends/cpu/kernels/assign_score_withk/geometry.h"
#include "backends/cpu/runtime/machine.h"
#include "backends/cpu/runtime/parallel.h"
#include "common/shape.h"

namespace mluops::cpu::assign_score_withk {
namespace {

using BackwardProblem = mluopsAssignScoreWithkBackwardProblem;

constexpr std::int64_t kGradRun = 64, kChannels = 16;

template <class A>
struct Arrays {
  std::int64_t run, channels, rows;
  A* grads;    ///< [slots of the scores, run, o]
  A* points;   ///< [slots of the sums, n * m, channels]
  A* centers;  ///< likewise

  Arrays(Allocator& allocator, const Shape& s, std::int64_t for_scores, std::int64_t for_sums)
      : run(std::min(kGradRun, s.p * s.k)),
        channels(std::min(kChannels, s.o)),
        rows(s.n * s.m),
        grads(allocator.allocate<A>(for_scores, run, s.o)),
        points(allocator.allocate<A>(for_sums, rows, channels)),
        centers(allocator.allocate<A>(for_sums, rows, channels)) {}
};

/// The row [m] of grad_scores of a pair, whose gradients are grads [o].
template <class T>
void score_row(const BackwardProblem& p, std::int64_t number, const Acc<T>* __restrict grads) {
  const Shape& s = p.shape;
  T* const to = static_cast<T*>(p.grad_scores) + number * s.m;
  const Pair pair(s, p.knn_idx, number);
  if (!pair.counts) {
    std::fill_n(to, s.m, T{});
    return;
  }
  const T* point = static_cast<const T*>(p.points) + pair.point * s.m * s.o;
  const T* center = static_cast<const T*>(p.centers) + pair.center * s.m * s.o;
  for (std::int64_t m = 0; m < s.m; ++m, point += s.o, center += s.o) {
    Acc<T> sum = 0;
    for (std::int64_t o = 0; o < s.o; ++o) sum += (to_acc(point[o]) - to_acc(center[o])) * grads[o];
    to[m] = from_acc<T>(sum);
  }
}

template <class T>
void write_scores(const Loop& loop, const BackwardProblem& p, const Arrays<Acc<T>>& arrays) {
  const Shape& s = p.shape;
  const std::int64_t pairs = s.p * s.k, runs = ceil_div(pairs, kGradRun);
  loop.run([&](std::int64_t begin, std::int64_t end, int slot) {
    Acc<T>* const grads = arrays.grads + slot * arrays.run * s.o;
    for (std::int64_t item = begin; item < end; ++item) {
      const std::int64_t b = item / runs, first = item % runs * kGradRun, count = std::min(kGradRun, pairs - first);
      const T* from = static_cast<const T*>(p.grad_output) + b * s.o * pairs + first;
      for (std::int64_t o = 0; o < s.o; ++o, from += pairs) {
        for (std::int64_t i = 0; i < count; ++i) grads[i * s.o + o] = to_acc(from[i]);
      }
      for (std::int64_t i = 0; i < count; ++i) score_row<T>(p, b * pairs + first + i, grads + i * s.o);
    }
  });
}

/// Adds a pair to the sums of `count` channels from `first` on; points and centers [n,m,channels] of its image.
template <class T>
void add_pair(const BackwardProblem& p, std::int64_t number, std::int64_t first, std::int64_t count,
              std::int64_t channels, Acc<T>* points, Acc<T>* centers) {
  const Shape& s = p.shape;
  const Pair pair(s, p.knn_idx, number);
  if (!pair.counts) return;
  const std::int64_t pairs = s.p * s.k, b = number / pairs;
  const T* const grad = static_cast<const T*>(p.grad_output) + (b * s.o + first) * pairs + number % pairs;
  Acc<T> grads[kChannels];
  for (std::int64_t o = 0; o < count; ++o) grads[o] = to_acc(grad[o * pairs]);
  const T* const scores = static_cast<const T*>(p.scores) + number * s.m;
  Acc<T>* point = points + (pair.point - b * s.n) * s.m * channels;
  Acc<T>* center = centers + (pair.center - b * s.n) * s.m * channels;
  for (std::int64_t m = 0; m < s.m; ++m, point += channels, center += channels) {
    const Acc<T> score = to_acc(scores[m]);
    for (std::int64_t o = 0; o < count; ++o) point[o] += score * grads[o];
    for (std::int64_t o = 0; o < count; ++o) center[o] -= score * grads[o];
  }
}

template <class T>
void write_sums(const Loop& loop, const BackwardProblem& p, const Arrays<Acc<T>>& arrays) {
  const Shape& s = p.shape;
  const std::int64_t pairs = s.p * s.k, groups = ceil_div(s.o, kChannels), channels = arrays.channels;
  loop.run([&](std::int64_t begin, std::int64_t end, int slot) {
    Acc<T>* const points = arrays.points + slot * arrays.rows * channels;
    Acc<T>* const centers = arrays.centers + slot * arrays.rows * channels;
    for (std::int64_t item = begin; item < end; ++item) {
      const std::int64_t b = item / groups, first = item % groups * kChannels, count = std::min(kChannels, s.o - first);
      std::fill_n(points, arrays.rows * channels, Acc<T>{0});
      std::fill_n(centers, arrays.rows * channels, Acc<T>{0});
      for (std::int64_t i = 0; i < pairs; ++i) add_pair<T>(p, b * pairs + i, first, count, channels, points, centers);
      for (std::int64_t row = 0; row < arrays.rows; ++row) {
        const std::int64_t to = (b * arrays.rows + row) * s.o + first;
        for (std::int64_t o = 0; o < count; ++o) {
          static_cast<T*>(p.grad_points)[to + o] = from_acc<T>(points[row * channels + o]);
          static_cast<T*>(p.grad_centers)[to + o] = from_acc<T>(centers[row * channels + o]);
        }
      }
    }
  });
}

template <class T>
mluOpStatus_t backward(Context& context, const mluopsCall& call, const BackwardProblem& p) {
  const Shape& s = p.shape;
  const double all_ns = 3 * cost::kElement * static_cast<double>(s.p * s.k * s.m * s.o);
  const std::int64_t runs = ceil_div(s.p * s.k, kGradRun), groups = ceil_div(s.o, kChannels);
  const Loop scores(context, call, s.b * runs, all_ns / static_cast<double>(runs));
  const Loop sums(context, call, s.b * groups, all_ns / static_cast<double>(groups));
  const auto arrays =
      allocate<Arrays<Acc<T>>>(context.arena, s, std::int64_t{scores.slots()}, std::int64_t{sums.slots()});
  if (!arrays) return no_memory(call);
  write_scores<T>(scores, p, *arrays);
  write_sums<T>(sums, p, *arrays);
  return MLUOP_STATUS_SUCCESS;
}

}  // namespace
}  // namespace mluops::cpu::assign_score_withk

namespace mluops::cpu {

mluOpStatus_t operators::assign_score_withk_backward(Context& context, const mluopsCall& call,
                                                     const mluopsAssignScoreWithkBackwardProblem& problem) {
  return with_element(call, problem.shape.dtype, [&](auto tag) {
    return assign_score_withk::backward<typename decltype(tag)::type>(context, call, problem);
  });
}

}  // namespace mluops::cpu
