// What the strips of the sweep are made of: one of four keys of a box.
//
// Let w be the width of a box and t the threshold. A box that overlaps it with IoU >= t is between t w and w / t wide
// and shares at least t times the greater of both widths with it. So their centres are at most
// w (1 - t) max(1, 1 / 2t) apart, and the logarithms of their widths at most log(1 / t); likewise for heights. Of these
// four keys, one tells the boxes at hand apart best, which a sample shows: columns by y, nested boxes by size.
#if defined(MLUOPS_CPU_NMS_STRIP_KEY_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HWY_TARGET_TOGGLE
#undef MLUOPS_CPU_NMS_STRIP_KEY_INL_H_
#else
#define MLUOPS_CPU_NMS_STRIP_KEY_INL_H_
#endif

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>

#include "backends/cpu/dispatch.h"
#include "backends/cpu/kernels/nms/boxes.h"
#include "backends/cpu/spatial/box_pairs-inl.h"
#include "mluops/problem/nms.h"

HWY_BEFORE_NAMESPACE();
namespace mluops::cpu::nms::HWY_NAMESPACE {
using namespace box_pairs::HWY_NAMESPACE;

/// A pair whose IoU is below this share of the threshold has none above the threshold after rounding.
constexpr double kALittleLess = 1 - 1e-4;

/// The keys of some boxes, sorted.
struct Sample {
  double* keys = nullptr;
  std::int64_t drawn = 0;
  double share_near = 0;  ///< how many of them are near to one of its boxes, in the mean, as a share of all
};

template <class A>
class StripKey {
 public:
  static constexpr std::size_t kKeys = 4;

  /// limited: boxes that share nothing do not suppress each other.
  StripKey(const Lists<Upright<A>>& boxes, std::int64_t size, A offset, A threshold, bool limited)
      : boxes_(boxes),
        size_(size),
        offset_(offset),
        limited_(limited),
        reach_(reach(threshold)),
        log_reach_(-std::log2(lower_threshold(threshold))) {}

  double of(std::int64_t i) const { return at(key_, i); }
  /// How far the keys of boxes are that the box may be suppressed by.
  double near(std::int64_t i) const { return near(key_, i); }

  /// Whether a box may suppress or be suppressed: below a threshold that 0 reaches all may; else the IoU of others with
  /// any box is 0 or NaN.
  bool meets_others(std::int64_t i) const {
    return !limited_ ||
           (side(0, i) > 0 && side(1, i) > 0 && number(Kind::kArea, i) < std::numeric_limits<A>::infinity());
  }

  /// Takes the key that tells boxes apart best by samples of so many, which go to room [keys, most]; returns its
  /// sample. The sides are asked where the centres tell little. Areas of nearly nothing are too coarse for ratios.
  Sample choose(const Context& context, const mluopsCall& call, std::int64_t most, double* room) {
    constexpr double kGood = 0.1;
    const double sample_ns = 40 * cost::kStep * static_cast<double>(most);
    std::array<Sample, kKeys> samples;
    std::size_t best = 0;
    for (std::size_t first : {0, 2}) {
      if (first != 0 && (samples[best].share_near < kGood || areas_are_coarse())) break;
      Loop(context, call, 2, sample_ns).run([&](std::int64_t begin, std::int64_t end, int) {
        for (std::size_t k = first + static_cast<std::size_t>(begin); k < first + static_cast<std::size_t>(end); ++k) {
          samples[k] = look(kAll[k], most, room + static_cast<std::int64_t>(k) * most);
        }
      });
      for (const std::size_t k : {first, first + 1}) best = samples[k].share_near < samples[best].share_near ? k : best;
    }
    key_ = kAll[best];
    return samples[best];
  }

 private:
  using Kind = Upright<A>;

  /// The centres along an axis, or the logarithms of the sides along it.
  struct Key {
    int axis;
    bool of_sides;
  };
  static constexpr std::array<Key, kKeys> kAll = {{{0, false}, {1, false}, {0, true}, {1, true}}};

  /// In widths of a box, the distance to the farthest centre of one that it may suppress.
  static double reach(A threshold) {
    const double t = lower_threshold(threshold);
    return (1 - t) * std::max(1.0, 0.5 / t);
  }
  /// Rounded IoUs: a little less than the threshold, and never as much as 1.
  static double lower_threshold(A threshold) { return std::min(0.99, static_cast<double>(threshold) * kALittleLess); }
  A number(int field, std::int64_t i) const { return boxes_.field[static_cast<std::size_t>(field)][i]; }
  A side(int axis, std::int64_t i) const { return number(Kind::kX2 + axis, i) - number(Kind::kX1 + axis, i) + offset_; }

  double at(const Key& key, std::int64_t i) const {
    if (key.of_sides) return std::log2(static_cast<double>(side(key.axis, i)));
    return 0.5 * static_cast<double>(number(Kind::kX1 + key.axis, i)) +
           0.5 * static_cast<double>(number(Kind::kX2 + key.axis, i));
  }
  double near(const Key& key, std::int64_t i) const {
    return key.of_sides ? log_reach_ : reach_ * static_cast<double>(side(key.axis, i));
  }

  Sample look(const Key& key, std::int64_t most, double* keys) const {
    Sample sample{keys};
    for (std::int64_t n = 0; n < most; ++n) {
      const std::int64_t i = n * size_ / most;
      if (meets_others(i)) sample.keys[sample.drawn++] = at(key, i);
    }
    std::sort(sample.keys, sample.keys + sample.drawn);
    sample.share_near = share_near(key, sample);
    return sample;
  }

  double share_near(const Key& key, const Sample& sample) const {
    constexpr std::int64_t kBoxes = 64;
    const double *const begin = sample.keys, *const end = begin + sample.drawn;
    double near_ones = 0, boxes = 0;
    for (std::int64_t i = 0; i < size_; i += std::max<std::int64_t>(1, size_ / kBoxes)) {
      if (!meets_others(i)) continue;
      const double own = at(key, i), far = near(key, i);
      near_ones +=
          static_cast<double>(std::upper_bound(begin, end, own + far) - std::lower_bound(begin, end, own - far));
      ++boxes;
    }
    return sample.drawn == 0 ? 0 : near_ones / (boxes * static_cast<double>(sample.drawn));
  }

  bool areas_are_coarse() const {
    constexpr double kLeast = 1e12 * static_cast<double>(std::numeric_limits<A>::min());
    const A* const areas = boxes_.field[Kind::kArea];
    return std::any_of(areas, areas + size_, [](A area) { return std::abs(static_cast<double>(area)) < kLeast; });
  }

  const Lists<Kind>& boxes_;
  std::int64_t size_;
  A offset_;
  bool limited_;
  double reach_, log_reach_;
  Key key_ = kAll[0];
};

}  // namespace mluops::cpu::nms::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
