// Which of 64 rectangles meet another, at each instruction-set level.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/spatial/meeting.cpp"
#include <hwy/foreach_target.h>

#include "backends/cpu/runtime/context.h"
#include "backends/cpu/simd/simd-inl.h"
#include "backends/cpu/spatial/box_groups.h"

HWY_BEFORE_NAMESPACE();
namespace mluops::cpu::spatial::HWY_NAMESPACE {
using namespace cpu::HWY_NAMESPACE;

std::uint64_t meeting(const Rectangles& rectangles, const Rectangle& other) {
  const hn::CappedTag<double, 8> d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  std::uint64_t bits = 0;
  for (std::int64_t i = 0; i < rectangles.count; i += lanes) {
    const auto along = [&](int axis) HWY_ATTR {
      return hn::And(hn::Le(hn::LoadU(d, rectangles.low[axis] + i), hn::Set(d, other.high[axis])),
                     hn::Ge(hn::LoadU(d, rectangles.high[axis] + i), hn::Set(d, other.low[axis])));
    };
    std::uint8_t met[8];
    hn::StoreMaskBits(d, hn::And(along(0), along(1)), met);
    bits |= std::uint64_t{met[0]} << i;
  }
  return rectangles.count == Rectangles::kMost ? bits : bits & ((std::uint64_t{1} << rectangles.count) - 1);
}

}  // namespace mluops::cpu::spatial::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mluops::cpu::spatial {

HWY_EXPORT(meeting);

Meeting meeting_of(const Context& context) {
  return HWY_DISPATCH_TABLE(meeting)[context.isa.index];
}

}  // namespace mluops::cpu::spatial
#endif
