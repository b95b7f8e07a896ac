// ChamferDistance, forward: for each point of two sets in the plane the nearest point of the other.
//
// xyz1 [B,N,2], xyz2 [B,M,2], dist [B,N] and [B,M]. Both sets become points of space with z = 0, whose square adds
// nothing. scan: all points of the other set, 32 at a time. tree: those sorted into a box tree (spatial/box_tree.h).
// Both keep the least pair (distance, index) and give the same bits. An item is a run of points of one image and set
// and owns their numbers. The other set stays in the caches; the rest is arithmetic: 8 flops a pair.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/kernels/chamfer_distance/forward.cpp"
#include <hwy/foreach_target.h>

#include <algorithm>

#include "backends/cpu/dispatch.h"
#include "backends/cpu/spatial/search-inl.h"

HWY_BEFORE_NAMESPACE();
namespace mluops::cpu::chamfer_distance::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
using namespace spatial;
using namespace spatial::HWY_NAMESPACE;
namespace {

using ForwardProblem = mluopsChamferDistanceForwardProblem;
using Shape = mluopsChamferDistanceShape;

/// Points whose neighbours one item finds.
constexpr std::int64_t kRun = 64;

/// One of the sets: where its points are, what is wanted of them, and how they lie in memory.
template <class T>
struct Set {
  const T* points;  ///< [b,n,2]
  std::int64_t n;
  T* dist;
  std::int32_t* idx;
};

/// The least (distance, index) among the points of the leaves it visits.
template <class A>
class Nearest {
 public:
  explicit Nearest(const Point<A>& from) : from_(from) {}

  const Point<A>& from() const { return from_; }
  A bound() const { return best_.distance; }
  std::int32_t last_index() const { return best_.index; }
  std::int32_t index() const { return std::max(best_.index, 0); }

  HWY_INLINE void operator()(const Leaf<A>& leaf) { take_near(leaf, from_, *this); }
  HWY_INLINE void take(const Neighbour<A>& next) {
    if (next < best_) best_ = next;
  }

 private:
  Point<A> from_;
  Neighbour<A> best_ = {A{1e10}, -1};  ///< mmcv's start value
};

template <class A>
struct Arrays {
  A* lifted;  ///< [b,n,3], then [b,m,3]
  std::int64_t leaves_each[2];
  Leaf<A>* leaves[2];  ///< of both sets, unsorted
  Trees<A> trees[2];

  Arrays(Allocator& allocator, const Shape& s, bool sorted, std::int64_t building)
      : lifted(allocator.allocate<A>(3, s.b, (s.n + s.m))),
        leaves_each{leaves_of(s.n), leaves_of(s.m)},
        leaves{allocator.allocate<Leaf<A>>(sorted ? 0 : s.b, leaves_each[0]),
               allocator.allocate<Leaf<A>>(sorted ? 0 : s.b, leaves_each[1])},
        trees{Trees<A>(allocator, s.n, sorted ? s.b : 0, sorted ? building : 0),
              Trees<A>(allocator, s.m, sorted ? s.b : 0, sorted ? building : 0)} {}

  /// Points of image b of set 0 or 1.
  A* points(const Shape& s, int set, std::int64_t b) const {
    return lifted + 3 * (set == 0 ? b * s.n : s.b * s.n + b * s.m);
  }
};

template <class T>
void lift(const T* from, std::int64_t n, Acc<T>* to) {
  for (std::int64_t i = 0; i < n; ++i) {
    to[3 * i] = to_acc(from[2 * i]);
    to[3 * i + 1] = to_acc(from[2 * i + 1]);
    to[3 * i + 2] = 0;
  }
}

/// visit(image, nearest) for every point of a set.
template <class T, class Visit>
void for_each_point(const Context& context, const mluopsCall& call, const Shape& s, const Set<T>& set, double point_ns,
                    Visit&& visit) {
  const std::int64_t runs = ceil_div(set.n, kRun);
  const double run_ns = static_cast<double>(std::min(set.n, kRun)) * point_ns;
  Loop(context, call, s.b * runs, run_ns).run([&](std::int64_t begin, std::int64_t end, int) HWY_ATTR {
    for (std::int64_t item = begin; item < end; ++item) {
      const std::int64_t b = item / runs, first = item % runs * kRun, last = std::min(set.n, first + kRun);
      for (std::int64_t at = b * set.n + first; at < b * set.n + last; ++at) {
        Nearest<Acc<T>> nearest({to_acc(set.points[2 * at]), to_acc(set.points[2 * at + 1]), 0});
        visit(b, nearest);
        set.dist[at] = from_acc<T>(nearest.bound());
        set.idx[at] = nearest.index();
      }
    }
  });
}

template <class T, bool kSorted>
mluOpStatus_t search_both(Context& context, const mluopsCall& call, const ForwardProblem& p) {
  using A = Acc<T>;
  const Shape& s = p.shape;
  const Set<T> sets[] = {{static_cast<const T*>(p.xyz1), s.n, static_cast<T*>(p.dist1), p.idx1},
                         {static_cast<const T*>(p.xyz2), s.m, static_cast<T*>(p.dist2), p.idx2}};
  const double points = static_cast<double>(s.n + s.m);
  const Loop building(context, call, s.b, kSorted ? build_ns(s.n) + build_ns(s.m) : cost::kStep * points);
  const auto arrays = allocate<Arrays<A>>(context.arena, s, kSorted, std::int64_t{building.slots()});
  if (!arrays) return no_memory(call);
  building.run([&](std::int64_t begin, std::int64_t end, int slot) {
    for (std::int64_t b = begin; b < end; ++b) {
      for (int set = 0; set < 2; ++set) {
        A* const lifted = arrays->points(s, set, b);
        lift(sets[set].points + 2 * b * sets[set].n, sets[set].n, lifted);
        if (kSorted) {
          arrays->trees[set].build(b, lifted, slot);
        } else {
          fill_leaves(lifted, sets[set].n, arrays->leaves[set] + b * arrays->leaves_each[set]);
        }
      }
    }
  });
  for (int set = 0; set < 2; ++set) {
    const int other = 1 - set;
    const double point_ns = search_ns(1) + (kSorted ? 0 : cost::kElement * static_cast<double>(sets[other].n));
    for_each_point<T>(context, call, s, sets[set], point_ns, [&](std::int64_t b, Nearest<A>& nearest) HWY_ATTR {
      if (kSorted) {
        search<true>(arrays->trees[other][b], nearest.from(), nearest);
        return;
      }
      const Leaf<A>* const leaves = arrays->leaves[other] + b * arrays->leaves_each[other];
      for (std::int64_t i = 0; i < arrays->leaves_each[other]; ++i) nearest(leaves[i]);
    });
  }
  return MLUOP_STATUS_SUCCESS;
}

/// Whether sorting both sets costs less than comparing all pairs twice.
Fit tree_pays(const Context&, const mluopsCall&, const ForwardProblem& p) {
  const Shape& s = p.shape;
  const double pairs = static_cast<double>(s.n) * static_cast<double>(s.m);
  const double searching = search_ns(1) * static_cast<double>(s.n + s.m);
  return fit(true, build_ns(s.n) + build_ns(s.m) + searching < 2 * pairs * cost::kElement);
}

template <class T>
mluOpStatus_t forward(Context& context, const mluopsCall& call, const ForwardProblem& p) {
  static constexpr Path<ForwardProblem> kPaths[] = {
      {"tree", tree_pays, search_both<T, true>},
      {"scan", always<ForwardProblem>, search_both<T, false>},
  };
  return run_path(context, call, p, kPaths);
}

}  // namespace
}  // namespace mluops::cpu::chamfer_distance::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

MLUOPS_CPU_ENTRY(chamfer_distance_forward, chamfer_distance, forward, mluopsChamferDistanceForwardProblem, with_element)
