// FurthestPointSample: M times the point whose distance to those picked before is greatest.
//
// The points of an image are sorted into a box tree (spatial/box_tree.h), and each leaf and each group of 16 leaves
// knows its greatest distance. A new point can only lower distances greater than its own distance to the box, so after
// the first picks it changes a few leaves near to it: about log(M) visits of a leaf instead of M. The distances are
// those of the plain loop, bit for bit.
//
// points [B,N,3], idx [B,M]. An item is an image, since each pick waits for the one before; distances stay in the
// caches.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/kernels/furthest_point_sample/points.cpp"
#include <hwy/foreach_target.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "backends/cpu/dispatch.h"
#include "backends/cpu/kernels/furthest_point_sample/order.h"
#include "backends/cpu/spatial/search-inl.h"
#include "mluops/problem/furthest_point_sample.h"

HWY_BEFORE_NAMESPACE();
namespace mluops::cpu::furthest_point_sample::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
using namespace spatial;
using namespace spatial::HWY_NAMESPACE;
namespace {

using Problem = mluopsFurthestPointSampleProblem;

/// Distance of a point before any other is picked, and of a point that is not finite for ever.
constexpr double kStart = 1e10;
constexpr std::uint32_t kNoKey = std::numeric_limits<std::uint32_t>::max();

/// Distances and keys of up to 32 points; behind the last one -1, which is never the greatest.
template <class A>
struct alignas(64) LeafState {
  A distance[kLeafPoints];
  std::uint32_t key[kLeafPoints];
};

/// The furthest point of each of 16 children.
template <class A>
struct alignas(64) Summary {
  A distance[kFan];
  std::uint32_t key[kFan];

  void set(std::int64_t child, const Furthest<A>& furthest) {
    distance[child] = furthest.distance;
    key[child] = furthest.key;
  }
};

/// The working memory of one image.
template <class A>
struct Arrays {
  std::int64_t groups, summaries;
  PointSets<A> trees;
  LeafState<A>* states;
  Summary<A>* of_leaves;  ///< [groups]
  Summary<A>* of_groups;  ///< [summaries]

  Arrays(Allocator& allocator, std::int64_t n, std::int64_t slots)
      : groups(ceil_div(leaves_of(n), kFan)),
        summaries(ceil_div(groups, kFan)),
        trees(allocator, n, slots, true, slots),
        states(allocator.allocate<LeafState<A>>(slots, leaves_of(n))),
        of_leaves(allocator.allocate<Summary<A>>(slots, groups)),
        of_groups(allocator.allocate<Summary<A>>(slots, summaries)) {}
};

/// A bit for each of 16 boxes with a point that is further from those picked than from the box.
template <class A>
HWY_INLINE std::uint32_t boxes_to_update(const Boxes<A>& boxes, const Point<A>& from, const Summary<A>& summary) {
  const hn::CappedTag<A, kFan> d;
  std::uint32_t bits = 0;
  for (std::int64_t i = 0; i < kFan; i += static_cast<std::int64_t>(hn::Lanes(d))) {
    bits |= bits_of(d, hn::Lt(lower_bounds(d, from, boxes, i), hn::Load(d, summary.distance + i))) << i;
  }
  return bits;
}

/// The furthest of kCount points, of which `most` has the greatest distance in one of its lanes.
template <std::int64_t kCount, class D, class A = hn::TFromD<D>>
HWY_INLINE Furthest<A> furthest_of(D d, hn::Vec<D> most, const A* distance, const std::uint32_t* key) {
  const auto greatest = hn::MaxOfLanes(d, most);
  Furthest<A> furthest{hn::GetLane(greatest), kNoKey};
  for (std::int64_t i = 0; i < kCount; i += static_cast<std::int64_t>(hn::Lanes(d))) {
    std::uint32_t equal = bits_of(d, hn::Eq(hn::Load(d, distance + i), greatest));
    for (; equal != 0; equal &= equal - 1) furthest.key = std::min(furthest.key, key[i + std::countr_zero(equal)]);
  }
  return furthest;
}

template <class A>
HWY_INLINE Furthest<A> furthest_of(const Summary<A>& summary) {
  const hn::CappedTag<A, kFan> d;
  auto most = hn::Load(d, summary.distance);
  for (std::int64_t i = static_cast<std::int64_t>(hn::Lanes(d)); i < kFan;
       i += static_cast<std::int64_t>(hn::Lanes(d))) {
    most = hn::Max(most, hn::Load(d, summary.distance + i));
  }
  return furthest_of<kFan>(d, most, summary.distance, summary.key);
}

/// One image.
template <class A>
class Sampler {
 public:
  Sampler(const Arrays<A>& arrays, std::int64_t slot, std::int64_t n)
      : order_(n),
        tree_(arrays.trees.tree(slot)),
        groups_(ceil_div(tree_.levels.leaves(), kFan)),
        states_(arrays.states + slot * arrays.trees.leaves_each),
        of_leaves_(arrays.of_leaves + slot * arrays.groups),
        of_groups_(arrays.of_groups + slot * arrays.summaries) {}

  template <class T>
  void start(const T* points, std::int64_t n) {
    for (std::int64_t i = 0; i < n; ++i) {
      if (!Point<A>::read(points + 3 * i).is_finite()) not_finite_.consider(static_cast<A>(kStart), order_.key(i));
    }
    std::fill_n(of_leaves_, groups_, kNothing);
    std::fill_n(of_groups_, ceil_div(groups_, kFan), kNothing);
    for (std::int64_t leaf = 0; leaf < tree_.levels.leaves(); ++leaf) start_leaf(leaf);
    for (std::int64_t group = 0; group < groups_; ++group) sum_up(group);
  }

  /// Lowers the distances of all points to those from `picked`. None is nearer to a point that is not finite.
  void update(const Point<A>& picked) {
    if (!picked.is_finite() || groups_ == 0) return;
    if (tree_.levels.count() == 1) return update_group(0, picked);
    for (std::int64_t node = 0; node < tree_.levels.nodes(1); ++node) {
      std::uint32_t open = boxes_to_update(tree_.node(1, node), picked, of_groups_[node]);
      open &= (std::uint32_t{1} << tree_.levels.children(1, node)) - 1;
      for (; open != 0; open &= open - 1) update_group(node * kFan + std::countr_zero(open), picked);
    }
  }

  std::int32_t furthest() const {
    Furthest<A> furthest = not_finite_;
    for (std::int64_t i = 0; i < ceil_div(groups_, kFan); ++i) {
      const Furthest<A> of_summary = furthest_of(of_groups_[i]);
      furthest.consider(of_summary.distance, of_summary.key);
    }
    return order_.point(furthest.key);
  }

 private:
  static constexpr Summary<A> kNothing = [] {
    Summary<A> nothing = {};
    std::fill_n(nothing.distance, kFan, A{-1});
    std::fill_n(nothing.key, kFan, kNoKey);
    return nothing;
  }();

  void start_leaf(std::int64_t leaf) {
    LeafState<A>& state = states_[leaf];
    Furthest<A> furthest{static_cast<A>(-1), kNoKey};
    for (std::int64_t i = 0; i < kLeafPoints; ++i) {
      const std::int32_t index = tree_.leaves[leaf].index[i];
      state.distance[i] = index < 0 ? A{-1} : static_cast<A>(kStart);
      state.key[i] = index < 0 ? kNoKey : order_.key(index);
      furthest.consider(state.distance[i], state.key[i]);
    }
    of_leaves_[leaf / kFan].set(leaf % kFan, furthest);
  }

  void update_group(std::int64_t group, const Point<A>& picked) {
    std::uint32_t open = boxes_to_update(tree_.node(0, group), picked, of_leaves_[group]);
    open &= (std::uint32_t{1} << tree_.levels.children(0, group)) - 1;
    if (open == 0) return;
    for (; open != 0; open &= open - 1) update_leaf(group * kFan + std::countr_zero(open), picked);
    sum_up(group);
  }

  void update_leaf(std::int64_t leaf, const Point<A>& picked) {
    const hn::CappedTag<A, kLeafPoints> d;
    LeafState<A>& state = states_[leaf];
    auto most = hn::Set(d, A{-1});
    for (std::int64_t i = 0; i < kLeafPoints; i += static_cast<std::int64_t>(hn::Lanes(d))) {
      const auto to_picked = distances(d, picked, tree_.leaves[leaf], i), before = hn::Load(d, state.distance + i);
      const auto now = hn::IfThenElse(hn::Lt(to_picked, before), to_picked, before);
      hn::Store(now, d, state.distance + i);
      most = hn::Max(most, now);
    }
    of_leaves_[leaf / kFan].set(leaf % kFan, furthest_of<kLeafPoints>(d, most, state.distance, state.key));
  }

  void sum_up(std::int64_t group) { of_groups_[group / kFan].set(group % kFan, furthest_of(of_leaves_[group])); }

  PickOrder order_;
  const BoxTree<A>& tree_;
  std::int64_t groups_;
  LeafState<A>* states_;
  Summary<A>*of_leaves_, *of_groups_;
  Furthest<A> not_finite_{static_cast<A>(-1), kNoKey};
};

template <class T>
mluOpStatus_t sample(Context& context, const mluopsCall& call, const Problem& p) {
  using A = Acc<T>;
  const auto& s = p.shape;
  const Loop loop(context, call, s.b, build_ns(s.n) + 100 * cost::kStep * static_cast<double>(s.m));
  const auto arrays = allocate<Arrays<A>>(context.arena, s.n, std::int64_t{loop.slots()});
  if (!arrays) return no_memory(call);
  loop.run([&](std::int64_t begin, std::int64_t end, int slot) HWY_ATTR {
    for (std::int64_t b = begin; b < end; ++b) {
      const T* const points = static_cast<const T*>(p.points) + 3 * b * s.n;
      std::int32_t* const idx = p.idx + b * s.m;
      arrays->trees.fill(slot, points, slot);
      Sampler<A> sampler(*arrays, slot, s.n);
      sampler.start(points, s.n);
      idx[0] = 0;
      for (std::int64_t m = 1; m < s.m; ++m) {
        sampler.update(Point<A>::read(points + 3 * static_cast<std::int64_t>(idx[m - 1])));
        idx[m] = sampler.furthest();
      }
    }
  });
  return MLUOP_STATUS_SUCCESS;
}

}  // namespace
}  // namespace mluops::cpu::furthest_point_sample::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

MLUOPS_CPU_ENTRY(furthest_point_sample, furthest_point_sample, sample, mluopsFurthestPointSampleProblem, with_element)
