// ThreeNN: for each of N points the three nearest of M.
//
// scan: all M points for each of the N, 32 at a time. tree: the known points of each image sorted into a box tree
// (spatial/box_tree.h), of which a search sees a few leaves. Both keep the three least pairs (distance, index), so the
// order in which points are seen does not matter, and give the same bits.
//
// unknown [B,N,3], known [B,M,3], dist2 and idx [B,N,3]. An item is a run of unknown points of one image and owns their
// rows. Known points are read once and fit the second cache up to some 10^4; the rest is arithmetic: 8 flops a pair.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/kernels/three_nn/forward.cpp"
#include <hwy/foreach_target.h>

#include <algorithm>
#include <limits>
#include <type_traits>
#include <utility>

#include "backends/cpu/dispatch.h"
#include "backends/cpu/spatial/search-inl.h"

HWY_BEFORE_NAMESPACE();
namespace mluops::cpu::three_nn::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
using namespace spatial;
using namespace spatial::HWY_NAMESPACE;
namespace {

using Problem = mluopsThreeNNForwardProblem;
using Shape = mluopsThreeNNShape;

/// Points whose neighbours one item finds.
constexpr std::int64_t kRun = 64;
/// mmcv's start value of 1e40, which no float holds.
template <class A>
constexpr Neighbour<A> kMissing = {
    std::is_same_v<A, double> ? static_cast<A>(1e40L) : std::numeric_limits<A>::infinity(), -1};

/// The three least (distance, index) among the points of the leaves it visits, in order.
template <class A>
class Nearest {
 public:
  explicit Nearest(const Point<A>& from) : from_(from) {}

  const Point<A>& from() const { return from_; }
  A bound() const { return best_[2].distance; }
  std::int32_t last_index() const { return best_[2].index; }

  HWY_INLINE void operator()(const Leaf<A>& leaf) { take_near(leaf, from_, *this); }
  HWY_INLINE void take(const Neighbour<A>& n) {
    if (!(n < best_[2])) return;
    best_[2] = n;
    if (best_[2] < best_[1]) std::swap(best_[1], best_[2]);
    if (best_[1] < best_[0]) std::swap(best_[0], best_[1]);
  }

  template <class T>
  void store(T* dist2, std::int32_t* idx) const {
    for (int j = 0; j < 3; ++j) {
      dist2[j] = from_acc<T>(best_[j].distance);
      idx[j] = std::max(best_[j].index, 0);
    }
  }

 private:
  Point<A> from_;
  Neighbour<A> best_[3] = {kMissing<A>, kMissing<A>, kMissing<A>};
};

/// visit(image, nearest) for every unknown point.
template <class T, class Visit>
void for_each_point(const Context& context, const mluopsCall& call, const Problem& p, double point_ns, Visit&& visit) {
  const Shape& s = p.shape;
  const std::int64_t runs = ceil_div(s.n, kRun);
  const double run_ns = static_cast<double>(std::min(s.n, kRun)) * point_ns;
  Loop(context, call, s.b * runs, run_ns).run([&](std::int64_t begin, std::int64_t end, int) HWY_ATTR {
    for (std::int64_t item = begin; item < end; ++item) {
      const std::int64_t b = item / runs, first = item % runs * kRun, last = std::min(s.n, first + kRun);
      for (std::int64_t at = 3 * (b * s.n + first); at < 3 * (b * s.n + last); at += 3) {
        Nearest<Acc<T>> nearest(Point<Acc<T>>::read(static_cast<const T*>(p.unknown) + at));
        visit(b, nearest);
        nearest.store(static_cast<T*>(p.dist2) + at, p.idx + at);
      }
    }
  });
}

template <class T>
const T* known_of(const Problem& p, std::int64_t b) {
  return static_cast<const T*>(p.known) + 3 * b * p.shape.m;
}

template <class A>
struct Unsorted {
  std::int64_t each;
  Leaf<A>* leaves;

  Unsorted(Allocator& allocator, const Shape& s)
      : each(leaves_of(s.m)), leaves(allocator.allocate<Leaf<A>>(s.b, each)) {}
};

template <class T>
mluOpStatus_t by_scan(Context& context, const mluopsCall& call, const Problem& p) {
  const Shape& s = p.shape;
  const auto known = allocate<Unsorted<Acc<T>>>(context.arena, s);
  if (!known) return no_memory(call);
  Loop(context, call, s.b, static_cast<double>(s.m)).run([&](std::int64_t begin, std::int64_t end, int) {
    for (std::int64_t b = begin; b < end; ++b) fill_leaves(known_of<T>(p, b), s.m, known->leaves + b * known->each);
  });
  const double point_ns = cost::kElement * static_cast<double>(s.m) + search_ns(3);
  for_each_point<T>(context, call, p, point_ns, [&](std::int64_t b, Nearest<Acc<T>>& nearest) HWY_ATTR {
    const Leaf<Acc<T>>* const leaves = known->leaves + b * known->each;
    for (std::int64_t i = 0; i < known->each; ++i) nearest(leaves[i]);
  });
  return MLUOP_STATUS_SUCCESS;
}

template <class T>
mluOpStatus_t by_tree(Context& context, const mluopsCall& call, const Problem& p) {
  const Shape& s = p.shape;
  const Loop building(context, call, s.b, build_ns(s.m));
  const auto trees = allocate<Trees<Acc<T>>>(context.arena, s.m, s.b, std::int64_t{building.slots()});
  if (!trees) return no_memory(call);
  building.run([&](std::int64_t begin, std::int64_t end, int slot) {
    for (std::int64_t b = begin; b < end; ++b) trees->build(b, known_of<T>(p, b), slot);
  });
  for_each_point<T>(context, call, p, search_ns(3), [&](std::int64_t b, Nearest<Acc<T>>& nearest) HWY_ATTR {
    search<true>((*trees)[b], nearest.from(), nearest);
  });
  return MLUOP_STATUS_SUCCESS;
}

/// Whether sorting the known points costs less than comparing every point with all of them.
Fit tree_pays(const Context&, const mluopsCall&, const Problem& p) {
  const Shape& s = p.shape;
  const double pairs = static_cast<double>(s.n) * static_cast<double>(s.m);
  return fit(true, s.m > kLeafPoints && build_ns(s.m) < pairs * cost::kElement);
}

template <class T>
mluOpStatus_t forward(Context& context, const mluopsCall& call, const Problem& p) {
  static constexpr Path<Problem> kPaths[] = {
      {"tree", tree_pays, by_tree<T>},
      {"scan", always<Problem>, by_scan<T>},
  };
  return run_path(context, call, p, kPaths);
}

}  // namespace
}  // namespace mluops::cpu::three_nn::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

MLUOPS_CPU_ENTRY(three_nn_forward, three_nn, forward, mluopsThreeNNForwardProblem, with_element)
