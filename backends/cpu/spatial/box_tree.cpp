#include "backends/cpu/spatial/box_tree.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace mluops::cpu::spatial {
namespace {

template <class A>
void put(Leaf<A>& leaf, std::int64_t slot, const Entry<A>& e) {
  leaf.x[slot] = e.at[0], leaf.y[slot] = e.at[1], leaf.z[slot] = e.at[2];
  leaf.index[slot] = e.index;
}

template <class A>
constexpr Entry<A> kNoPoint = {
    {std::numeric_limits<A>::quiet_NaN(), std::numeric_limits<A>::quiet_NaN(), std::numeric_limits<A>::quiet_NaN()},
    -1};

template <class T>
Entry<Acc<T>> entry_of(const T* points, std::int64_t i) {
  const T* const p = points + 3 * i;
  return {{to_acc(p[0]), to_acc(p[1]), to_acc(p[2])}, static_cast<std::int32_t>(i)};
}

template <class A>
struct Box {
  A low[3], high[3];
  std::int32_t least;

  explicit Box(const Entry<A>& e) : low{e.at[0], e.at[1], e.at[2]}, high{e.at[0], e.at[1], e.at[2]}, least(e.index) {}
  void add(const Entry<A>& e) {
    least = std::min(least, e.index);
    for (int axis = 0; axis < 3; ++axis) {
      low[axis] = std::min(low[axis], e.at[axis]);
      high[axis] = std::max(high[axis], e.at[axis]);
    }
  }
  int widest() const {
    int widest = 0;
    for (int axis = 1; axis < 3; ++axis) {
      if (high[axis] - low[axis] > high[widest] - low[widest]) widest = axis;
    }
    return widest;
  }
};

template <class A>
Box<A> box_of(const Entry<A>* entries, std::int64_t count) {
  Box<A> box(entries[0]);
  for (std::int64_t i = 1; i < count; ++i) box.add(entries[i]);
  return box;
}

/// Moves entries below the pivot, or those not above it, to the front; returns how many. Without branches: which way an
/// entry goes nobody could predict.
template <class A, class Below>
std::int64_t partition(Entry<A>* entries, std::int64_t count, Below below) {
  std::int64_t front = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    const Entry<A> e = entries[i];
    entries[i] = entries[front];
    entries[front] = e;
    front += below(e);
  }
  return front;
}

/// About the value at position `at` of the sorted coordinates, from a few of them.
template <class A>
A guess(const Entry<A>* entries, std::int64_t count, std::int64_t at, int axis) {
  constexpr std::int64_t kMost = 32;
  A sample[kMost];
  const std::int64_t size = count < 16 * kMost ? 8 : kMost;
  for (std::int64_t i = 0; i < size; ++i) sample[i] = entries[i * count / size].at[axis];
  std::sort(sample, sample + size);
  return sample[at * size / count];
}

/// std::nth_element by one coordinate, then by index: afterwards none of the first `at` entries is above any of the
/// others, and of points at one place those of the least indices are next to each other, so a search for these sees few
/// leaves. After many rounds, as points can be laid out to cause, std::nth_element goes on: it is never quadratic.
template <class A>
void select(Entry<A>* entries, std::int64_t count, std::int64_t at, int axis) {
  constexpr std::int64_t kFew = 12;
  constexpr int kRounds = 40;
  const auto by_index = [](const Entry<A>& a, const Entry<A>& b) { return a.index < b.index; };
  for (int round = 0; round < kRounds && count > kFew && at > 0 && at < count; ++round) {
    const A pivot = guess(entries, count, at, axis);
    std::int64_t front = partition(entries, count, [=](const Entry<A>& e) { return e.at[axis] < pivot; });
    if (front == 0) {  // the pivot is the least: set all equal to it aside
      front = partition(entries, count, [=](const Entry<A>& e) { return e.at[axis] <= pivot; });
      if (at < front) return std::nth_element(entries, entries + at, entries + front, by_index);
    }
    if (at <= front) {
      count = front;
    } else {
      entries += front, count -= front, at -= front;
    }
  }
  if (at > 0 && at < count) {
    std::nth_element(entries, entries + at, entries + count, [&](const Entry<A>& a, const Entry<A>& b) {
      return a.at[axis] < b.at[axis] || (a.at[axis] == b.at[axis] && by_index(a, b));
    });
  }
}

/// Sorts entries so that each run of a power of two of leaves is a region: half of the leaves, the greatest power of
/// two below their number, goes to the one side of the cut.
template <class A>
void arrange(Entry<A>* entries, std::int64_t count) {
  while (count > kLeafPoints) {
    const auto leaves = static_cast<std::uint64_t>(leaves_of(count));
    const std::int64_t left = static_cast<std::int64_t>(std::bit_ceil(leaves) / 2) * kLeafPoints;
    select(entries, count, left, box_of(entries, count).widest());
    arrange(entries + left, count - left);
    count = left;
  }
}

template <class A>
void set_box(Boxes<A>& to, std::int64_t child, const Box<A>& box) {
  for (int axis = 0; axis < 3; ++axis) to.low[axis][child] = box.low[axis], to.high[axis][child] = box.high[axis];
  to.least[child] = box.least;
}

/// The box round the boxes of a node.
template <class A>
void enclose(const Boxes<A>& from, std::int64_t children, Boxes<A>& to, std::int64_t child) {
  for (int axis = 0; axis < 3; ++axis) {
    to.low[axis][child] = *std::min_element(from.low[axis], from.low[axis] + children);
    to.high[axis][child] = *std::max_element(from.high[axis], from.high[axis] + children);
  }
  to.least[child] = *std::min_element(from.least, from.least + children);
}

template <class A>
void put_leaves(const BoxTree<A>& tree, const Entry<A>* entries, std::int64_t count) {
  for (std::int64_t leaf = 0; leaf < tree.levels.leaves(); ++leaf) {
    const Entry<A>* const first = entries + leaf * kLeafPoints;
    const std::int64_t points = std::min(kLeafPoints, count - leaf * kLeafPoints);
    for (std::int64_t i = 0; i < kLeafPoints; ++i) put(tree.leaves[leaf], i, i < points ? first[i] : kNoPoint<A>);
    set_box(tree.node(0, leaf / kFan), leaf % kFan, box_of(first, points));
  }
}

}  // namespace

template <class T>
void fill_leaves(const T* points, std::int64_t n, Leaf<Acc<T>>* leaves) {
  for (std::int64_t i = 0; i < leaves_of(n) * kLeafPoints; ++i) {
    put(leaves[i / kLeafPoints], i % kLeafPoints, i < n ? entry_of(points, i) : kNoPoint<Acc<T>>);
  }
}

template <class T>
BoxTree<Acc<T>> build_tree(const T* points, std::int64_t n, Entry<Acc<T>>* entries, Leaf<Acc<T>>* leaves,
                           Boxes<Acc<T>>* boxes) {
  std::int64_t count = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    const Entry<Acc<T>> e = entry_of(points, i);
    if (std::isfinite(e.at[0]) && std::isfinite(e.at[1]) && std::isfinite(e.at[2])) entries[count++] = e;
  }
  arrange(entries, count);
  const BoxTree<Acc<T>> tree{leaves, boxes, Levels(leaves_of(count))};
  put_leaves(tree, entries, count);
  for (int level = 1; level < tree.levels.count(); ++level) {
    for (std::int64_t node = 0; node < tree.levels.nodes(level - 1); ++node) {
      const std::int64_t children = tree.levels.children(level - 1, node);
      enclose(tree.node(level - 1, node), children, tree.node(level, node / kFan), node % kFan);
    }
  }
  return tree;
}

#define MLUOPS_CPU_INSTANTIATE(T)                                      \
  template void fill_leaves<T>(const T*, std::int64_t, Leaf<Acc<T>>*); \
  template BoxTree<Acc<T>> build_tree<T>(const T*, std::int64_t, Entry<Acc<T>>*, Leaf<Acc<T>>*, Boxes<Acc<T>>*);
MLUOPS_CPU_INSTANTIATE(Half)
MLUOPS_CPU_INSTANTIATE(Bfloat16)
MLUOPS_CPU_INSTANTIATE(float)
MLUOPS_CPU_INSTANTIATE(double)
#undef MLUOPS_CPU_INSTANTIATE

}  // namespace mluops::cpu::spatial
