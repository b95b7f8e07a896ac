// Distances from a point to the points of a leaf and to the boxes of a node, and the way down a tree. Include after
// foreach_target.h, like simd-inl.h.
#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>

#include "backends/cpu/simd/bits-inl.h"
#include "backends/cpu/simd/simd-inl.h"
#include "backends/cpu/spatial/box_tree.h"

#if defined(MLUOPS_CPU_SPATIAL_SEARCH_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HWY_TARGET_TOGGLE
#undef MLUOPS_CPU_SPATIAL_SEARCH_INL_H_
#else
#define MLUOPS_CPU_SPATIAL_SEARCH_INL_H_
#endif

HWY_BEFORE_NAMESPACE();
namespace mluops::cpu::spatial::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
using cpu::HWY_NAMESPACE::bits_of;
using cpu::HWY_NAMESPACE::kLanes;

/// Where a search starts from.
template <class A>
struct Point {
  A x, y, z;

  template <class T>
  static Point read(const T* p) {
    return {to_acc(p[0]), to_acc(p[1]), to_acc(p[2])};
  }
  bool is_finite() const { return std::isfinite(x) && std::isfinite(y) && std::isfinite(z); }
};

/// (x^2 + y^2) + z^2, each operation rounded, none fused.
template <class V>
HWY_INLINE V squared_length(V x, V y, V z) {
  return hn::Add(hn::Add(hn::Mul(x, x), hn::Mul(y, y)), hn::Mul(z, z));
}

/// Squared distances to the points [i, i + lanes) of a leaf.
template <class D, class A = hn::TFromD<D>>
HWY_INLINE hn::Vec<D> distances(D d, const Point<A>& from, const Leaf<A>& leaf, std::int64_t i) {
  return squared_length(hn::Sub(hn::Set(d, from.x), hn::Load(d, leaf.x + i)),
                        hn::Sub(hn::Set(d, from.y), hn::Load(d, leaf.y + i)),
                        hn::Sub(hn::Set(d, from.z), hn::Load(d, leaf.z + i)));
}

/// A point that was found. Those at one distance are ordered by index, so it does not matter in which order points are
/// seen; -1 comes before all: no point beats one that is missing by its index.
template <class A>
struct Neighbour {
  A distance;
  std::int32_t index;

  bool operator<(const Neighbour& other) const {
    return distance < other.distance || (distance == other.distance && index < other.index);
  }
};

/// How far outside [low, high] a coordinate is.
template <class D, class A = hn::TFromD<D>>
HWY_INLINE hn::Vec<D> outside(D d, A from, const A* low, const A* high) {
  const auto at = hn::Set(d, from);
  return hn::Max(hn::Max(hn::Sub(hn::Load(d, low), at), hn::Sub(at, hn::Load(d, high))), hn::Zero(d));
}

/// Squared distances to the boxes [i, i + lanes) of a node: at most those of all points inside.
template <class D, class A = hn::TFromD<D>>
HWY_INLINE hn::Vec<D> lower_bounds(D d, const Point<A>& from, const Boxes<A>& boxes, std::int64_t i) {
  return squared_length(outside(d, from.x, boxes.low[0] + i, boxes.high[0] + i),
                        outside(d, from.y, boxes.low[1] + i, boxes.high[1] + i),
                        outside(d, from.z, boxes.low[2] + i, boxes.high[2] + i));
}

/// Squared distances to the farthest corners of the boxes [i, i + lanes): at least those of all points inside.
template <class D, class A = hn::TFromD<D>>
HWY_INLINE hn::Vec<D> upper_bounds(D d, const Point<A>& from, const Boxes<A>& boxes, std::int64_t i) {
  const auto farthest = [&](A at, int axis) HWY_ATTR {
    return hn::Max(hn::Abs(hn::Sub(hn::Set(d, at), hn::Load(d, boxes.low[axis] + i))),
                   hn::Abs(hn::Sub(hn::Set(d, at), hn::Load(d, boxes.high[axis] + i))));
  };
  return squared_length(farthest(from.x, 0), farthest(from.y, 1), farthest(from.z, 2));
}

/// Which of the points at these distances are within a bound, those at the bound itself only below an index.
template <class D, class A = hn::TFromD<D>>
HWY_INLINE hn::Mask<D> points_within(D d, hn::Vec<D> distance, const std::int32_t* index, A bound, std::int32_t last) {
  const hn::RebindToSigned<D> di;
  const auto indices = [&]() HWY_ATTR {
    if constexpr (sizeof(A) == sizeof(std::int32_t)) return hn::LoadU(di, index);
    if constexpr (sizeof(A) != sizeof(std::int32_t)) {
      return hn::PromoteTo(di, hn::LoadU(hn::Rebind<std::int32_t, D>(), index));
    }
  };
  const auto before = hn::RebindMask(d, hn::Lt(indices(), hn::Set(di, last))),
             equal = hn::Eq(distance, hn::Set(d, bound));
  return hn::Or(hn::Lt(distance, hn::Set(d, bound)), hn::And(equal, before));
}

/// nearest.take(neighbour) for the points of a leaf that are at most nearest.bound() away, which may shrink meanwhile.
/// Points at the bound from nearest.last_index() on are left out at once: there may be many.
template <class A, class Nearest>
HWY_INLINE void take_near(const Leaf<A>& leaf, const Point<A>& from, Nearest& nearest) {
  const hn::CappedTag<A, kLeafPoints> d;
  HWY_ALIGN A found[kLeafPoints];
  for (std::int64_t i = 0; i < kLeafPoints; i += static_cast<std::int64_t>(hn::Lanes(d))) {
    const auto all = distances(d, from, leaf, i);
    std::uint32_t near = bits_of(d, hn::Le(all, hn::Set(d, nearest.bound())));
    if (near == 0) continue;
    near = bits_of(d, points_within(d, all, leaf.index + i, nearest.bound(), nearest.last_index()));
    hn::Store(all, d, found);
    for (; near != 0; near &= near - 1) {
      const int lane = std::countr_zero(near);
      nearest.take({found[lane], leaf.index[i + lane]});
    }
  }
}

/// A bit for each of the first `children` boxes that may have points as near as `bound`; their lower bounds.
template <class A>
HWY_INLINE std::uint32_t boxes_within(const Boxes<A>& boxes, std::int64_t children, const Point<A>& from, A bound,
                                      A* HWY_RESTRICT lower) {
  const hn::CappedTag<A, kFan> d;
  std::uint32_t bits = 0;
  for (std::int64_t i = 0; i < kFan; i += static_cast<std::int64_t>(hn::Lanes(d))) {
    const auto to_box = lower_bounds(d, from, boxes, i);
    hn::Store(to_box, d, lower + i);
    bits |= bits_of(d, hn::Le(to_box, hn::Set(d, bound))) << i;
  }
  return bits & ((std::uint32_t{1} << children) - 1);
}

template <class A>
HWY_INLINE int nearest_of(const A* lower, std::uint32_t open) {
  int nearest = std::countr_zero(open);
  for (open &= open - 1; open != 0; open &= open - 1) {
    const int child = std::countr_zero(open);
    if (lower[child] < lower[nearest]) nearest = child;
  }
  return nearest;
}

/// Whether a box at the distance `lower`, which is not above the bound, may have a point that a visitor wants. One that
/// prefers, of points at one distance, the lesser index, says by last_index() up to which: so that of many points at
/// one place few are seen.
template <class A, class Visitor>
HWY_INLINE bool wanted(A lower, std::int32_t least, const Visitor& visitor) {
  if constexpr (requires { visitor.last_index(); }) {
    return lower < visitor.bound() || least < visitor.last_index();
  } else {
    return true;
  }
}

/// visitor(leaf) for every leaf that may have a point as near as visitor.bound(), which may shrink meanwhile; the
/// nearest child of a node first where kNearestFirst says so.
template <bool kNearestFirst, class A, class Visitor>
void search(const BoxTree<A>& tree, int level, std::int64_t node, const Point<A>& from, Visitor& visitor) {
  HWY_ALIGN A lower[kFan];
  const Boxes<A>& boxes = tree.node(level, node);
  std::uint32_t open = boxes_within(boxes, tree.levels.children(level, node), from, visitor.bound(), lower);
  while (open != 0) {
    const int child = kNearestFirst ? nearest_of(lower, open) : std::countr_zero(open);
    if (kNearestFirst && lower[child] > visitor.bound()) return;
    open &= ~(std::uint32_t{1} << child);
    if (!wanted(lower[child], boxes.least[child], visitor)) continue;
    const std::int64_t below = node * kFan + child;
    if (level == 0) {
      visitor(tree.leaves[below]);
    } else {
      search<kNearestFirst>(tree, level - 1, below, from, visitor);
    }
  }
}

/// Searches from the root. A point that is not finite is near to nothing.
template <bool kNearestFirst, class A, class Visitor>
void search(const BoxTree<A>& tree, const Point<A>& from, Visitor& visitor) {
  if (tree.levels.leaves() == 0 || !from.is_finite()) return;
  search<kNearestFirst>(tree, tree.levels.count() - 1, 0, from, visitor);
}

/// Room for what search_by_index has yet to look at: every node and leaf of a tree.
inline std::int64_t pending_of(std::int64_t points) {
  return leaves_of(points) + Levels(leaves_of(points)).boxes();
}

/// visitor(leaf) for the leaves that visitor.children_of(boxes, children) lets through, those with the least index
/// first, while that is less than visitor.last_index(): a search for the k least indices sees at most k leaves all of
/// whose points it wants, however many there are. `pending` is a heap of (least index, level above, which).
template <class A, class Visitor>
void search_by_index(const BoxTree<A>& tree, std::uint64_t* pending, Visitor& visitor) {
  constexpr int kIndexShift = 32, kLevelShift = 27;  // a leaf has level 0; of 2^31 points there are 2^26
  const auto later = std::greater<std::uint64_t>();
  std::uint64_t* end = pending;
  const auto expand = [&](int level, std::int64_t node) HWY_ATTR {
    const Boxes<A>& boxes = tree.node(level, node);
    for (std::uint32_t bits = visitor.children_of(boxes, tree.levels.children(level, node)); bits != 0;
         bits &= bits - 1) {
      const int child = std::countr_zero(bits);
      if (boxes.least[child] >= visitor.last_index()) continue;
      *end++ = static_cast<std::uint64_t>(boxes.least[child]) << kIndexShift |
               static_cast<std::uint64_t>(level) << kLevelShift | static_cast<std::uint64_t>(node * kFan + child);
      std::push_heap(pending, end, later);
    }
  };
  if (tree.levels.leaves() > 0) expand(tree.levels.count() - 1, 0);
  while (end != pending && static_cast<std::int32_t>(*pending >> kIndexShift) < visitor.last_index()) {
    const std::uint64_t next = *pending;
    std::pop_heap(pending, end--, later);
    const int level = static_cast<int>(next >> kLevelShift & 31);
    const auto which = static_cast<std::int64_t>(next & ((std::uint64_t{1} << kLevelShift) - 1));
    if (level == 0) {
      visitor(tree.leaves[which]);
    } else {
      expand(level - 1, which);
    }
  }
}

/// Searches set i of PointSets that are sorted or not, from visitor.from().
template <bool kSorted, class A, class Visitor>
HWY_INLINE void search_set(const PointSets<A>& sets, std::int64_t i, Visitor& visitor) {
  if constexpr (kSorted) {
    search<true>(sets.tree(i), visitor.from(), visitor);
  } else {
    for (const Leaf<A>& leaf : sets.list(i)) visitor(leaf);
  }
}

}  // namespace mluops::cpu::spatial::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
