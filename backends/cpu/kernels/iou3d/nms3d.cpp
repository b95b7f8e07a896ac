// Nms3d: keeps each box whose IoU with every box kept before, seen from above, is not greater than a threshold.
//
// boxes [N,7], keep [N]. Boxes go through in blocks of 64: a block is decided box by box on one thread; then those of
// it that are kept are compared with the later boxes near to them: an item is a group of boxes (spatial/box_groups.h)
// and owns their marks. Groups are compared with rectangles round the boxes kept, N^2 / 32 pairs: bound by arithmetic.
#include <algorithm>

#include "backends/cpu/dispatch.h"
#include "backends/cpu/kernels/iou3d/overlap.h"
#include "backends/cpu/spatial/suppression.h"
#include "mluops/problem/iou3d.h"

namespace mluops::cpu::iou3d {
namespace {

using Problem = mluopsNms3dProblem;
using Shape = mluopsNms3dShape;

template <class A>
struct NmsArrays {
  FlatBox<A>* boxes;
  spatial::BoxGroups groups;
  std::uint8_t* dropped;

  NmsArrays(Allocator& allocator, const Shape& s)
      : boxes(allocator.allocate<FlatBox<A>>(s.n)),
        groups(allocator, s.n),
        dropped(allocator.allocate<std::uint8_t>(s.n)) {}

  /// Below a threshold of 0 boxes that share nothing drop each other.
  void read_bounds(std::int64_t i, A threshold) const {
    const FlatBox<A>& box = boxes[i];
    groups[i] = threshold >= 0
                    ? spatial::Rectangle::about(static_cast<double>(box.centre.x), static_cast<double>(box.centre.y),
                                                static_cast<double>(box.reach))
                    : spatial::Rectangle();
  }
};

template <class T>
mluOpStatus_t suppress(Context& context, const mluopsCall& call, const Problem& p) {
  using A = Acc<T>;
  const Shape& s = p.shape;
  auto arrays = allocate<NmsArrays<A>>(context.arena, s);
  if (!arrays) return no_memory(call);
  const auto threshold = static_cast<A>(p.exact_iou_threshold);
  Loop(context, call, s.n, 30 * cost::kStep).run([&](std::int64_t begin, std::int64_t end, int) {
    for (std::int64_t i = begin; i < end; ++i) {
      arrays->boxes[i] = FlatBox<A>::read(static_cast<const T*>(p.boxes) + 7 * i);
      arrays->read_bounds(i, threshold);
      arrays->dropped[i] = 0;
    }
  });
  arrays->groups.arrange();
  const double pair_ns = s.rotated != 0 ? 2 * cost::kStep : cost::kStep;
  const auto drops = [&](std::int64_t i, std::int64_t j) {
    const FlatBox<A>&a = arrays->boxes[i], &b = arrays->boxes[j];
    const A shared = s.rotated != 0 ? overlap(a, b) : straight_overlap(a, b);
    return shared / greater(a.area() + b.area() - shared, kNothing<A>) > threshold;
  };
  std::int64_t count = 0;
  spatial::suppress_pairs(context, call, s.n, arrays->dropped, arrays->groups, pair_ns, drops,
                          [&](std::int64_t i) { p.keep[count++] = static_cast<std::int32_t>(i); });
  std::fill(p.keep + count, p.keep + s.n, 0);
  *p.num_out = static_cast<std::int32_t>(count);
  return MLUOP_STATUS_SUCCESS;
}

}  // namespace
}  // namespace mluops::cpu::iou3d

MLUOPS_CPU_ENTRY_OF_ONE_LEVEL(nms3d, iou3d, suppress, mluopsNms3dProblem, with_element)
