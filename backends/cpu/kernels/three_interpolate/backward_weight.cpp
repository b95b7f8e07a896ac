// ThreeInterpolate, the gradient of the weights: of each output point, the products of its gradient with the features
// of its three neighbours, summed over channels.
//
// grad_output [b,c,n], features [b,c,m], indices and grad_weights [b,n,3]. Features are transposed first, [b,m,c], and
// the gradients of a task's points as it comes to them, so that a sum is over rows next to each other in memory: three
// multiply-adds on four loads from the caches. A task owns the weights of some points.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/kernels/three_interpolate/backward_weight.cpp"
#include <hwy/foreach_target.h>

#include "backends/cpu/dispatch.h"
#include "backends/cpu/kernels/three_interpolate/geometry.h"
#include "backends/cpu/layout/relayout.h"
#include "backends/cpu/runtime/parallel.h"
#include "backends/cpu/simd/panel-inl.h"
#include "backends/cpu/simd/simd-inl.h"
#include "mluops/problem/three_interpolate.h"

HWY_BEFORE_NAMESPACE();
namespace mluops::cpu::three_interpolate::HWY_NAMESPACE {
using namespace cpu::HWY_NAMESPACE;
namespace {

using WeightProblem = mluopsThreeInterpolateBackwardWeightProblem;

constexpr std::int64_t kPoints = 16;  ///< whose gradients are transposed together

/// sums[j] = sum over `channels` of grad * rows[j].
template <class T, class A = Acc<T>>
HWY_INLINE void products(const T* HWY_RESTRICT grad, const T* const* rows, std::int64_t channels,
                         A* HWY_RESTRICT sums) {
  const FullTag<T> d;
  constexpr std::int64_t lanes = kLanes<A>;
  hn::Vec<FullTag<T>> sum[2][3];
  MLUOPS_UNROLL
  for (int j = 0; j < 3; ++j) sum[0][j] = sum[1][j] = hn::Zero(d);
  const auto add = [&](std::int64_t c, hn::Vec<FullTag<T>>* to) HWY_ATTR {
    const auto own = load(d, grad + c);
    MLUOPS_UNROLL
    for (int j = 0; j < 3; ++j) to[j] = hn::MulAdd(own, load(d, rows[j] + c), to[j]);
  };
  std::int64_t c = 0;
  for (; c + 2 * lanes <= channels; c += 2 * lanes) add(c, sum[0]), add(c + lanes, sum[1]);
  if (c + lanes <= channels) add(c, sum[0]), c += lanes;
  HWY_ALIGN A whole[4];
  sum_4_vectors(d, hn::Add(sum[0][0], sum[1][0]), hn::Add(sum[0][1], sum[1][1]), hn::Add(sum[0][2], sum[1][2]),
                hn::Zero(d), whole);
  for (int j = 0; j < 3; ++j) {
    sums[j] = whole[j];
    for (std::int64_t k = c; k < channels; ++k) sums[j] += to_acc(grad[k]) * to_acc(rows[j][k]);
  }
}

/// Points [first, first + points) of image b, kPoints at most; grad [points, c] is scratch.
template <class T>
void weigh_points(const WeightProblem& p, const T* rows, std::int64_t b, std::int64_t first, std::int64_t points,
                  T* grad) {
  using A = Acc<T>;
  const Shape& s = p.shape;
  transpose_panel(static_cast<const Moved<T>*>(p.grad_output) + b * s.c * s.n + first, s.n, s.c, points,
                  reinterpret_cast<Moved<T>*>(grad), s.c);
  A sums[3 * kPoints];
  for (std::int64_t i = 0; i < points; ++i) {
    const std::int32_t* const indices = p.indices + 3 * (b * s.n + first + i);
    const T* neighbours[3];
    const auto inside = [&](int j) { return indices[j] >= 0 && indices[j] < s.m; };
    for (int j = 0; j < 3; ++j) neighbours[j] = rows + (b * s.m + (inside(j) ? indices[j] : 0)) * s.c;
    products(grad + i * s.c, neighbours, s.c, sums + 3 * i);
    for (int j = 0; j < 3; ++j) {
      if (!inside(j)) sums[3 * i + j] = A{0};
    }
  }
  store_row(sums, static_cast<T*>(p.grad_weights) + 3 * (b * s.n + first), 3 * points);
}

template <class T>
mluOpStatus_t backward_weight(Context& context, const mluopsCall& call, const WeightProblem& p) {
  const Shape& s = p.shape;
  const std::int64_t runs = ceil_div(s.n, kPoints);
  const Loop loop(context, call, s.b * runs, 4 * cost::kElement * static_cast<double>(kPoints * s.c));
  T* const stages = context.arena.reserve_array<T>(loop.slots(), kPoints, s.c);
  T* const rows = context.images.reserve_array<T>(s.b, s.m, s.c);
  if (stages == nullptr || rows == nullptr) return no_memory(call);
  layout::transpose(context, call, {s.b, s.c, s.m, sizeof(T)}, p.features, rows);
  loop.run([&](std::int64_t begin, std::int64_t end, int slot) HWY_ATTR {
    for (std::int64_t i = begin; i < end; ++i) {
      const std::int64_t first = i % runs * kPoints;
      weigh_points(p, rows, i / runs, first, std::min(kPoints, s.n - first), stages + slot * kPoints * s.c);
    }
  });
  return MLUOP_STATUS_SUCCESS;
}

}  // namespace
}  // namespace mluops::cpu::three_interpolate::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

MLUOPS_CPU_ENTRY(three_interpolate_backward_weight, three_interpolate, backward_weight,
                 mluopsThreeInterpolateBackwardWeightProblem, with_element)
