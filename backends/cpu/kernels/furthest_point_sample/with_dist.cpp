// FurthestPointSampleWithDist: M times the point whose distance to those picked before is greatest, distances given.
//
// distances [B,N,N], idx [B,M]. An item is an image, since each pick waits for the one before. A pick reads one row of
// distances, N elements nobody has read before; what it keeps, N sums, stays in the caches. Bound by memory.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/kernels/furthest_point_sample/with_dist.cpp"
#include <hwy/foreach_target.h>

#include <algorithm>
#include <limits>

#include "backends/cpu/dispatch.h"
#include "backends/cpu/kernels/furthest_point_sample/order.h"
#include "backends/cpu/simd/simd-inl.h"
#include "mluops/problem/furthest_point_sample.h"

HWY_BEFORE_NAMESPACE();
namespace mluops::cpu::furthest_point_sample::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
using namespace cpu::HWY_NAMESPACE;
namespace {

using DistProblem = mluopsFurthestPointSampleWithDistProblem;

constexpr double kStartDistance = 1e10;  ///< of a point before any other is picked

/// nearest[i] = min(nearest[i], row[i]), a NaN in the row left out. Returns the greatest, or -1 where that is more.
template <class T>
HWY_INLINE Acc<T> lower_to(const T* HWY_RESTRICT row, Acc<T>* HWY_RESTRICT nearest, std::int64_t n) {
  using A = Acc<T>;
  A most = -1;
  const FullTag<T> d;
  const auto step = static_cast<std::int64_t>(hn::Lanes(d));
  auto most_of_lane = hn::Set(d, most);
  std::int64_t i = 0;
  for (; i + step <= n; i += step) {
    const auto given = load(d, row + i), before = hn::LoadU(d, nearest + i);
    const auto now = hn::IfThenElse(hn::Lt(given, before), given, before);
    hn::StoreU(now, d, nearest + i);
    most_of_lane = hn::Max(most_of_lane, now);
  }
  for (; i < n; ++i) {
    const A given = to_acc(row[i]);
    if (given < nearest[i]) nearest[i] = given;
    most = std::max(most, nearest[i]);
  }
  return std::max(most, hn::GetLane(hn::MaxOfLanes(d, most_of_lane)));
}

/// The point that is picked among those at distance `most`, of which there are some.
template <class A>
HWY_INLINE std::int32_t pick(const PickOrder& order, const A* HWY_RESTRICT nearest, std::int64_t n, A most) {
  std::uint32_t key = std::numeric_limits<std::uint32_t>::max();
  for_lanes<A>(n, [&](auto d, std::int64_t i) HWY_ATTR {
    const auto equal = hn::Eq(hn::LoadU(d, nearest + i), hn::Set(d, most));
    if (hn::AllFalse(d, equal)) return;
    for (std::int64_t j = i; j < i + static_cast<std::int64_t>(hn::Lanes(d)); ++j) {
      if (nearest[j] == most) key = std::min(key, order.key(j));
    }
  });
  return order.point(key);
}

template <class T>
mluOpStatus_t sample_with_dist(Context& context, const mluopsCall& call, const DistProblem& p) {
  using A = Acc<T>;
  const auto& s = p.shape;
  const Loop loop(context, call, s.b, 2 * cost::kElement * static_cast<double>(s.n) * static_cast<double>(s.m));
  const std::int64_t pitch = round_up(s.n, 64 / static_cast<std::int64_t>(sizeof(A)));
  A* const all = context.arena.reserve_array<A>(loop.slots(), pitch);
  if (all == nullptr) return no_memory(call);
  const PickOrder order(s.n);
  loop.run([&](std::int64_t begin, std::int64_t end, int slot) HWY_ATTR {
    A* const nearest = all + slot * pitch;
    for (std::int64_t b = begin; b < end; ++b) {
      const T* const distances = static_cast<const T*>(p.distances) + b * s.n * s.n;
      std::int32_t* const idx = p.idx + b * s.m;
      std::fill_n(nearest, s.n, static_cast<A>(kStartDistance));
      idx[0] = 0;
      for (std::int64_t m = 1; m < s.m; ++m) {
        const A most = lower_to(distances + idx[m - 1] * s.n, nearest, s.n);
        idx[m] = most > -1 ? pick(order, nearest, s.n, most) : 0;
      }
    }
  });
  return MLUOP_STATUS_SUCCESS;
}

}  // namespace
}  // namespace mluops::cpu::furthest_point_sample::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

MLUOPS_CPU_ENTRY(furthest_point_sample_with_dist, furthest_point_sample, sample_with_dist,
                 mluopsFurthestPointSampleWithDistProblem, with_element)
