// BoxesOverlapBev: the area that each of N rotated boxes shares with each of M, seen from above.
//
// boxes_a [N,7], boxes_b [M,7], overlap [N,M]. Corners, cosine and sine of every box are made once. An item is a box of
// boxes_a and owns its row. Two boxes far apart cost 7 flops, others a polygon: some 16 pairs of sides and a sort,
// bound by arithmetic that branches.
#include "backends/cpu/dispatch.h"
#include "backends/cpu/spatial/flat_box.h"
#include "mluops/problem/iou3d.h"

namespace mluops::cpu::iou3d {
using flat_box::FlatBox;
namespace {

template <class A>
struct OverlapArrays {
  FlatBox<A>*a, *b;

  OverlapArrays(Allocator& allocator, const mluopsBoxesOverlapBevShape& s)
      : a(allocator.allocate<FlatBox<A>>(s.n)), b(allocator.allocate<FlatBox<A>>(s.m)) {}
};

template <class T>
mluOpStatus_t all_pairs(Context& context, const mluopsCall& call, const mluopsBoxesOverlapBevProblem& p) {
  using A = Acc<T>;
  const mluopsBoxesOverlapBevShape& s = p.shape;
  const auto arrays = allocate<OverlapArrays<A>>(context.arena, s);
  if (!arrays) return no_memory(call);
  const auto prepare = [&](const void* from, std::int64_t count, FlatBox<A>* to) {
    Loop(context, call, count, 30 * cost::kStep).run([&](std::int64_t begin, std::int64_t end, int) {
      for (std::int64_t i = begin; i < end; ++i) to[i] = FlatBox<A>::read(static_cast<const T*>(from) + 7 * i);
    });
  };
  prepare(p.boxes_a, s.n, arrays->a);
  prepare(p.boxes_b, s.m, arrays->b);
  Loop(context, call, s.n, 10 * cost::kStep * static_cast<double>(s.m))
      .run([&](std::int64_t begin, std::int64_t end, int) {
        for (std::int64_t i = begin; i < end; ++i) {
          T* const row = static_cast<T*>(p.overlap) + i * s.m;
          for (std::int64_t j = 0; j < s.m; ++j) row[j] = from_acc<T>(overlap(arrays->a[i], arrays->b[j]));
        }
      });
  return MLUOP_STATUS_SUCCESS;
}

}  // namespace
}  // namespace mluops::cpu::iou3d

MLUOPS_CPU_ENTRY_OF_ONE_LEVEL(boxes_overlap_bev, iou3d, all_pairs, mluopsBoxesOverlapBevProblem, with_element)
