// ThreeNN: for each of N points the three nearest of M.
//
// scan: all M points for each of the N, 32 at a time. tree: the known points of each image sorted into a box tree
// (spatial/box_tree.h), of which a search sees a few leaves. Both keep the three least pairs (distance, index), so the
// order in which points are seen does not matter, and are bitwise equal.
//
// unknown [B,N,3], known [B,M,3], dist2 and idx [B,N,3]. An item is an unknown point and owns its row. Known points are
// read once and fit the second cache up to some 10^4; the rest is arithmetic: 8 flops a pair.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/kernels/three_nn/forward.cpp"
#include <hwy/foreach_target.h>

#include <algorithm>
#include <limits>
#include <type_traits>
#include <utility>

#include "backends/cpu/dispatch.h"
#include "backends/cpu/spatial/search-inl.h"
#include "mluops/problem/three_nn.h"

HWY_BEFORE_NAMESPACE();
namespace mluops::cpu::three_nn::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
using namespace spatial;
using namespace spatial::HWY_NAMESPACE;
namespace {

using Problem = mluopsThreeNNForwardProblem;
using Shape = mluopsThreeNNShape;

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

template <class T, bool kSorted>
mluOpStatus_t search_by(Context& context, const mluopsCall& call, const Problem& p) {
  using A = Acc<T>;
  const Shape& s = p.shape;
  const Loop building(context, call, s.b, build_ns(s.m, kSorted));
  const auto known = allocate<PointSets<A>>(context.arena, s.m, s.b, kSorted, std::int64_t{building.slots()});
  if (!known) return no_memory(call);
  building.run([&](std::int64_t begin, std::int64_t end, int slot) {
    for (std::int64_t b = begin; b < end; ++b) known->fill(b, static_cast<const T*>(p.known) + 3 * b * s.m, slot);
  });
  const double point_ns = search_ns(3) + (kSorted ? 0 : cost::kElement * static_cast<double>(s.m));
  Loop(context, call, s.b * s.n, point_ns).run([&](std::int64_t begin, std::int64_t end, int) HWY_ATTR {
    for (std::int64_t i = begin; i < end; ++i) {
      Nearest<A> nearest(Point<A>::read(static_cast<const T*>(p.unknown) + 3 * i));
      search_set<kSorted>(*known, i / s.n, nearest);
      nearest.store(static_cast<T*>(p.dist2) + 3 * i, p.idx + 3 * i);
    }
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
      {"tree", tree_pays, search_by<T, true>},
      {"scan", always<Problem>, search_by<T, false>},
  };
  return run_path(context, call, p, kPaths);
}

}  // namespace
}  // namespace mluops::cpu::three_nn::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

MLUOPS_CPU_ENTRY(three_nn_forward, three_nn, forward, mluopsThreeNNForwardProblem, with_element)
