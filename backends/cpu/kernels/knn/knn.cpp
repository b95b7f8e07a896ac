// Knn: for each of M centres the k nearest of N points.
//
// scan: all N points for each centre, 32 at a time. tree: the points of each image sorted into a box tree
// (spatial/box_tree.h), of which a search sees a few leaves. Both find the k least pairs (distance, index),
// whatever the order in which points are seen, and are bitwise equal.
//
// xyz [B,N,3], new_xyz [B,M,3], idx and dist2 [B,M,k]. An item is a centre and owns its row. Points are read once and
// stay in the caches; the rest is arithmetic: 8 flops a pair, and to compare the distances of some more than k points
// 10 times, and to sort k: by their ranks, each compared with all others, while they are few.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/kernels/knn/knn.cpp"
#include <hwy/foreach_target.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>

#include "backends/cpu/dispatch.h"
#include "backends/cpu/spatial/radix_sort.h"
#include "backends/cpu/spatial/search-inl.h"
#include "mluops/problem/knn.h"

HWY_BEFORE_NAMESPACE();
namespace mluops::cpu::knn::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
using namespace spatial;
using namespace spatial::HWY_NAMESPACE;
namespace {

/// More points than k: that lower the bound, in proportion to what that costs; that the end may have to rank.
inline std::int64_t some_more(std::int64_t k) {
  return std::max<std::int64_t>(16, k / 4);
}
inline constexpr std::int64_t kFewMore = 8;
/// Points that fit.
inline std::int64_t most_of(std::int64_t k) {
  return k + some_more(k) + kLeafPoints + 16;
}
/// So many points are ranked at most; more are sorted.
inline constexpr std::int64_t kMostRanked = 192;
inline constexpr std::int64_t kWidest = 16;  ///< lanes

/// mmcv's start value: no neighbour is as far.
inline constexpr double kMissing = 1e10;

/// What a thread gathers, and scratch to sort it in.
template <class A>
struct Gathered {
  using Index = hwy::MakeSigned<A>;

  A* distance;
  Index* index;
  Neighbour<A>*pairs, *spare;

  Gathered(Allocator& allocator, std::int64_t k)
      : distance(allocator.allocate<A>(most_of(k) + kWidest)),
        index(allocator.allocate<Index>(most_of(k) + kWidest)),
        pairs(allocator.allocate<Neighbour<A>>(most_of(k))),
        spare(allocator.allocate<Neighbour<A>>(most_of(k))) {}
};

/// The k nearest of the points that a search sees.
///
/// Points within a bound are gathered, without a branch for each. Whenever there are some more than k the bound is
/// lowered: halving the range of distances a few times finds one that k points are within, and those beyond are
/// forgotten. It is never below the distance of the k-th, so the order in which points are seen does not matter. At the
/// end each point's rank is counted, which is its place in the result.
template <class A>
class Nearest {
 public:
  Nearest(const Point<A>& from, const Gathered<A>& scratch, std::int64_t k)
      : from_(from), scratch_(scratch), k_(k), some_more_(some_more(k)) {}

  const Point<A>& from() const { return from_; }
  A bound() const { return bound_; }
  /// No point at the bound has a greater index and is one of the k.
  std::int32_t last_index() const { return last_index_; }

  HWY_INLINE void operator()(const Leaf<A>& leaf) {
    const auto bound = hn::Set(D(), bound_);
    for (std::int64_t i = 0; i < kLeafPoints; i += kLanes<A>) {
      const auto all = distances(D(), from_, leaf, i);
      append(all, leaf.index + i,
             is_limited() ? points_within(D(), all, leaf.index + i, bound_, last_index_) : hn::Le(all, bound));
    }
    if (count_ >= k_ + some_more_) lower_bound();
  }

  template <class T>
  void store(std::int32_t* idx, T* dist2) {
    if (count_ > k_ + kFewMore) lower_bound();
    if (count_ > kMostRanked) {
      store_sorted(idx, dist2);
    } else {
      store_by_rank(idx, dist2);
    }
    for (std::int64_t j = count_; j < k_; ++j) idx[j] = 0, dist2[j] = from_acc<T>(A{kMissing});
  }

 private:
  using Index = typename Gathered<A>::Index;
  using D = hn::ScalableTag<A>;
  using DI = hn::RebindToSigned<D>;

  /// The k nearest so far have many others at the bound.
  bool is_limited() const { return last_index_ != std::numeric_limits<std::int32_t>::max(); }

  template <class From>
  HWY_INLINE void append(hn::Vec<D> distance, const From* index, hn::Mask<D> near) {
    if constexpr (HWY_TARGET <= HWY_AVX3 && std::is_same_v<From, Index>) {
      // In registers: some processors take a hundred cycles for a compressing store.
      hn::StoreU(hn::Compress(distance, near), D(), scratch_.distance + count_);
      hn::StoreU(hn::Compress(hn::LoadU(DI(), index), hn::RebindMask(DI(), near)), DI(), scratch_.index + count_);
      count_ += static_cast<std::int64_t>(hn::CountTrue(D(), near));
    } else {
      const std::uint32_t bits = bits_of(D(), near);
      if (bits == 0) return;
      HWY_ALIGN A found[kLanes<A>];
      hn::Store(distance, D(), found);
      for (int lane = 0; lane < kLanes<A>; ++lane) {
        scratch_.distance[count_] = found[lane];
        scratch_.index[count_] = index[lane];
        count_ += bits >> lane & 1;
      }
    }
  }

  /// Makes whole vectors of the distances.
  void pad() const { hn::StoreU(hn::Set(D(), std::numeric_limits<A>::infinity()), D(), scratch_.distance + count_); }

  /// How many points are at most so far.
  HWY_INLINE std::int64_t within(A far) const {
    auto count = hn::Zero(DI());
    for (std::int64_t j = 0; j < count_; j += kLanes<A>) {
      const auto near = hn::Le(hn::LoadU(D(), scratch_.distance + j), hn::Set(D(), far));
      count = hn::Sub(count, hn::VecFromMask(DI(), hn::RebindMask(DI(), near)));
    }
    return hn::GetLane(hn::SumOfLanes(DI(), count));
  }

  /// The least and greatest distance, both as vectors; padded.
  HWY_INLINE std::pair<A, A> range() const {
    auto low = hn::LoadU(D(), scratch_.distance), high = hn::Zero(D());
    for (std::int64_t j = 0; j < count_; j += kLanes<A>) {
      const auto distance = hn::LoadU(D(), scratch_.distance + j);
      low = hn::Min(low, distance);
      high = hn::Max(high, hn::Min(distance, hn::Set(D(), bound_)));
    }
    return {hn::GetLane(hn::MinOfLanes(D(), low)), hn::GetLane(hn::MaxOfLanes(D(), high))};
  }

  HWY_NOINLINE void lower_bound() {
    constexpr int kHalvings = 5;
    pad();
    auto [low, high] = range();
    for (int i = 0; i < kHalvings; ++i) {
      const A middle = (low + high) * A{0.5};
      const bool enough = within(middle) >= k_;
      high = enough ? middle : high;
      low = enough ? low : middle;
    }
    if (high < bound_) bound_ = high, last_index_ = std::numeric_limits<std::int32_t>::max();
    const std::int64_t all = std::exchange(count_, 0);
    for (std::int64_t j = 0; j < all; j += kLanes<A>) {
      const auto distance = hn::LoadU(D(), scratch_.distance + j);
      append(distance, scratch_.index + j, hn::Le(distance, hn::Set(D(), bound_)));
    }
    if (count_ > k_ + some_more_ / 2 + 24) keep_least();
  }

  void pair_up() {
    for (std::int64_t j = 0; j < count_; ++j) {
      scratch_.pairs[j] = {scratch_.distance[j], static_cast<std::int32_t>(scratch_.index[j])};
    }
  }

  /// Many are at one distance: the k of least index stay.
  void keep_least() {
    pair_up();
    std::nth_element(scratch_.pairs, scratch_.pairs + k_ - 1, scratch_.pairs + count_);
    bound_ = scratch_.pairs[k_ - 1].distance, last_index_ = scratch_.pairs[k_ - 1].index;
    for (count_ = 0; count_ < k_; ++count_) {
      scratch_.distance[count_] = scratch_.pairs[count_].distance,
      scratch_.index[count_] = scratch_.pairs[count_].index;
    }
  }

  /// By the bits of the distances, which are not negative, then those at one distance by index.
  template <class T>
  void store_sorted(std::int32_t* idx, T* dist2) {
    using Bits = std::make_unsigned_t<Index>;
    pair_up();
    Neighbour<A>* const sorted = radix_sort(scratch_.pairs, scratch_.spare, count_,
                                            [](const Neighbour<A>& n) { return std::bit_cast<Bits>(n.distance); });
    for (auto *run = sorted, *const end = sorted + count_; run != end;) {
      auto* const next = std::find_if(run, end, [&](const Neighbour<A>& n) { return n.distance != run->distance; });
      if (next - run > 1) std::sort(run, next);
      run = next;
    }
    for (std::int64_t j = 0; j < std::min(count_, k_); ++j) {
      idx[j] = sorted[j].index, dist2[j] = from_acc<T>(sorted[j].distance);
    }
  }

  /// How many points come before each of those from i on.
  HWY_INLINE hn::Vec<DI> ranks(std::int64_t i) const {
    const auto distance = hn::LoadU(D(), scratch_.distance + i);
    const auto index = hn::LoadU(DI(), scratch_.index + i);
    auto rank = hn::Zero(DI());
    for (std::int64_t j = 0; j < count_; ++j) {
      const auto other = hn::Set(D(), scratch_.distance[j]);
      const auto less = hn::RebindMask(D(), hn::Lt(hn::Set(DI(), scratch_.index[j]), index));
      const auto before = hn::Or(hn::Lt(other, distance), hn::And(hn::Eq(other, distance), less));
      rank = hn::Sub(rank, hn::VecFromMask(DI(), hn::RebindMask(DI(), before)));
    }
    return rank;
  }

  template <class T>
  HWY_INLINE void store_by_rank(std::int32_t* idx, T* dist2) const {
    HWY_ALIGN Index rank[kLanes<A>];
    for (std::int64_t i = 0; i < count_; i += kLanes<A>) {
      hn::Store(ranks(i), DI(), rank);
      for (std::int64_t j = i; j < std::min<std::int64_t>(i + kLanes<A>, count_); ++j) {
        if (rank[j - i] >= k_) continue;
        idx[rank[j - i]] = static_cast<std::int32_t>(scratch_.index[j]);
        dist2[rank[j - i]] = from_acc<T>(scratch_.distance[j]);
      }
    }
  }

  Point<A> from_;
  Gathered<A> scratch_;
  std::int64_t k_, some_more_, count_ = 0;
  A bound_ = std::nextafter(A{kMissing}, A{0});
  std::int32_t last_index_ = std::numeric_limits<std::int32_t>::max();
};

using Problem = mluopsKnnProblem;
using Shape = mluopsKnnShape;

/// The working memory of a call: the points of all images, and what each slot gathers.
template <class A>
struct Arrays {
  PointSets<A> sets;
  SlotScratch<Gathered<A>> gathered;

  Arrays(Allocator& allocator, const Shape& s, bool sorted, int building, int searching)
      : sets(allocator, s.n, s.b, sorted, building), gathered(allocator, searching, s.k) {}
};

template <class T, bool kSorted>
mluOpStatus_t search_by(Context& context, const mluopsCall& call, const Problem& p) {
  using A = Acc<T>;
  const Shape& s = p.shape;
  const double centre_ns = search_ns(s.k) + (kSorted ? 0 : cost::kElement * static_cast<double>(s.n));
  const Loop building(context, call, s.b, build_ns(s.n, kSorted)), searching(context, call, s.b * s.m, centre_ns);
  const auto arrays = allocate<Arrays<A>>(context.arena, s, kSorted, building.slots(), searching.slots());
  if (!arrays) return no_memory(call);
  building.run([&](std::int64_t begin, std::int64_t end, int slot) {
    for (std::int64_t b = begin; b < end; ++b) arrays->sets.fill(b, static_cast<const T*>(p.xyz) + 3 * b * s.n, slot);
  });
  searching.run([&](std::int64_t begin, std::int64_t end, int slot) HWY_ATTR {
    const auto gathered = arrays->gathered.of(slot, s.k);
    for (std::int64_t i = begin; i < end; ++i) {
      Nearest<A> nearest(Point<A>::read(static_cast<const T*>(p.new_xyz) + 3 * i), gathered, s.k);
      search_set<kSorted>(arrays->sets, i / s.m, nearest);
      nearest.store(p.idx + i * s.k, static_cast<T*>(p.dist2) + i * s.k);
    }
  });
  return MLUOP_STATUS_SUCCESS;
}

/// Whether sorting the points costs less than comparing every centre with all of them.
Fit tree_pays(const Context&, const mluopsCall&, const Problem& p) {
  const Shape& s = p.shape;
  const double pairs = static_cast<double>(s.n) * static_cast<double>(s.m);
  return fit(true, s.n > kLeafPoints && s.n > 2 * s.k && build_ns(s.n) < pairs * cost::kElement);
}

template <class T>
mluOpStatus_t neighbours(Context& context, const mluopsCall& call, const Problem& p) {
  static constexpr Path<Problem> kPaths[] = {
      {"tree", tree_pays, search_by<T, true>},
      {"scan", always<Problem>, search_by<T, false>},
  };
  return run_path(context, call, p, kPaths);
}

}  // namespace
}  // namespace mluops::cpu::knn::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

MLUOPS_CPU_ENTRY(knn, knn, neighbours, mluopsKnnProblem, with_element)
