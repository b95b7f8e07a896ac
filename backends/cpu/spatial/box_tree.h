// Points in space in leaves of 32 that are near to each other, and boxes round 16 leaves, round 16 boxes, and so on.
//
// A search compares one point with 16 boxes or 32 points at a time (search-inl.h). Nothing is lost to rounding: the
// distance to a box is computed by the operations, in the order, that give the distance to a point. Each of them is
// monotone, rounded or not, so the one is never greater than the other for a point in the box.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

#include "backends/cpu/runtime/arena.h"
#include "backends/cpu/runtime/machine.h"
#include "backends/cpu/simd/element.h"
#include "common/shape.h"

namespace mluops::cpu::spatial {

constexpr std::int64_t kLeafPoints = 32, kFan = 16;
constexpr int kMostLevels = 8;  ///< 32 * 16^8 points

/// Up to 32 points; the rest are NaN, which no comparison finds near.
template <class A>
struct alignas(64) Leaf {
  A x[kLeafPoints], y[kLeafPoints], z[kLeafPoints];
  std::int32_t index[kLeafPoints];  ///< which of the points; -1 behind the last one
};

/// The boxes of up to 16 children, axis by axis, and the least index of a point in each.
template <class A>
struct alignas(64) Boxes {
  A low[3][kFan], high[3][kFan];
  std::int32_t least[kFan];
};

template <class A>
struct Entry {
  A at[3];
  std::int32_t index;
};

/// How many Boxes a tree of so many leaves has: those of level 0 hold leaves, the last level is one Boxes.
class Levels {
 public:
  explicit Levels(std::int64_t leaves) {
    std::int64_t children = leaves;
    do {
      children_[count_] = children;
      begin_[count_++] = boxes_;
      children = ceil_div(children, kFan);
      boxes_ += children;
    } while (children > 1);
  }

  int count() const { return count_; }
  std::int64_t boxes() const { return boxes_; }
  std::int64_t leaves() const { return children_[0]; }
  std::int64_t begin(int level) const { return begin_[level]; }
  std::int64_t nodes(int level) const { return ceil_div(children_[level], kFan); }
  std::int64_t children(int level, std::int64_t node) const {
    const std::int64_t left = children_[level] - node * kFan;
    return left < kFan ? left : kFan;
  }

 private:
  int count_ = 0;
  std::int64_t boxes_ = 0, begin_[kMostLevels] = {}, children_[kMostLevels] = {};
};

template <class A>
struct BoxTree {
  Leaf<A>* leaves;
  Boxes<A>* boxes;
  Levels levels;  ///< of the finite points; without any there are no leaves, and nothing to search

  Boxes<A>& node(int level, std::int64_t which) const { return boxes[levels.begin(level) + which]; }
};

inline std::int64_t leaves_of(std::int64_t points) {
  return ceil_div(points, kLeafPoints);
}

/// points [n,3] in their own order, 32 to a leaf.
template <class T>
void fill_leaves(const T* points, std::int64_t n, Leaf<Acc<T>>* leaves);

/// The tree of the finite ones of points [n,3]; `entries` has room for n. Median cuts across the widest side, so leaves
/// are full but the last, whatever the points look like: n * log2(n / 32) steps.
template <class T>
BoxTree<Acc<T>> build_tree(const T* points, std::int64_t n, Entry<Acc<T>>* entries, Leaf<Acc<T>>* leaves,
                           Boxes<Acc<T>>* boxes);

/// Sets of n points each: `sorted`, in trees, up to `slots` of them built at a time; else in leaves in their own order.
template <class A>
struct PointSets {
  bool sorted;
  std::int64_t points, leaves_each, boxes_each;
  BoxTree<A>* trees;
  Leaf<A>* leaves;
  Boxes<A>* boxes;
  Entry<A>* entries;

  PointSets(Allocator& allocator, std::int64_t n, std::int64_t count, bool sorted_, std::int64_t slots)
      : sorted(sorted_),
        points(n),
        leaves_each(leaves_of(n)),
        boxes_each(sorted ? Levels(leaves_each).boxes() : 0),
        trees(allocator.allocate<BoxTree<A>>(sorted ? count : 0)),
        leaves(allocator.allocate<Leaf<A>>(count, leaves_each)),
        boxes(allocator.allocate<Boxes<A>>(count, boxes_each)),
        entries(allocator.allocate<Entry<A>>(sorted ? slots : 0, n)) {}

  const BoxTree<A>& tree(std::int64_t i) const { return trees[i]; }
  std::span<const Leaf<A>> list(std::int64_t i) const {
    return {leaves + i * leaves_each, static_cast<std::size_t>(leaves_each)};
  }
  /// Set i, of points [n,3].
  template <class T>
  void fill(std::int64_t i, const T* from, std::int64_t slot) const {
    Leaf<A>* const own = leaves + i * leaves_each;
    if (!sorted) return fill_leaves(from, points, own);
    trees[i] = build_tree(from, points, entries + slot * points, own, boxes + i * boxes_each);
  }
};

/// Nanoseconds it takes to build the tree of n points, about, or to list them.
inline double build_ns(std::int64_t n, bool sorted = true) {
  if (!sorted) return static_cast<double>(n);
  return 3 * cost::kStep * static_cast<double>(n) * (1 + std::bit_width(static_cast<std::uint64_t>(n / kLeafPoints)));
}

/// What a search for so many nearest points costs, in a tree or, beside the distances, in a list.
inline double search_ns(std::int64_t count) {
  return cost::kStep * static_cast<double>(50 + 20 * count);
}

}  // namespace mluops::cpu::spatial
