// Knn: for each of M centres the k nearest of N points.
//
// scan: all N points for each centre, 32 at a time. tree: the points of each image sorted into a box tree
// (spatial/box_tree.h), of which a search sees a few leaves. Both keep the k least pairs (distance, index) in a heap
// whose top is the greatest of them, so the order in which points are seen does not matter, and give the same bits.
//
// xyz [B,N,3], new_xyz [B,M,3], idx and dist2 [B,M,k]. An item is a run of centres of one image and owns their rows.
// Points are read once and stay in the caches; the rest is arithmetic: 8 flops a pair, log2(k) steps a point that
// enters.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/kernels/knn/knn.cpp"
#include <hwy/foreach_target.h>

#include <algorithm>

#include "backends/cpu/dispatch.h"
#include "backends/cpu/runtime/machine.h"
#include "backends/cpu/runtime/parallel.h"
#include "backends/cpu/runtime/path.h"
#include "backends/cpu/spatial/search-inl.h"

HWY_BEFORE_NAMESPACE();
namespace mluops::cpu::knn::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
using namespace spatial;
using namespace spatial::HWY_NAMESPACE;
namespace {

using Problem = mluopsKnnProblem;
using Shape = mluopsKnnShape;

/// Centres whose neighbours one item finds.
constexpr std::int64_t kRun = 32;

/// mmcv's start value.
template <class A>
constexpr Neighbour<A> kMissing = {A{1e10}, -1};

/// The k least neighbours among the points of the leaves it visits: a heap, the greatest on top.
template <class A>
class Nearest {
 public:
  Nearest(const Point<A>& from, Neighbour<A>* heap, std::int64_t k) : from_(from), heap_(heap), k_(k) {
    std::fill_n(heap, k, kMissing<A>);
  }

  const Point<A>& from() const { return from_; }
  A bound() const { return heap_[0].distance; }
  std::int32_t last_index() const { return heap_[0].index; }

  HWY_INLINE void operator()(const Leaf<A>& leaf) { take_near(leaf, from_, *this); }
  HWY_INLINE void take(const Neighbour<A>& next) {
    if (next < heap_[0]) replace_top(next);
  }

  template <class T>
  void store(std::int32_t* idx, T* dist2) {
    std::sort_heap(heap_, heap_ + k_);
    for (std::int64_t j = 0; j < k_; ++j) {
      idx[j] = std::max(heap_[j].index, 0);
      dist2[j] = from_acc<T>(heap_[j].distance);
    }
  }

 private:
  void replace_top(const Neighbour<A>& next) {
    std::int64_t hole = 0;
    for (std::int64_t child = 1; child < k_; child = 2 * hole + 1) {
      child += child + 1 < k_ && heap_[child] < heap_[child + 1] ? 1 : 0;
      if (heap_[child] < next) break;
      heap_[hole] = heap_[child];
      hole = child;
    }
    heap_[hole] = next;
  }

  Point<A> from_;
  Neighbour<A>* heap_;
  std::int64_t k_;
};

/// The working memory of a call: leaves of all images in their own order, or their trees, and a heap for each slot.
template <class A>
struct Arrays {
  std::int64_t leaves_each, k;
  Leaf<A>* leaves;
  Trees<A> trees;
  Neighbour<A>* heaps;

  Arrays(Allocator& allocator, const Shape& s, bool sorted, std::int64_t building, std::int64_t searching)
      : leaves_each(leaves_of(s.n)),
        k(s.k),
        leaves(allocator.allocate<Leaf<A>>(sorted ? 0 : s.b, leaves_each)),
        trees(allocator, s.n, sorted ? s.b : 0, sorted ? building : 0),
        heaps(allocator.allocate<Neighbour<A>>(searching, s.k)) {}
};

Loop searching(const Context& context, const mluopsCall& call, const Shape& s, double point_ns) {
  return {context, call, s.b * ceil_div(s.m, kRun), static_cast<double>(std::min(s.m, kRun)) * point_ns};
}

/// visit(image, nearest) for every centre.
template <class T, class Visit>
void for_each_centre(const Loop& loop, const Problem& p, const Arrays<Acc<T>>& arrays, Visit&& visit) {
  const Shape& s = p.shape;
  const std::int64_t runs = ceil_div(s.m, kRun);
  loop.run([&](std::int64_t begin, std::int64_t end, int slot) HWY_ATTR {
    for (std::int64_t item = begin; item < end; ++item) {
      const std::int64_t b = item / runs, first = item % runs * kRun, last = std::min(s.m, first + kRun);
      for (std::int64_t at = b * s.m + first; at < b * s.m + last; ++at) {
        const auto from = Point<Acc<T>>::read(static_cast<const T*>(p.new_xyz) + 3 * at);
        Nearest<Acc<T>> nearest(from, arrays.heaps + slot * s.k, s.k);
        visit(b, nearest);
        nearest.store(p.idx + at * s.k, static_cast<T*>(p.dist2) + at * s.k);
      }
    }
  });
}

template <class T>
const T* points_of(const Problem& p, std::int64_t b) {
  return static_cast<const T*>(p.xyz) + 3 * b * p.shape.n;
}

template <class T>
mluOpStatus_t by_scan(Context& context, const mluopsCall& call, const Problem& p) {
  const Shape& s = p.shape;
  const double point_ns = cost::kElement * static_cast<double>(s.n) + search_ns(s.k);
  const Loop loop = searching(context, call, s, point_ns);
  const auto arrays = allocate<Arrays<Acc<T>>>(context.arena, s, false, std::int64_t{0}, std::int64_t{loop.slots()});
  if (!arrays) return no_memory(call);
  Loop(context, call, s.b, static_cast<double>(s.n)).run([&](std::int64_t begin, std::int64_t end, int) {
    for (std::int64_t b = begin; b < end; ++b) {
      fill_leaves(points_of<T>(p, b), s.n, arrays->leaves + b * arrays->leaves_each);
    }
  });
  for_each_centre<T>(loop, p, *arrays, [&](std::int64_t b, Nearest<Acc<T>>& nearest) HWY_ATTR {
    const Leaf<Acc<T>>* const leaves = arrays->leaves + b * arrays->leaves_each;
    for (std::int64_t i = 0; i < arrays->leaves_each; ++i) nearest(leaves[i]);
  });
  return MLUOP_STATUS_SUCCESS;
}

template <class T>
mluOpStatus_t by_tree(Context& context, const mluopsCall& call, const Problem& p) {
  const Shape& s = p.shape;
  const Loop building(context, call, s.b, build_ns(s.n));
  const Loop loop = searching(context, call, s, search_ns(s.k));
  const auto arrays =
      allocate<Arrays<Acc<T>>>(context.arena, s, true, std::int64_t{building.slots()}, std::int64_t{loop.slots()});
  if (!arrays) return no_memory(call);
  building.run([&](std::int64_t begin, std::int64_t end, int slot) {
    for (std::int64_t b = begin; b < end; ++b) arrays->trees.build(b, points_of<T>(p, b), slot);
  });
  for_each_centre<T>(loop, p, *arrays, [&](std::int64_t b, Nearest<Acc<T>>& nearest) HWY_ATTR {
    search<true>(arrays->trees[b], nearest.from(), nearest);
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
      {"tree", tree_pays, by_tree<T>},
      {"scan", always<Problem>, by_scan<T>},
  };
  return run_path(context, call, p, kPaths);
}

MLUOPS_CPU_KERNEL(neighbours, mluopsKnnProblem, with_element)

}  // namespace
}  // namespace mluops::cpu::knn::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
MLUOPS_CPU_ENTRY(knn, knn, neighbours, mluopsKnnProblem)
#endif
