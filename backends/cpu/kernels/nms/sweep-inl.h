// The sweep of hard suppression: each box, best score first, is kept or belongs to a better box that was kept.
//
// Let w be the width of a box and t the threshold. A box that overlaps it with IoU >= t is between t w and w / t wide
// and shares at least t times the greater of both widths with it. So their centres are at most
// w (1 - t) max(1, 1 / 2t) apart, and the logarithms of their widths at most log(1 / t); likewise for heights. Of these
// four keys, one tells the boxes at hand apart best, which a sample shows: columns by y, nested boxes by size. Kept
// boxes lie in strips of that key, each about as full as the others, and a box is compared with those in the strips
// that near, a vector of them at a time. One thread: each box waits for those before it.
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
#include "backends/cpu/simd/simd-inl.h"
#include "backends/cpu/spatial/box_pairs-inl.h"
#include "backends/cpu/spatial/score_order.h"
#include "mluops/problem/nms.h"

HWY_BEFORE_NAMESPACE();
namespace mluops::cpu::nms::HWY_NAMESPACE {
using namespace box_pairs::HWY_NAMESPACE;

constexpr std::int32_t kNone = -1, kUnknown = -2;

/// Strips for so many boxes: as many as leave some vectors of kept boxes in each; one where a sample costs more.
inline std::int64_t strips_of(std::int64_t boxes) {
  return boxes < 512 ? 1 : std::clamp<std::int64_t>(boxes / 128, 1, 256);
}

/// Boxes that are looked at to choose the strips.
inline std::int64_t sample_of(std::int64_t boxes) {
  return std::min(boxes, 4 * strips_of(boxes));
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
  std::int32_t* strip;         ///< of each box that may meet others
  double *bounds, *sample;     ///< of the keys: the low ends of strips; of some boxes, sorted

  SweepArrays(Allocator& allocator, std::int64_t most)
      : order(allocator, most),
        boxes(allocator, most),
        owner(allocator.allocate<std::int32_t>(most)),
        kept(allocator, slots_of(most)),
        ranks(allocator.allocate<std::int32_t>(slots_of(most))),
        begin(allocator.allocate<std::int64_t>(strips_of(most))),
        ends(allocator.allocate<std::int64_t>(strips_of(most))),
        strip(allocator.allocate<std::int32_t>(most)),
        bounds(allocator.allocate<double>(strips_of(most) + 1)),
        sample(allocator.allocate<double>(sample_of(most))) {}

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
        log_reach_(-std::log2(lower_threshold(threshold_))),
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
      const std::int64_t slot = arrays_.ends[arrays_.strip[i]]++;
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
    const double t = lower_threshold(threshold);
    return (1 - t) * std::max(1.0, 0.5 / t);
  }
  /// Rounded IoUs: a little less than the threshold, and never as much as 1.
  static double lower_threshold(A threshold) { return std::min(0.99, static_cast<double>(threshold) * (1 - 1e-4)); }
  A number(int field, std::int64_t i) const { return arrays_.boxes.field[static_cast<std::size_t>(field)][i]; }
  A side(int axis, std::int64_t i) const { return number(Kind::kX2 + axis, i) - number(Kind::kX1 + axis, i) + offset_; }

  /// What strips are made of: the centres along an axis, or the logarithms of the sides along it.
  struct Key {
    int axis;
    bool of_sides;
  };
  double at(const Key& key, std::int64_t i) const {
    if (key.of_sides) return std::log2(static_cast<double>(side(key.axis, i)));
    return 0.5 * static_cast<double>(number(Kind::kX1 + key.axis, i)) +
           0.5 * static_cast<double>(number(Kind::kX2 + key.axis, i));
  }
  /// How far the keys of boxes are that the box may be suppressed by.
  double near(const Key& key, std::int64_t i) const {
    return key.of_sides ? log_reach_ : reach_ * static_cast<double>(side(key.axis, i));
  }

  /// Whether a box may suppress or be suppressed: below a threshold that 0 reaches all may; else the IoU of others with
  /// any box is 0 or NaN.
  bool meets_others(std::int64_t i) const {
    return !limited_ ||
           (side(0, i) > 0 && side(1, i) > 0 && number(Kind::kArea, i) < std::numeric_limits<A>::infinity());
  }
  /// Sorts the keys of some boxes into arrays_.sample; returns how many there are.
  std::int64_t draw_sample(const Key& key) {
    const std::int64_t most = sample_of(size_);
    std::int64_t drawn = 0;
    for (std::int64_t k = 0; k < most; ++k) {
      const std::int64_t i = k * size_ / most;
      if (meets_others(i)) arrays_.sample[drawn++] = at(key, i);
    }
    std::sort(arrays_.sample, arrays_.sample + drawn);
    return drawn;
  }

  /// How many of a sample are near to one of its boxes, in the mean, as a share of all.
  double share_near(const Key& key) {
    constexpr std::int64_t kBoxes = 64;
    const double* const sample = arrays_.sample;
    const std::int64_t drawn = draw_sample(key), step = std::max<std::int64_t>(1, size_ / kBoxes);
    double near_ones = 0, boxes = 0;
    for (std::int64_t i = 0; i < size_; i += step) {
      if (!meets_others(i)) continue;
      const double own = at(key, i), far = near(key, i);
      near_ones += static_cast<double>(std::upper_bound(sample, sample + drawn, own + far) -
                                       std::lower_bound(sample, sample + drawn, own - far));
      ++boxes;
    }
    return drawn == 0 ? 0 : near_ones / (boxes * static_cast<double>(drawn));
  }

  /// The sides are asked where the centres tell little. Areas of nearly nothing are too coarse for ratios.
  Key best_key() {
    constexpr double kGood = 0.1, kLeast = 1e12 * static_cast<double>(std::numeric_limits<A>::min());
    const bool coarse = std::any_of(arrays_.boxes.field[Kind::kArea], arrays_.boxes.field[Kind::kArea] + size_,
                                    [](A area) { return std::abs(static_cast<double>(area)) < kLeast; });
    Key best{0, false};
    double least = share_near(best);
    for (const Key& key : {Key{1, false}, Key{0, true}, Key{1, true}}) {
      if (key.of_sides && (least < kGood || coarse)) break;
      const double share = share_near(key);
      if (share < least) least = share, best = key;
    }
    return best;
  }

  std::int32_t strip_of(std::int64_t i) const {
    if (strips_ == 1) return 0;
    const double key = at(key_, i);
    std::int32_t strip = 0;  // without branches: which half it is in nobody could predict
    for (auto left = static_cast<std::int32_t>(strips_); left > 1;) {
      const std::int32_t half = left / 2;
      strip = arrays_.bounds[strip + half] <= key ? strip + half : strip;
      left -= half;
    }
    return strip;
  }

  void lay_out_strips() {
    if (strips_ > 1) {
      key_ = best_key();
      const std::int64_t drawn = draw_sample(key_);
      if (drawn == 0) strips_ = 1;
      for (std::int64_t strip = 0; strip < strips_; ++strip)
        arrays_.bounds[strip] = arrays_.sample[strip * drawn / strips_];
    }
    std::fill_n(arrays_.ends, strips_, std::int64_t{0});
    for (std::int64_t i = 0; i < size_; ++i) {
      if (!meets_others(i)) continue;
      arrays_.strip[i] = strip_of(i);
      ++arrays_.ends[arrays_.strip[i]];
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
    const Lanes box = Lanes::all(D(), arrays_.boxes, i);
    const std::int64_t own = arrays_.strip[i];
    std::int32_t owner = owner_in(box, own);
    if (strips_ == 1) return owner;
    const double key = at(key_, i), far = near(key_, i), low = key - far, high = key + far;
    const auto ended = [&] { return !kFirst && owner != kNone; };
    for (std::int64_t strip = own; strip > 0 && arrays_.bounds[strip] >= low && !ended(); --strip) {
      owner = first_of(owner, owner_in(box, strip - 1));
    }
    for (std::int64_t strip = own + 1; strip < strips_ && arrays_.bounds[strip] <= high && !ended(); ++strip) {
      owner = first_of(owner, owner_in(box, strip));
    }
    return owner;
  }
  static std::int32_t first_of(std::int32_t a, std::int32_t b) {
    return a == kNone || b == kNone ? std::max(a, b) : std::min(a, b);
  }
  HWY_INLINE std::int32_t owner_in(const Lanes& box, std::int64_t strip) const {
    const std::int64_t slot = first_hit(box, arrays_.begin[strip], arrays_.ends[strip]);
    return slot < 0 ? kNone : arrays_.ranks[slot];
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
  double reach_, log_reach_;
  std::int64_t strips_;
  Key key_ = {0, false};
};

}  // namespace mluops::cpu::nms::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
