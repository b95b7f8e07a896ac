// ChamferDistance, backward: each point and its neighbour move by twice their difference.
//
// xyz1 [B,N,2], xyz2 [B,M,2]. An item is an image, whose sums it makes alone, first over set 1, then over set 2: the
// same bits for every number of threads. Four additions a point, to places the data choose: bound by memory.
#include <algorithm>

#include "backends/cpu/dispatch.h"
#include "backends/cpu/scatter/scatter.h"
#include "mluops/problem/chamfer_distance.h"

namespace mluops::cpu::chamfer_distance {
namespace {

using BackwardProblem = mluopsChamferDistanceBackwardProblem;

/// One of the sets in one image.
template <class T>
struct GradSet {
  const T* points;  ///< [n,2]
  std::int64_t n;
  const std::int32_t* idx;
  const T* grad;
  Acc<T>* sums;  ///< [n,2]

  /// What the distances of this set's points say about both.
  void add(const GradSet& other) const {
    for (std::int64_t i = 0; i < n; ++i) {
      const std::int64_t j = idx[i];
      if (j < 0 || j >= other.n) continue;
      const Acc<T> g = to_acc(grad[i]) * 2;
      for (int axis = 0; axis < 2; ++axis) {
        const Acc<T> step = g * (to_acc(points[2 * i + axis]) - to_acc(other.points[2 * j + axis]));
        sums[2 * i + axis] += step;
        other.sums[2 * j + axis] -= step;
      }
    }
  }
};

/// The gradient itself where it can hold sums, else a row of the arena.
template <class T>
Acc<T>* sums_of(void* gradient, std::int64_t at, Acc<T>* scratch) {
  if constexpr (kAddsInPlace<T>) {
    static_cast<void>(scratch);
    return static_cast<T*>(gradient) + at;
  } else {
    static_cast<void>(gradient), static_cast<void>(at);
    return scratch;
  }
}

template <class T>
void finish(const GradSet<T>& set, T* gradient) {
  if constexpr (!kAddsInPlace<T>) {
    for (std::int64_t i = 0; i < 2 * set.n; ++i) gradient[i] = from_acc<T>(set.sums[i]);
  }
}

template <class T>
mluOpStatus_t backward(Context& context, const mluopsCall& call, const BackwardProblem& p) {
  const mluopsChamferDistanceShape& s = p.shape;
  const Loop loop(context, call, s.b, 4 * cost::kScatter * static_cast<double>(s.n + s.m));
  const std::int64_t each = 2 * (s.n + s.m);
  Acc<T>* scratch = nullptr;
  if constexpr (!kAddsInPlace<T>) {
    scratch = context.arena.reserve_array<Acc<T>>(loop.slots(), each);
    if (scratch == nullptr) return no_memory(call);
  }
  loop.run([&](std::int64_t begin, std::int64_t end, int slot) {
    Acc<T>* const own = kAddsInPlace<T> ? nullptr : scratch + slot * each;
    for (std::int64_t b = begin; b < end; ++b) {
      const std::int64_t first = b * s.n, second = b * s.m;
      const GradSet<T> one = {static_cast<const T*>(p.xyz1) + 2 * first, s.n, p.idx1 + first,
                              static_cast<const T*>(p.grad_dist1) + first, sums_of<T>(p.grad_xyz1, 2 * first, own)};
      const GradSet<T> two = {static_cast<const T*>(p.xyz2) + 2 * second, s.m, p.idx2 + second,
                              static_cast<const T*>(p.grad_dist2) + second,
                              sums_of<T>(p.grad_xyz2, 2 * second, kAddsInPlace<T> ? nullptr : own + 2 * s.n)};
      std::fill_n(one.sums, 2 * s.n, Acc<T>{0});
      std::fill_n(two.sums, 2 * s.m, Acc<T>{0});
      one.add(two);
      two.add(one);
      finish(one, static_cast<T*>(p.grad_xyz1) + 2 * first);
      finish(two, static_cast<T*>(p.grad_xyz2) + 2 * second);
    }
  });
  return MLUOP_STATUS_SUCCESS;
}

}  // namespace
}  // namespace mluops::cpu::chamfer_distance

MLUOPS_CPU_ENTRY_OF_ONE_LEVEL(chamfer_distance_backward, chamfer_distance, backward,
                              mluopsChamferDistanceBackwardProblem, with_element)
