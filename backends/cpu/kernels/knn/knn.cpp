// Knn: for each of M centres the k nearest of N points.
//
// scan: all N points for each centre, 32 at a time. tree: the points of each image sorted into a box tree
// (spatial/box_tree.h), of which a search sees a few leaves. Both find the k least pairs (distance, index) by
// nearest-inl.h, whatever the order in which points are seen, and give the same bits.
//
// xyz [B,N,3], new_xyz [B,M,3], idx and dist2 [B,M,k]. An item is a run of centres of one image and owns their rows.
// Points are read once and stay in the caches; the rest is arithmetic: 8 flops a pair, and to compare the distances of
// some more than k points 10 times and those of k with each other.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/kernels/knn/knn.cpp"
#include <hwy/foreach_target.h>

#include <algorithm>

#include "backends/cpu/dispatch.h"
#include "backends/cpu/kernels/knn/nearest-inl.h"
#include "backends/cpu/spatial/search-inl.h"

HWY_BEFORE_NAMESPACE();
namespace mluops::cpu::knn::HWY_NAMESPACE {
namespace {

using Problem = mluopsKnnProblem;
using Shape = mluopsKnnShape;

/// Centres whose neighbours one item finds.
constexpr std::int64_t kRun = 32;

/// The working memory of a call: leaves of all images in their own order, or their trees, and what each slot gathers.
template <class A>
struct Arrays {
  std::int64_t leaves_each, k;
  Leaf<A>* leaves;
  Trees<A> trees;
  std::int64_t room_bytes;
  std::byte* rooms;

  Arrays(Allocator& allocator, const Shape& s, bool sorted, std::int64_t building, std::int64_t searching)
      : leaves_each(leaves_of(s.n)),
        k(s.k),
        leaves(allocator.allocate<Leaf<A>>(sorted ? 0 : s.b, leaves_each)),
        trees(allocator, s.n, sorted ? s.b : 0, sorted ? building : 0) {
    Allocator measure;
    static_cast<void>(Gathered<A>(measure, s.k));
    room_bytes = measure.bytes();
    rooms = allocator.allocate<std::byte>(searching, room_bytes);
  }
  Gathered<A> room(int slot) const {
    Allocator cut(rooms + slot * room_bytes);
    return Gathered<A>(cut, k);
  }
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
    const auto room = arrays.room(slot);
    for (std::int64_t item = begin; item < end; ++item) {
      const std::int64_t b = item / runs, first = item % runs * kRun, last = std::min(s.m, first + kRun);
      for (std::int64_t at = b * s.m + first; at < b * s.m + last; ++at) {
        const auto from = Point<Acc<T>>::read(static_cast<const T*>(p.new_xyz) + 3 * at);
        Nearest<Acc<T>> nearest(from, room, s.k);
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

}  // namespace
}  // namespace mluops::cpu::knn::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

MLUOPS_CPU_ENTRY(knn, knn, neighbours, mluopsKnnProblem, with_element)
