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

/// The kept boxes of a block; each drops the boxes whose IoU with it exceeds the threshold, a vector at a time.
template <class Kind>
class HeldBoxes {
 public:
  HeldBoxes(const box_pairs::HWY_NAMESPACE::Lists<Kind>& boxes, double offset, double threshold)
      : boxes_(boxes), offset_(offset), threshold_(threshold) {
    clear();
  }

  /// Missing boxes share nothing with any other.
  void clear() {
    count_ = 0;
    kept_.clear(0, kRoom);
  }
  void add(std::int64_t i) { kept_.copy(count_++, boxes_, i); }
  bool drops(std::int64_t lot, std::uint64_t bits, std::int64_t j) const {
    const hn::CappedTag<double, 16> d;
    using Lanes = box_pairs::HWY_NAMESPACE::Boxes<Kind, decltype(d)>;
    const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
    const Lanes other = Lanes::all(d, boxes_, j);
    const std::int64_t first = lot * Rectangles::kMost, count = std::min(Rectangles::kMost, count_ - first);
    for (std::int64_t k = 0; k < count; k += lanes) {
      if ((bits >> k & ((std::uint64_t{1} << lanes) - 1)) == 0) continue;
      const Lanes best = Lanes::of(d, kept_, first + k);
      const auto iou = box_pairs::HWY_NAMESPACE::iou<Kind>(d, best, other, hn::Set(d, offset_), false);
      const auto there = hn::FirstN(d, static_cast<std::size_t>(std::min(lanes, count - k)));
      if (!hn::AllFalse(d, hn::And(there, hn::Gt(iou, hn::Set(d, threshold_))))) return true;
    }
    return false;
  }

 private:
  static constexpr std::int64_t kRoom = kBlockItems + 16;

  const box_pairs::HWY_NAMESPACE::Lists<Kind>& boxes_;
  double offset_, threshold_;
  std::int64_t count_ = 0;
  double block_[Kind::kFields * kRoom];
  box_pairs::HWY_NAMESPACE::Lists<Kind> kept_{block_, kRoom};
};

/// suppress() of boxes by those kept that have a greater IoU with them than the threshold.
template <class Kind, class Keep>
void suppress_boxes(const Context& context, const mluopsCall& call, std::int64_t n, std::int64_t most,
                    const box_pairs::HWY_NAMESPACE::Lists<Kind>& boxes, double offset, double threshold,
                    std::uint8_t* dropped, const BoxGroups& groups, double pair_ns, const Keep& keep) {
  HeldBoxes<Kind> held(boxes, offset, threshold);
  suppress(context, call, n, most, dropped, groups, pair_ns, held, keep);
}

}  // namespace mluops::cpu::spatial::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
