// Knn: for each of M centres the k nearest of N points.
//
// scan: all N points for each centre, 32 at a time. tree: the points of each image sorted into a box tree
// (spatial/box_tree.h), of which a search sees a few leaves. Both find the k least pairs (distance, index) by
// nearest-inl.h, whatever the order in which points are seen, and give the same bits.
//
// xyz [B,N,3], new_xyz [B,M,3], idx and dist2 [B,M,k]. An item is a centre and owns its row.
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
