// Which of many items a few drop, lanes of a vector at a time. Include after foreach_target.h.
#include <algorithm>
#include <cstdint>

#include "backends/cpu/simd/simd-inl.h"

#if defined(MLUOPS_CPU_SPATIAL_SUPPRESSION_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HWY_TARGET_TOGGLE
#undef MLUOPS_CPU_SPATIAL_SUPPRESSION_INL_H_
#else
#define MLUOPS_CPU_SPATIAL_SUPPRESSION_INL_H_
#endif

HWY_BEFORE_NAMESPACE();
namespace mluops::cpu::spatial::HWY_NAMESPACE {
using namespace cpu::HWY_NAMESPACE;

/// Marks those of the items [first, last) that one of kept[0..count) drops: at(d, j) are lanes of items from j on,
/// drops(d, items, k) the mask of those that item k drops. Lanes that are all marked are not looked at.
template <class At, class Drops>
HWY_INLINE void drop_near(std::uint8_t* dropped, const std::int64_t* kept, std::int64_t count, std::int64_t first,
                          std::int64_t last, const At& at, const Drops& drops) {
  for_lanes<double>(last - first, [&](auto d, std::int64_t j) HWY_ATTR {
    const std::size_t lanes = hn::Lanes(d);
    std::uint8_t* const marks = dropped + first + j;
    if (std::all_of(marks, marks + lanes, [](std::uint8_t mark) { return mark != 0; })) return;
    const auto items = at(d, first + j);
    auto found = hn::MaskFromVec(hn::Zero(d));
    for (std::int64_t k = 0; k < count && !hn::AllTrue(d, found); ++k) found = hn::Or(found, drops(d, items, kept[k]));
    HWY_ALIGN double of_lanes[hn::MaxLanes(d)];
    hn::Store(hn::IfThenElseZero(found, hn::Set(d, 1.0)), d, of_lanes);
    for (std::size_t i = 0; i < lanes; ++i) marks[i] |= static_cast<std::uint8_t>(of_lanes[i] != 0);
  });
}

}  // namespace mluops::cpu::spatial::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
