// The sweep of hard suppression: each box, best score first, is kept or belongs to a better box that was kept.
//
// Let w be the width of a box and t the threshold. A box that overlaps it with IoU >= t is between t w and w / t wide
// and shares at least t times the greater of both widths with it. So their centres are at most
// w (1 - t) max(1, 1 / 2t) apart: kept boxes lie in vertical strips of the plane, and a box is compared with those in
// the strips that near, a vector of them at a time. One thread: each box waits for those before it.
#if defined(MLUOPS_CPU_NMS_SWEEP_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HWY_TARGET_TOGGLE
#undef MLUOPS_CPU_NMS_SWEEP_INL_H_
#else
#define MLUOPS_CPU_NMS_SWEEP_INL_H_
#endif

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "backends/cpu/kernels/nms/boxes.h"
#include "backends/cpu/runtime/index.h"
#include "backends/cpu/simd/simd-inl.h"
#include "backends/cpu/spatial/box_pairs-inl.h"
#include "backends/cpu/spatial/score_order.h"
#include "mluops/problem/nms.h"

HWY_BEFORE_NAMESPACE();
namespace mluops::cpu::nms::HWY_NAMESPACE {
using namespace box_pairs::HWY_NAMESPACE;

constexpr std::int32_t kNone = -1, kUnknown = -2;

/// Strips for so many boxes: as many as leave some vectors of kept boxes in each.
inline std::int64_t strips_of(std::int64_t boxes) {
  return std::clamp<std::int64_t>(boxes / 128, 1, 256);
}

/// Slots of the strips for so many boxes.
inline std::int64_t slots_of(std::int64_t boxes) {
  return boxes + strips_of(boxes) * kPad;
}

template <class A>
struct SweepArrays {
  spatial::Order<A> order;
  Lists<Upright<A>> boxes;  ///< in this order
  std::int32_t* owner;
  Lists<Upright<A>> kept;      ///< strip by strip; whole vectors, the rest of which is empty
  std::int32_t* ranks;         ///< of those kept
  std::int64_t *begin, *ends;  ///< of the kept boxes of each strip

  SweepArrays(Allocator& allocator, std::int64_t most)
      : order(allocator, most),
        boxes(allocator, most),
        owner(allocator.allocate<std::int32_t>(most)),
        kept(allocator, slots_of(most)),
        ranks(allocator.allocate<std::int32_t>(slots_of(most))),
        begin(allocator.allocate<std::int64_t>(strips_of(most))),
        ends(allocator.allocate<std::int64_t>(strips_of(most))) {}

  /// Sorts what was added to `order` and reads the boxes.
  template <class T>
  void read(const BoxSource<T>& source, A offset) {
    order.sort();
    for (std::int64_t rank = 0; rank < order.size(); ++rank) boxes.read(rank, source[order[rank]].data(), offset);
  }
};

/// kFirst: tells which kept box is the first to suppress a box, not only that there is one, and equality with the
/// threshold suppresses.
template <class A, bool kFirst>
class Sweep {
 public:
  Sweep(const mluopsNmsShape& s, SweepArrays<A>& arrays)
      : offset_(static_cast<A>(s.offset)),
        threshold_(static_cast<A>(s.iou_threshold)),
        arrays_(arrays),
        size_(arrays.order.size()),
        limited_(kFirst ? threshold_ > 0 : threshold_ >= 0),
        reach_(reach(threshold_)),
        strips_(limited_ ? strips_of(size_) : 1) {}

  /// Gives every box its owner: the rank of a box that suppresses it, or kNone where it is kept. Ends early when
  /// max_kept boxes are kept; owners of boxes behind the last of these are then kUnknown.
  void run(std::int64_t max_kept) {
    lay_out_strips();
    std::int64_t kept = 0, i = 0;
    for (; i < size_ && kept < max_kept; ++i) {
      arrays_.owner[i] = owner_of(i);
      if (arrays_.owner[i] != kNone) continue;
      ++kept;
      if (!meets_others(i)) continue;
      const std::int64_t slot = arrays_.ends[strip_at(centre(i))]++;
      arrays_.kept.copy(slot, arrays_.boxes, i);
      arrays_.ranks[slot] = static_cast<std::int32_t>(i);
    }
    std::fill(arrays_.owner + i, arrays_.owner + size_, kUnknown);
  }

 private:
  using D = hn::ScalableTag<A>;
  using Kind = Upright<A>;
  using Lanes = Boxes<Kind, D>;

  /// In widths of a box, the distance to the farthest centre of one that it may suppress.
  static double reach(A threshold) {
    // Rounded IoUs: a little less than the threshold, and never as much as 1.
    const double t = std::min(0.99, static_cast<double>(threshold) * (1 - 1e-4));
    return (1 - t) * std::max(1.0, 0.5 / t);
  }
  A number(int field, std::int64_t i) const { return arrays_.boxes.field[static_cast<std::size_t>(field)][i]; }
  A width(std::int64_t i) const { return number(Kind::kX2, i) - number(Kind::kX1, i) + offset_; }
  double centre(std::int64_t i) const {
    return 0.5 * (static_cast<double>(number(Kind::kX1, i)) + static_cast<double>(number(Kind::kX2, i)));
  }
  /// Whether a box may suppress or be suppressed: below a threshold that 0 reaches all may; else the IoU of others with
  /// any box is 0 or NaN.
  bool meets_others(std::int64_t i) const {
    return !limited_ || (width(i) > 0 && number(Kind::kY2, i) - number(Kind::kY1, i) + offset_ > 0 &&
                         number(Kind::kArea, i) < std::numeric_limits<A>::infinity());
  }
  /// The number of the strip that x lies in; the leftmost for what lies before it, the rightmost behind. Strips are of
  /// equal width, from the leftmost centre of a box to the rightmost. The number never falls as x grows. Where the span
  /// is so small that strips_ by it is infinite, the product is NaN at its low end and infinite elsewhere: the first
  /// strip and the last.
  std::int64_t strip_at(double x) const { return index_of((x - low_) * per_unit_, strips_); }

  void lay_out_strips() {
    double high = -low_;
    for (std::int64_t i = 0; i < size_; ++i) {
      if (!meets_others(i)) continue;
      low_ = std::min(low_, centre(i));
      high = std::max(high, centre(i));
    }
    per_unit_ = high > low_ ? static_cast<double>(strips_) / (high - low_) : 0;
    std::fill_n(arrays_.ends, strips_, std::int64_t{0});
    for (std::int64_t i = 0; i < size_; ++i) {
      if (meets_others(i)) ++arrays_.ends[strip_at(centre(i))];
    }
    std::int64_t place = 0;
    for (std::int64_t strip = 0; strip < strips_; ++strip) {
      arrays_.begin[strip] = place;
      place += round_up(std::exchange(arrays_.ends[strip], place), kPad);
    }
    arrays_.kept.clear(0, place);
  }

  HWY_INLINE std::int32_t owner_of(std::int64_t i) const {
    if (!meets_others(i)) return kNone;
    const double distance = reach_ * static_cast<double>(width(i));
    const std::int64_t last = strip_at(centre(i) + distance);
    const Lanes box = Lanes::all(D(), arrays_.boxes, i);
    std::int32_t owner = kNone;
    for (std::int64_t strip = strip_at(centre(i) - distance); strip <= last; ++strip) {
      const std::int64_t slot = first_hit(box, arrays_.begin[strip], arrays_.ends[strip]);
      if (slot < 0) continue;
      const std::int32_t rank = arrays_.ranks[slot];
      owner = owner == kNone ? rank : std::min(owner, rank);
      if constexpr (!kFirst) break;
    }
    return owner;
  }

  /// The first of slots [begin, end) that suppresses the box, -1 for none.
  HWY_INLINE std::int64_t first_hit(const Lanes& box, std::int64_t begin, std::int64_t end) const {
    const D d;
    const auto threshold = hn::Set(d, threshold_), offset = hn::Set(d, offset_);
    const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
    for (std::int64_t i = begin; i < end; i += lanes) {
      const Lanes others = Lanes::of(d, arrays_.kept, i);
      const auto shared = Kind::shared(d, box, others, offset);
      if (limited_ && hn::AllFalse(d, hn::Gt(shared, hn::Zero(d)))) continue;
      const auto iou = hn::Div(shared, hn::Sub(hn::Add(box[Kind::kArea], others[Kind::kArea]), shared));
      const std::intptr_t lane = hn::FindFirstTrue(d, kFirst ? hn::Ge(iou, threshold) : hn::Gt(iou, threshold));
      if (lane >= 0) return i + lane;
    }
    return -1;
  }

  A offset_, threshold_;
  SweepArrays<A>& arrays_;
  std::int64_t size_;
  bool limited_;
  double reach_;
  std::int64_t strips_;
  double low_ = std::numeric_limits<double>::infinity(), per_unit_ = 0;
};

}  // namespace mluops::cpu::nms::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
