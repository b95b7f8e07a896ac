// ChamferDistance, forward: for each point of two sets in the plane the nearest point of the other.
//
// xyz1 [B,N,2], xyz2 [B,M,2], dist [B,N] and [B,M]. Both sets become points of space with z = 0, whose square adds
// nothing. scan: all points of the other set, 32 at a time. tree: those sorted into a box tree (spatial/box_tree.h).
// Both keep the least pair (distance, index) and are bitwise equal. An item is a point of either set and owns its
// numbers. The other set stays in the caches; the rest is arithmetic: 8 flops a pair.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/kernels/chamfer_distance/forward.cpp"
#include <hwy/foreach_target.h>

#include <algorithm>

#include "backends/cpu/dispatch.h"
#include "backends/cpu/spatial/search-inl.h"
#include "mluops/problem/chamfer_distance.h"

HWY_BEFORE_NAMESPACE();
namespace mluops::cpu::chamfer_distance::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
using namespace spatial;
using namespace spatial::HWY_NAMESPACE;
namespace {

using ForwardProblem = mluopsChamferDistanceForwardProblem;
using Shape = mluopsChamferDistanceShape;

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
  A* lifted[2];  ///< [b,n,3] and [b,m,3]
  PointSets<A> sets[2];

  Arrays(Allocator& allocator, const Shape& s, bool sorted, std::int64_t slots)
      : lifted{allocator.allocate<A>(3, s.b, s.n), allocator.allocate<A>(3, s.b, s.m)},
        sets{PointSets<A>(allocator, s.n, s.b, sorted, slots), PointSets<A>(allocator, s.m, s.b, sorted, slots)} {}
};

template <class T>
void lift(const T* from, std::int64_t n, Acc<T>* to) {
  for (std::int64_t i = 0; i < n; ++i) {
    to[3 * i] = to_acc(from[2 * i]);
    to[3 * i + 1] = to_acc(from[2 * i + 1]);
    to[3 * i + 2] = 0;
  }
}

template <class T, bool kSorted>
mluOpStatus_t search_both(Context& context, const mluopsCall& call, const ForwardProblem& p) {
  using A = Acc<T>;
  const Shape& s = p.shape;
  const Set<T> sets[] = {{static_cast<const T*>(p.xyz1), s.n, static_cast<T*>(p.dist1), p.idx1},
                         {static_cast<const T*>(p.xyz2), s.m, static_cast<T*>(p.dist2), p.idx2}};
  const Loop building(context, call, s.b, build_ns(s.n, kSorted) + build_ns(s.m, kSorted));
  const auto arrays = allocate<Arrays<A>>(context.arena, s, kSorted, std::int64_t{building.slots()});
  if (!arrays) return no_memory(call);
  building.run([&](std::int64_t begin, std::int64_t end, int slot) {
    for (std::int64_t b = begin; b < end; ++b) {
      for (int set = 0; set < 2; ++set) {
        const std::int64_t n = sets[set].n;
        A* const lifted = arrays->lifted[set] + 3 * b * n;
        lift(sets[set].points + 2 * b * n, n, lifted);
        arrays->sets[set].fill(b, lifted, slot);
      }
    }
  });
  for (int set = 0; set < 2; ++set) {
    const std::int64_t n = sets[set].n, others = sets[1 - set].n;
    const double point_ns = search_ns(1) + (kSorted ? 0 : cost::kElement * static_cast<double>(others));
    Loop(context, call, s.b * n, point_ns).run([&](std::int64_t begin, std::int64_t end, int) HWY_ATTR {
      for (std::int64_t i = begin; i < end; ++i) {
        Nearest<A> nearest(Point<A>::read(arrays->lifted[set] + 3 * i));
        search_set<kSorted>(arrays->sets[1 - set], i / n, nearest);
        sets[set].dist[i] = from_acc<T>(nearest.bound());
        sets[set].idx[i] = nearest.index();
      }
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
