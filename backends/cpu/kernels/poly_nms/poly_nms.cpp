// PolyNms: keeps each quadrilateral, best score first, whose IoU with every one kept before is not greater than a
// threshold.
//
// boxes [N,9], output [N]. Quadrilaterals go through in blocks of 256, sorted: a block is decided one by one on one
// thread; then those of it that are kept are compared with the later ones near to them: an item is a group of these
// (spatial/box_groups.h) and owns their marks. Groups are compared with the bounds of those kept, N^2 / 32 pairs: bound
// by arithmetic, in double.
#include <algorithm>
#include <cstdint>

#include "backends/cpu/dispatch.h"
#include "backends/cpu/spatial/polygon.h"
#include "backends/cpu/spatial/score_order.h"
#include "backends/cpu/spatial/suppression.h"
#include "mluops/problem/poly_nms.h"

namespace mluops::cpu::poly_nms {
namespace {

using polygon::Quadrilateral;

/// 1 where both have no area.
double iou(const Quadrilateral& a, const Quadrilateral& b) {
  return a.area() == 0 && b.area() == 0 ? 1 : polygon::shares(a, b).iou();
}

template <class A>
struct Arrays {
  spatial::Order<A> order;
  Quadrilateral* polygons;  ///< in this order
  spatial::BoxGroups groups;
  std::uint8_t* dropped;

  Arrays(Allocator& allocator, const mluopsCall& call, std::int64_t n)
      : order(allocator, call, n),
        polygons(allocator.allocate<Quadrilateral>(n)),
        groups(allocator, n),
        dropped(allocator.allocate<std::uint8_t>(n)) {}

  /// Quadrilaterals without area drop each other wherever they lie; all do if the threshold is below 0.
  void read_bounds(std::int64_t i, double threshold) const {
    const polygon::Bounds& b = polygons[i].bounds();
    groups[i] = threshold >= 0 && polygons[i].area() != 0 ? spatial::Rectangle{{b.low.x, b.low.y}, {b.high.x, b.high.y}}
                                                          : spatial::Rectangle();
  }
};

template <class T>
mluOpStatus_t suppress(Context& context, const mluopsCall& call, const mluopsPolyNmsProblem& p) {
  const std::int64_t n = p.shape.n;
  const T* const boxes = static_cast<const T*>(p.boxes);
  auto arrays = allocate<Arrays<Acc<T>>>(context.arena, call, n);
  if (!arrays) return no_memory(call);
  arrays->order.add_all(context, call, n, [&](std::int64_t i) { return to_acc(boxes[9 * i + 8]); });
  arrays->order.sort(context, call);
  Loop(context, call, n, 30 * cost::kStep).run([&](std::int64_t begin, std::int64_t end, int) {
    for (std::int64_t i = begin; i < end; ++i) {
      arrays->polygons[i] = Quadrilateral::of(boxes + 9 * std::int64_t{arrays->order[i]});
      arrays->read_bounds(i, p.iou_threshold);
      arrays->dropped[i] = 0;
    }
  });
  arrays->groups.arrange();
  const auto drops = [&](std::int64_t i, std::int64_t j) {
    return iou(arrays->polygons[i], arrays->polygons[j]) > p.iou_threshold;
  };
  std::int64_t count = 0;
  spatial::suppress_pairs(context, call, n, arrays->dropped, arrays->groups, cost::kStep, drops,
                          [&](std::int64_t i) { p.output[count++] = arrays->order[i]; });
  std::sort(p.output, p.output + count);
  std::fill(p.output + count, p.output + n, 0);
  *p.output_size = static_cast<std::int32_t>(count);
  return MLUOP_STATUS_SUCCESS;
}

}  // namespace
}  // namespace mluops::cpu::poly_nms

MLUOPS_CPU_ENTRY_OF_ONE_LEVEL(poly_nms, poly_nms, suppress, mluopsPolyNmsProblem, with_element)
