// The gradient of few features by gathering: for each feature a list of the points it takes from, the same for all
// channels. Include after foreach_target.h, like simd.h.
//
// Adding a point to three rows of sums stores three cache lines, two cycles each. By lists it stores one, the point's
// gradients turned; the sums of a feature stay in a register for a whole run of points.
#include <utility>

#include "backends/cpu/simd.h"
#include "backends/cpu/three_interpolate.h"
#include "backends/cpu/three_interpolate_rows.h"

#if defined(MLUOPS_CPU_THREE_INTERPOLATE_LISTS_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HWY_TARGET_TOGGLE
#undef MLUOPS_CPU_THREE_INTERPOLATE_LISTS_H_
#else
#define MLUOPS_CPU_THREE_INTERPOLATE_LISTS_H_
#endif

HWY_BEFORE_NAMESPACE();
namespace mluops::cpu::HWY_NAMESPACE {

#if HWY_TARGET <= HWY_AVX3
using three_interpolate::kListedFeatures;
using three_interpolate::kListedPoints;
using three_interpolate::kListsAtOnce;
using three_interpolate::ListArrays;

/// The lists of one run of points. Features are sorted by the length of their lists, so that those of a group are about
/// equal and the loops over them end where the last one did.
template <class A>
struct Run {
  std::uint32_t* lengths;  ///< [groups]: steps of a group; those after a 0 have none
  std::uint32_t* sums;     ///< [groups, kListsAtOnce]: where the sums of a feature lie
  std::uint32_t* points;   ///< [steps, kListsAtOnce]: where a turned point lies
  A* weights;              ///< of it
};

/// Counts in `starts`, of M features and one out of range, how many neighbours each has; `order` becomes the features
/// by falling count.
inline void sort_features(std::int64_t m, const std::uint32_t* rows, std::int64_t count, std::uint32_t* counts,
                          std::uint32_t* order) {
  std::fill_n(counts, m + 1, 0u);
  for (std::int64_t i = 0; i < count; ++i) ++counts[rows[i]];
  const std::uint32_t most = *std::max_element(counts, counts + m);
  std::uint32_t first[3 * kListedPoints + 2];  // of a count: where its features go in `order`
  std::fill_n(first, most + 2, 0u);
  for (std::int64_t f = 0; f < m; ++f) ++first[most - counts[f] + 1];
  for (std::uint32_t i = 0; i < most; ++i) first[i + 1] += first[i];
  for (std::int64_t f = 0; f < m; ++f) order[first[most - counts[f]]++] = static_cast<std::uint32_t>(f);
}

/// The lists of `points` points; returns the steps of all groups. A list is in order of the points, shorter ones of a
/// group end with a row of zeros behind the points, weight 0.
template <class A>
std::int64_t make_lists(std::int64_t m, const Neighbours<A>& near, std::int64_t points, const Run<A>& run) {
  constexpr std::int64_t block = kBlock<A>;
  const auto nothing = static_cast<std::uint32_t>(points * block);
  std::uint32_t counts[kListedFeatures + 1], order[kListedFeatures + kListsAtOnce];
  sort_features(m, near.rows, 3 * points, counts, order);
  std::fill_n(order + m, kListsAtOnce, static_cast<std::uint32_t>(m));
  counts[m] = 0;
  std::uint32_t next[kListedFeatures + 1];  // of a feature: where its next point goes
  std::int64_t steps = 0;
  for (std::int64_t f = 0; f < m; f += kListsAtOnce) {
    const std::uint32_t length = counts[order[f]];
    run.lengths[f / kListsAtOnce] = length;
    for (std::int64_t k = 0; k < kListsAtOnce; ++k) {
      const std::uint32_t feature = order[f + k];
      run.sums[f + k] = feature * static_cast<std::uint32_t>(block);
      next[feature] = static_cast<std::uint32_t>(steps * kListsAtOnce + k);
      for (std::int64_t step = steps + counts[feature]; step < steps + length; ++step) {
        run.points[step * kListsAtOnce + k] = nothing;
        run.weights[step * kListsAtOnce + k] = 0;
      }
    }
    steps += length;
  }
  const std::uint32_t* row = near.rows;
  const A* weight = near.weights;
  for (std::uint32_t point = 0; point != nothing; point += static_cast<std::uint32_t>(block)) {
    for (int k = 0; k < 3; ++k, ++row, ++weight) {
      if (*row == m) continue;
      const std::uint32_t at = std::exchange(next[*row], next[*row] + kListsAtOnce);
      run.points[at] = point;
      run.weights[at] = *weight;
    }
  }
  return steps;
}

/// Adds the lists' points, turned, to the sums of their features. Meanwhile asks for memory that will be read later, a
/// line per step and some more per group.
template <class A>
void add_lists(const Run<A>& lists, std::int64_t groups, const A* HWY_RESTRICT turned, A* HWY_RESTRICT sums,
               const char* ahead, std::int64_t lines_per_group) {
  const hn::ScalableTag<A> d;
  const std::uint32_t* points = lists.points;
  const A* weights = lists.weights;
  for (std::int64_t g = 0; g < groups; ++g) {
    const std::uint32_t* const to = lists.sums + g * kListsAtOnce;
    hn::Vec<decltype(d)> sum[kListsAtOnce];
    HWY_UNROLL(4)
    for (int k = 0; k < kListsAtOnce; ++k) sum[k] = hn::Load(d, sums + to[k]);
    for (const auto* const end = points + std::int64_t{lists.lengths[g]} * kListsAtOnce; points != end;
         points += kListsAtOnce, weights += kListsAtOnce, ahead += 64) {
      __builtin_prefetch(ahead, 0, 2);
      HWY_UNROLL(4)
      for (int k = 0; k < kListsAtOnce; ++k) {
        sum[k] = hn::MulAdd(hn::Set(d, weights[k]), hn::Load(d, turned + points[k]), sum[k]);
      }
    }
    prefetch_bytes<2>(ahead, 64 * lines_per_group);
    ahead += 64 * lines_per_group;
    HWY_UNROLL(4)
    for (int k = 0; k < kListsAtOnce; ++k) hn::Store(sum[k], d, sums + to[k]);
  }
}

/// The lists of the image a task works on, run by run.
template <class T>
class ListsOfImage {
  using A = Acc<T>;

 public:
  ListsOfImage(const Shape& s, const std::int32_t* indices, const void* weights, const ListArrays<A>& arrays,
               std::int64_t slot)
      : s_(s), indices_(indices), raw_(static_cast<const T*>(weights)), arrays_(arrays), slot_(slot) {}

  void move_to(std::int64_t b) {
    if (b == image_) return;
    image_ = b;
    std::int64_t steps = 0;
    for (std::int64_t r = 0; r < arrays_.runs; ++r) {
      const std::int64_t first = b * s_.n + r * kListedPoints, points = points_of(r);
      const Neighbours<A> near = arrays_.near(slot_);
      check_neighbours(s_.m, indices_ + 3 * first, raw_ + 3 * first, 3 * points, near.rows, near.weights);
      *arrays_.first_step(slot_, r) = steps;
      steps += make_lists(s_.m, near, points, run(r));
    }
  }

  /// The gradient of one block of channels: sums[point, kBlock] of all features.
  void add_block(const Rows<const T>& in, A* turned, A* sums) const {
    const std::int64_t groups = arrays_.groups;
    for (std::int64_t r = 0; r < arrays_.runs; ++r) {
      const std::int64_t points = points_of(r), size = static_cast<std::int64_t>(sizeof(T));
      turn_in(Rows<const T>{in.first + r * kListedPoints, in.pitch, in.channels}, points, turned);
      // The next block of channels follows in memory; as much of it as was turned is asked for.
      const T* const ahead = in.first + kBlock<A> * (in.pitch + r * kListedPoints);
      const std::int64_t lines = kBlock<A> * points * size / 64 - 3 * points / kListsAtOnce;
      add_lists(run(r), groups, turned, sums, reinterpret_cast<const char*>(ahead),
                std::max<std::int64_t>(0, ceil_div(lines, groups)));
    }
  }

 private:
  std::int64_t points_of(std::int64_t r) const { return std::min(kListedPoints, s_.n - r * kListedPoints); }
  Run<A> run(std::int64_t r) const {
    const std::int64_t pair = (arrays_.pairs * slot_) + *arrays_.first_step(slot_, r) * kListsAtOnce;
    const std::int64_t group = (slot_ * arrays_.runs + r) * arrays_.groups;
    return {arrays_.lengths + group, arrays_.sums + group * kListsAtOnce, arrays_.points + pair,
            arrays_.weights + pair};
  }

  const Shape& s_;
  const std::int32_t* indices_;
  const T* raw_;
  const ListArrays<A>& arrays_;
  std::int64_t slot_, image_ = -1;
};
#endif

}  // namespace mluops::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
