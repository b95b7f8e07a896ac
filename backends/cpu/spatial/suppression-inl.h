// Greedy suppression of boxes. Include after foreach_target.h.
#include <algorithm>
#include <cstdint>

#include "backends/cpu/simd/simd-inl.h"
#include "backends/cpu/spatial/box_pairs-inl.h"
#include "backends/cpu/spatial/suppression.h"

#if defined(MLUOPS_CPU_SPATIAL_SUPPRESSION_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HWY_TARGET_TOGGLE
#undef MLUOPS_CPU_SPATIAL_SUPPRESSION_INL_H_
#else
#define MLUOPS_CPU_SPATIAL_SUPPRESSION_INL_H_
#endif

HWY_BEFORE_NAMESPACE();
namespace mluops::cpu::spatial::HWY_NAMESPACE {
using namespace cpu::HWY_NAMESPACE;

/// suppress() of boxes by those kept that have a greater IoU with them than the threshold, lanes of a vector at a time;
/// lanes that are all marked are not looked at.
template <class Kind, class Keep>
void suppress_boxes(const Context& context, const mluopsCall& call, std::int64_t n, std::int64_t most,
                    const box_pairs::HWY_NAMESPACE::Lists<Kind>& boxes, double offset, double threshold,
                    std::uint8_t* dropped, double pair_ns, const Keep& keep) {
  const auto drop = [&](const std::int64_t* kept, std::int64_t count, std::int64_t first, std::int64_t last) HWY_ATTR {
    for_lanes<double>(last - first, [&](auto d, std::int64_t j) HWY_ATTR {
      using Lanes = box_pairs::HWY_NAMESPACE::Boxes<Kind, decltype(d)>;
      const std::size_t lanes = hn::Lanes(d);
      std::uint8_t* const marks = dropped + first + j;
      if (std::all_of(marks, marks + lanes, [](std::uint8_t mark) { return mark != 0; })) return;
      const auto others = Lanes::of(d, boxes, first + j);
      auto found = hn::MaskFromVec(hn::Zero(d));
      for (std::int64_t k = 0; k < count && !hn::AllTrue(d, found); ++k) {
        const auto best = Lanes::all(d, boxes, kept[k]);
        const auto iou = box_pairs::HWY_NAMESPACE::iou<Kind>(d, best, others, hn::Set(d, offset), false);
        found = hn::Or(found, hn::Gt(iou, hn::Set(d, threshold)));
      }
      HWY_ALIGN double of_lanes[hn::MaxLanes(d)];
      hn::Store(hn::IfThenElseZero(found, hn::Set(d, 1.0)), d, of_lanes);
      for (std::size_t i = 0; i < lanes; ++i) marks[i] |= static_cast<std::uint8_t>(of_lanes[i] != 0);
    });
  };
  suppress(context, call, n, most, dropped, pair_ns, drop, keep);
}

}  // namespace mluops::cpu::spatial::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
