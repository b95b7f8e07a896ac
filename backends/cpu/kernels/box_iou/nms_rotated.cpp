// NmsRotated: keeps each box, best score first, whose IoU with every box kept before is not greater than a threshold.
//
// boxes [N,5|6], scores and output [N]. Boxes go through in blocks of 64, sorted: a block is decided box by box on one
// thread; then those of it that are kept are compared with all later boxes, lanes of a vector: an item is one of these
// and owns its mark. At most N^2 / 2 pairs, most of them far apart: bound by arithmetic.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/kernels/box_iou/nms_rotated.cpp"
#include <hwy/foreach_target.h>

#include <algorithm>

#include "backends/cpu/dispatch.h"
#include "backends/cpu/kernels/box_iou/boxes-inl.h"
#include "backends/cpu/runtime/machine.h"
#include "backends/cpu/runtime/parallel.h"
#include "backends/cpu/spatial/score_order.h"

HWY_BEFORE_NAMESPACE();
namespace mluops::cpu::box_iou::HWY_NAMESPACE {
namespace {

constexpr std::int64_t kBlock = 64;

template <class A>
struct NmsArrays {
  spatial::Order<A> order;
  Lists<Rotated> boxes;  ///< in this order
  std::uint8_t* dropped;

  NmsArrays(Allocator& allocator, std::int64_t n)
      : order(allocator, n), boxes(allocator, n), dropped(allocator.allocate<std::uint8_t>(n)) {}
};

class Rule {
 public:
  Rule(const Lists<Rotated>& boxes, std::uint8_t* dropped, double threshold)
      : boxes_(boxes), dropped_(dropped), threshold_(threshold) {}

  /// Drops those of the boxes [first, last) that share too much with one of kept[0..count).
  void drop(const std::int64_t* kept, std::int64_t count, std::int64_t first, std::int64_t last) const {
    for_lanes<double>(last - first, [&](auto d, std::int64_t j) HWY_ATTR {
      using Vector = Boxes<Rotated, decltype(d)>;
      const std::size_t lanes = hn::Lanes(d);
      std::uint8_t* const marks = dropped_ + first + j;
      if (std::all_of(marks, marks + lanes, [](std::uint8_t mark) { return mark != 0; })) return;
      const Vector boxes = Vector::of(d, boxes_, first + j);
      const auto threshold = hn::Set(d, threshold_);
      auto drops = hn::MaskFromVec(hn::Zero(d));
      for (std::int64_t k = 0; k < count && !hn::AllTrue(d, drops); ++k) {
        const auto found = iou<Rotated>(d, Vector::all(d, boxes_, kept[k]), boxes, hn::Zero(d), false);
        drops = hn::Or(drops, hn::Gt(found, threshold));
      }
      HWY_ALIGN double of_lanes[hn::MaxLanes(d)];
      hn::Store(hn::IfThenElseZero(drops, hn::Set(d, 1.0)), d, of_lanes);
      for (std::size_t i = 0; i < lanes; ++i) marks[i] |= static_cast<std::uint8_t>(of_lanes[i] != 0);
    });
  }
  /// Decides the boxes [first, last) among themselves; returns how many of them are kept, and which.
  std::int64_t decide(std::int64_t first, std::int64_t last, std::int64_t* kept) const {
    std::int64_t count = 0;
    for (std::int64_t i = first; i < last; ++i) {
      if (dropped_[i] != 0) continue;
      kept[count++] = i;
      drop(&i, 1, i + 1, last);
    }
    return count;
  }

 private:
  const Lists<Rotated>& boxes_;
  std::uint8_t* dropped_;
  double threshold_;
};

template <class T>
mluOpStatus_t suppress(Context& context, const mluopsCall& call, const mluopsNmsRotatedProblem& p) {
  const std::int64_t n = p.shape.n;
  auto arrays = allocate<NmsArrays<Acc<T>>>(context.arena, n);
  if (!arrays) return no_memory(call);
  for (std::int64_t i = 0; i < n; ++i) arrays->order.add(i, to_acc(static_cast<const T*>(p.scores)[i]));
  arrays->order.sort();
  Loop(context, call, n, cost::kTurnBox).run([&](std::int64_t begin, std::int64_t end, int) {
    for (std::int64_t i = begin; i < end; ++i) {
      arrays->boxes.read(i, static_cast<const T*>(p.boxes) + std::int64_t{arrays->order[i]} * p.shape.width, 0.0);
      arrays->dropped[i] = 0;
    }
  });
  const Rule rule(arrays->boxes, arrays->dropped, p.iou_threshold);
  std::int64_t count = 0, kept[kBlock];
  for (std::int64_t first = 0; first < n; first += kBlock) {
    const std::int64_t last = std::min(n, first + kBlock), fresh = rule.decide(first, last, kept);
    for (std::int64_t k = 0; k < fresh; ++k) p.output[count++] = arrays->order[kept[k]];
    Loop::one_of_many(context, call, n - last, cost::kAlignedPair * static_cast<double>(fresh))
        .run([&](std::int64_t begin, std::int64_t end, int) { rule.drop(kept, fresh, last + begin, last + end); });
  }
  std::fill(p.output + count, p.output + n, 0);
  *p.result_num = static_cast<std::int32_t>(count);
  return MLUOP_STATUS_SUCCESS;
}

MLUOPS_CPU_KERNEL(suppress, mluopsNmsRotatedProblem, with_element)

}  // namespace
}  // namespace mluops::cpu::box_iou::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mluops::cpu {

MLUOPS_CPU_ENTRY(nms_rotated, box_iou, suppress, mluopsNmsRotatedProblem)

}  // namespace mluops::cpu
#endif
