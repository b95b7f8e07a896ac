// NmsRotated: keeps each box, best score first, whose IoU with every box kept before is not greater than a threshold.
//
// boxes [N,5|6], scores and output [N]. Boxes go through in blocks of 256, sorted: a block is decided box by box on one
// thread; then those of it that are kept are compared with the later boxes near to them: an item is a group of boxes
// (spatial/box_groups.h) and owns their marks. Groups are compared with rectangles round the boxes kept, N^2 / 32
// pairs; boxes that meet, lanes of a vector: bound by arithmetic.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/kernels/box_iou/nms_rotated.cpp"
#include <hwy/foreach_target.h>

#include <algorithm>

#include "backends/cpu/dispatch.h"
#include "backends/cpu/spatial/score_order.h"
#include "backends/cpu/spatial/suppression-inl.h"
#include "mluops/problem/box_iou.h"

HWY_BEFORE_NAMESPACE();
namespace mluops::cpu::box_iou::HWY_NAMESPACE {
using namespace box_pairs::HWY_NAMESPACE;
using namespace spatial::HWY_NAMESPACE;
namespace {

template <class A>
struct NmsArrays {
  spatial::Order<A> order;
  Lists<Rotated> boxes;  ///< in this order
  spatial::BoxGroups groups;
  std::uint8_t* dropped;

  NmsArrays(Allocator& allocator, const mluopsCall& call, std::int64_t n)
      : order(allocator, call, n),
        boxes(allocator, n),
        groups(allocator, n),
        dropped(allocator.allocate<std::uint8_t>(n)) {}

  /// Below a threshold of 0 boxes that share nothing drop each other.
  void read_bounds(std::int64_t i, double threshold) const {
    const auto number = [&](int field) { return boxes.field[static_cast<std::size_t>(field)][i]; };
    groups[i] = threshold >= 0
                    ? spatial::Rectangle::about(number(Rotated::kX), number(Rotated::kY), number(Rotated::kReach))
                    : spatial::Rectangle();
  }
};

template <class T>
mluOpStatus_t suppress(Context& context, const mluopsCall& call, const mluopsNmsRotatedProblem& p) {
  const std::int64_t n = p.shape.n;
  auto arrays = allocate<NmsArrays<Acc<T>>>(context.arena, call, n);
  if (!arrays) return no_memory(call);
  const auto* const scores = static_cast<const T*>(p.scores);
  arrays->order.add_all(context, call, n, [&](std::int64_t i) { return to_acc(scores[i]); });
  arrays->order.sort(context, call);
  Loop(context, call, n, 30 * cost::kStep).run([&](std::int64_t begin, std::int64_t end, int) {
    for (std::int64_t i = begin; i < end; ++i) {
      arrays->boxes.read(i, static_cast<const T*>(p.boxes) + std::int64_t{arrays->order[i]} * p.shape.width, 0.0);
      arrays->read_bounds(i, p.iou_threshold);
      arrays->dropped[i] = 0;
    }
  });
  arrays->groups.arrange();
  std::int64_t count = 0;
  suppress_boxes(context, call, n, n, arrays->boxes, 0, p.iou_threshold, arrays->dropped, arrays->groups, cost::kStep,
                 [&](std::int64_t i) { p.output[count++] = arrays->order[i]; });
  std::fill(p.output + count, p.output + n, 0);
  *p.result_num = static_cast<std::int32_t>(count);
  return MLUOP_STATUS_SUCCESS;
}

}  // namespace
}  // namespace mluops::cpu::box_iou::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

MLUOPS_CPU_ENTRY(nms_rotated, box_iou, suppress, mluopsNmsRotatedProblem, with_element)
