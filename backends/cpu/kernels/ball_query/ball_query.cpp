// BallQuery: for each of M centres the first nsample of N points, by their index, inside a ball.
//
// scan: the points in their own order, 32 at a time, until nsample are found. tree: the first ones so, which is enough
// for balls that hold many points; for the others a box tree (spatial/box_tree.h) gives the points of the ball, in any
// order while they are few, else those of the least indices first, until nsample are found: a ball may hold nearly all
// points, as of a cloud that is padded with zeros. All decide with the same operations, so they give the same indices.
//
// new_xyz [B,M,3], xyz [B,N,3], idx [B,M,nsample]. An item is a centre and owns its row. Points are read once and stay
// in the caches; the rest is arithmetic: 8 flops a pair.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/kernels/ball_query/ball_query.cpp"
#include <hwy/foreach_target.h>

#include <algorithm>
#include <bit>
#include <limits>
#include <span>

#include "backends/cpu/dispatch.h"
#include "backends/cpu/spatial/search-inl.h"
#include "mluops/problem/ball_query.h"

HWY_BEFORE_NAMESPACE();
namespace mluops::cpu::ball_query::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
using namespace spatial;
using namespace spatial::HWY_NAMESPACE;
namespace {

using Problem = mluopsBallQueryProblem;
using Shape = mluopsBallQueryShape;

/// What is scanned before the tree is asked: at most this share of the leaves, and so many for each point wanted, which
/// is what the tree needs at most.
constexpr std::int64_t kScannedShare = 8, kScannedEach = 2;

/// Points of a ball that are gathered before those of the least indices are asked for.
inline std::int64_t few(std::int64_t nsample) {
  return 8 * nsample + 128;
}

/// Which points are inside: squared distance 0, or in [low, high).
template <class A>
struct Ball {
  Point<A> centre;
  A low, high;

  Ball(const Problem& p, const Point<A>& at)
      : centre(at), low(squared(p.exact_min_radius)), high(squared(p.exact_max_radius)) {}

  static A squared(double radius) { return static_cast<A>(radius) * static_cast<A>(radius); }

  /// found(index) for the points of a leaf that are inside.
  template <class Found>
  HWY_INLINE void find(const Leaf<A>& leaf, Found&& found) const {
    const hn::CappedTag<A, kLeafPoints> d;
    for (std::int64_t i = 0; i < kLeafPoints; i += static_cast<std::int64_t>(hn::Lanes(d))) {
      const auto all = distances(d, centre, leaf, i);
      const auto between = hn::And(hn::Ge(all, hn::Set(d, low)), hn::Lt(all, hn::Set(d, high)));
      std::uint32_t inside = bits_of(d, hn::Or(between, hn::Eq(all, hn::Zero(d))));
      for (; inside != 0; inside &= inside - 1) found(leaf.index[i + std::countr_zero(inside)]);
    }
  }

  /// A bit for each of the first `children` boxes that may have points inside: near enough, and neither all too near
  /// nor away from the centre itself.
  HWY_INLINE std::uint32_t boxes_inside(const Boxes<A>& boxes, std::int64_t children) const {
    HWY_ALIGN A lower[kFan];
    const std::uint32_t near = boxes_within(boxes, children, centre, high, lower);
    if (!(low > 0)) return near;
    const hn::CappedTag<A, kFan> d;
    std::uint32_t hollow = 0;
    for (std::int64_t i = 0; i < kFan; i += static_cast<std::int64_t>(hn::Lanes(d))) {
      const auto apart = hn::Gt(hn::Load(d, lower + i), hn::Zero(d));
      hollow |= bits_of(d, hn::And(apart, hn::Lt(upper_bounds(d, centre, boxes, i), hn::Set(d, low)))) << i;
    }
    return near & ~hollow;
  }
};

/// A row of idx: the lowest indices.
class Row {
 public:
  Row(std::int32_t* row, std::int64_t size) : row_(row), size_(size) {}

  bool full() const { return count_ == size_; }
  /// No index from this one on is wanted.
  std::int32_t last_index() const { return full() ? row_[0] : std::numeric_limits<std::int32_t>::max(); }
  /// Indices in their order.
  void append(std::int32_t index) {
    if (!full()) row_[count_++] = index;
  }
  /// Indices in any order; those there are are a heap, the greatest first, until sort().
  void add(std::int32_t index) {
    if (index >= last_index()) return;
    if (full()) std::pop_heap(row_, row_ + count_--);
    row_[count_++] = index;
    std::push_heap(row_, row_ + count_);
  }
  void sort() { std::sort_heap(row_, row_ + count_); }
  void clear() { count_ = 0; }
  /// What is missing: the first one again; without any, 0.
  void fill_up() { std::fill(row_ + count_, row_ + size_, count_ == 0 ? 0 : row_[0]); }

 private:
  std::int32_t* row_;
  std::int64_t size_, count_ = 0;
};

/// A set of numbers below n, given back in order: a bit for each, and a bit for each word of them. Empty between balls.
class IndexSet {
 public:
  static std::int64_t words(std::int64_t n) { return ceil_div(n, kBits) + ceil_div(n, kBits * kBits); }

  IndexSet(std::uint64_t* words, std::int64_t n)
      : words_(words), used_(words + ceil_div(n, kBits)), used_count_(ceil_div(n, kBits * kBits)) {}

  void add(std::int32_t index) {
    const auto i = static_cast<std::uint32_t>(index);
    words_[i / kBits] |= std::uint64_t{1} << i % kBits;
    used_[i / (kBits * kBits)] |= std::uint64_t{1} << i / kBits % kBits;
  }

  /// Empties the set into the row, which takes as many as it has room for.
  void move_to(Row& row) {
    for (std::int64_t u = 0; u < used_count_; ++u) {
      for (; used_[u] != 0; used_[u] &= used_[u] - 1) {
        const std::int64_t word = kBits * u + std::countr_zero(used_[u]);
        for (; words_[word] != 0 && !row.full(); words_[word] &= words_[word] - 1) {
          row.append(static_cast<std::int32_t>(kBits * word + std::countr_zero(words_[word])));
        }
        words_[word] = 0;
      }
    }
  }

 private:
  static constexpr std::int64_t kBits = 64;

  std::uint64_t *words_, *used_;
  std::int64_t used_count_;
};

/// The working memory of a call: the points in their own order, and for the tree path their trees, and of each slot a
/// set and what a search has yet to look at.
template <class A>
struct Arrays {
  PointSets<A> lists, trees;
  std::int64_t pending_each, set_words;
  std::uint64_t *pending, *sets;

  Arrays(Allocator& allocator, const Shape& s, bool with_trees, std::int64_t building, std::int64_t searching)
      : lists(allocator, s.n, s.b, false, 0),
        trees(allocator, s.n, with_trees ? s.b : 0, true, with_trees ? building : 0),
        pending_each(with_trees ? round_up(pending_of(s.n), 8) : 0),
        set_words(with_trees ? round_up(IndexSet::words(s.n), 8) : 0),
        pending(allocator.allocate<std::uint64_t>(searching, pending_each)),
        sets(allocator.allocate<std::uint64_t>(searching, set_words)) {}

  IndexSet set(std::int64_t slot, std::int64_t n) const { return IndexSet(sets + slot * set_words, n); }
};

/// Points in their order, until the row is full.
template <class A>
HWY_INLINE void scan(const Ball<A>& ball, std::span<const Leaf<A>> leaves, Row& row) {
  for (std::size_t i = 0; i < leaves.size() && !row.full(); ++i) {
    ball.find(leaves[i], [&](std::int32_t index) HWY_ATTR { row.append(index); });
  }
}

/// Visits the leaves near a ball, until it has seen so many or gathered so many points; then nothing is near any more.
template <class A>
struct Gather {
  const Ball<A>& ball;
  std::int64_t most;
  IndexSet& set;
  std::int64_t count = 0, leaves = 0;

  bool ended() const { return count > most || leaves > most; }
  A bound() const { return ended() ? A{-1} : ball.high; }
  HWY_INLINE void operator()(const Leaf<A>& leaf) {
    if (ended()) return;
    ++leaves;
    ball.find(leaf, [&](std::int32_t index) HWY_ATTR { set.add(index), ++count; });
  }
};

/// Visits the leaves near a ball that have points of low indices.
template <class A>
struct Lowest {
  const Ball<A>& ball;
  Row& row;

  std::int32_t last_index() const { return row.last_index(); }
  HWY_INLINE std::uint32_t children_of(const Boxes<A>& boxes, std::int64_t children) const {
    return ball.boxes_inside(boxes, children);
  }
  HWY_INLINE void operator()(const Leaf<A>& leaf) {
    ball.find(leaf, [&](std::int32_t index) HWY_ATTR { row.add(index); });
  }
};

/// The lowest indices of a ball. One whose centre is not finite is empty: nothing is near to it.
template <class A>
HWY_INLINE void search_ball(const Ball<A>& ball, const BoxTree<A>& tree, std::int64_t most, IndexSet& set,
                            std::uint64_t* pending, Row& row) {
  Gather<A> gather{ball, most, set};
  search<false>(tree, ball.centre, gather);
  row.clear();
  set.move_to(row);
  if (!gather.ended()) return;
  row.clear();
  Lowest<A> lowest{ball, row};
  search_by_index(tree, pending, lowest);
  row.sort();
}

/// Whether sorting the points costs less than comparing each centre with half of them.
Fit tree_pays(const Context&, const mluopsCall&, const Problem& p) {
  const Shape& s = p.shape;
  const double pairs = static_cast<double>(s.m) * static_cast<double>(s.n);
  return fit(true, s.n > kScannedShare * kLeafPoints && build_ns(s.n) < pairs * cost::kElement / 2);
}

template <class T, bool trees>
mluOpStatus_t query_by(Context& context, const mluopsCall& call, const Problem& p) {
  using A = Acc<T>;
  const Shape& s = p.shape;
  const double ball_ns = 250 * cost::kStep + (trees ? 0 : cost::kElement * static_cast<double>(s.n));
  const Loop building(context, call, s.b, build_ns(s.n, trees)), loop(context, call, s.b * s.m, ball_ns);
  const auto arrays =
      allocate<Arrays<A>>(context.arena, s, trees, std::int64_t{building.slots()}, std::int64_t{loop.slots()});
  if (!arrays) return no_memory(call);
  std::fill_n(arrays->sets, loop.slots() * arrays->set_words, 0);
  const auto scanned = static_cast<std::size_t>(std::min(leaves_of(s.n) / kScannedShare, kScannedEach * s.nsample));
  building.run([&](std::int64_t begin, std::int64_t end, int slot) {
    for (std::int64_t b = begin; b < end; ++b) {
      const T* const points = static_cast<const T*>(p.xyz) + 3 * b * s.n;
      arrays->lists.fill(b, points, slot);
      if (trees) arrays->trees.fill(b, points, slot);
    }
  });
  loop.run([&](std::int64_t begin, std::int64_t end, int slot) HWY_ATTR {
    std::uint64_t* const pending = arrays->pending + slot * arrays->pending_each;
    IndexSet set = arrays->set(slot, s.n);
    for (std::int64_t i = begin; i < end; ++i) {
      const std::span<const Leaf<A>> leaves = arrays->lists.list(i / s.m);
      const Ball<A> ball(p, Point<A>::read(static_cast<const T*>(p.new_xyz) + 3 * i));
      Row row(p.idx + i * s.nsample, s.nsample);
      scan(ball, leaves.first(trees ? scanned : leaves.size()), row);
      if (trees && !row.full()) search_ball(ball, arrays->trees.tree(i / s.m), few(s.nsample), set, pending, row);
      row.fill_up();
    }
  });
  return MLUOP_STATUS_SUCCESS;
}

template <class T>
mluOpStatus_t query(Context& context, const mluopsCall& call, const Problem& p) {
  static constexpr Path<Problem> kPaths[] = {
      {"tree", tree_pays, query_by<T, true>},
      {"scan", always<Problem>, query_by<T, false>},
  };
  return run_path(context, call, p, kPaths);
}

}  // namespace
}  // namespace mluops::cpu::ball_query::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

MLUOPS_CPU_ENTRY(ball_query, ball_query, query, mluopsBallQueryProblem, with_element)
