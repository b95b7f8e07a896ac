// ChamferDistance, backward: each point and its neighbour move by twice their difference.
//
// xyz1 [B,N,2], xyz2 [B,M,2]. An item is an image, whose sums it makes alone, first over set 1, then over set 2: the
// same bits for every number of threads. Four additions a point, to places the data choose: bound by memory. Numbers of
// 16 bits are converted row by row before and after.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/kernels/chamfer_distance/backward.cpp"
#include <hwy/foreach_target.h>

#include <algorithm>

#include "backends/cpu/dispatch.h"
#include "backends/cpu/scatter/scatter.h"
#include "backends/cpu/simd/simd-inl.h"
#include "mluops/problem/chamfer_distance.h"

HWY_BEFORE_NAMESPACE();
namespace mluops::cpu::chamfer_distance::HWY_NAMESPACE {
using namespace cpu::HWY_NAMESPACE;
namespace {

using BackwardProblem = mluopsChamferDistanceBackwardProblem;

/// One of the sets in one image.
template <class A>
struct GradSet {
  const A* points;  ///< [n,2]
  std::int64_t n;
  const std::int32_t* idx;
  const A* grad;
  A* sums;  ///< [n,2]

  /// What the distances of this set's points say about both.
  void add(const GradSet& other) const {
    for (std::int64_t i = 0; i < n; ++i) {
      const std::int64_t j = idx[i];
      if (j < 0 || j >= other.n) continue;
      const A g = grad[i] * 2;
      for (int axis = 0; axis < 2; ++axis) {
        const A step = g * (points[2 * i + axis] - other.points[2 * j + axis]);
        sums[2 * i + axis] += step;
        other.sums[2 * j + axis] -= step;
      }
    }
  }
};

/// Numbers of the scratch for each point of a set: where sums cannot be made in the gradient.
template <class T>
inline constexpr std::int64_t kScratch = kAddsInPlace<T> ? 0 : 5;

/// A set with its sums cleared; the gradient itself has them where it can.
template <class T, class A = Acc<T>>
GradSet<A> begin_set(const T* points, std::int64_t n, const std::int32_t* idx, const T* grad, T* gradient, A* scratch) {
  GradSet<A> set = {};
  if constexpr (kAddsInPlace<T>) {
    set = {points, n, idx, grad, gradient};
  } else {
    load_row(points, scratch, 2 * n);
    load_row(grad, scratch + 2 * n, n);
    set = {scratch, n, idx, scratch + 2 * n, scratch + 3 * n};
  }
  std::fill_n(set.sums, 2 * n, A{0});
  return set;
}

template <class T>
void end_set(const GradSet<Acc<T>>& set, T* gradient) {
  if constexpr (!kAddsInPlace<T>) store_row(set.sums, gradient, 2 * set.n);
}

template <class T>
mluOpStatus_t backward(Context& context, const mluopsCall& call, const BackwardProblem& p) {
  using A = Acc<T>;
  const mluopsChamferDistanceShape& s = p.shape;
  const auto *const xyz1 = static_cast<const T*>(p.xyz1), *const xyz2 = static_cast<const T*>(p.xyz2);
  const auto *const grad1 = static_cast<const T*>(p.grad_dist1), *const grad2 = static_cast<const T*>(p.grad_dist2);
  auto *const grad_xyz1 = static_cast<T*>(p.grad_xyz1), *const grad_xyz2 = static_cast<T*>(p.grad_xyz2);
  const Loop loop(context, call, s.b, 4 * cost::kScatter * static_cast<double>(s.n + s.m));
  const std::int64_t each = kScratch<T> * (s.n + s.m);
  A* const scratch = context.arena.reserve_array<A>(loop.slots(), each);
  if (scratch == nullptr && each > 0) return no_memory(call);
  loop.run([&](std::int64_t begin, std::int64_t end, int slot) HWY_ATTR {
    A* const own = scratch + slot * each;
    for (std::int64_t b = begin; b < end; ++b) {
      const std::int64_t first = b * s.n, second = b * s.m;
      const auto one = begin_set<T>(xyz1 + 2 * first, s.n, p.idx1 + first, grad1 + first, grad_xyz1 + 2 * first, own);
      const auto two = begin_set<T>(xyz2 + 2 * second, s.m, p.idx2 + second, grad2 + second, grad_xyz2 + 2 * second,
                                    own + kScratch<T> * s.n);
      one.add(two);
      two.add(one);
      end_set(one, grad_xyz1 + 2 * first);
      end_set(two, grad_xyz2 + 2 * second);
    }
  });
  return MLUOP_STATUS_SUCCESS;
}

}  // namespace
}  // namespace mluops::cpu::chamfer_distance::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

MLUOPS_CPU_ENTRY(chamfer_distance_backward, chamfer_distance, backward, mluopsChamferDistanceBackwardProblem,
                 with_element)
