// Boxes kept so far, by vertical strips of the plane: which of them a box can overlap enough is a matter of strips.
//
// Let w be the width of a box and t the threshold. A box that overlaps it with IoU >= t is between t w and w / t wide
// and shares at least t times the greater of both widths with it. So their centres are at most
// w (1 - t) max(1, 1 / 2t) apart: only the strips that near are looked at.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "backends/cpu/kernels/nms/boxes.h"
#include "backends/cpu/runtime/index.h"

namespace mluops::cpu::nms {

/// Strips of equal width from the leftmost centre of a box to the rightmost.
class StripMap {
 public:
  explicit StripMap(std::int64_t strips) : strips_(strips) {}

  std::int64_t count() const { return strips_; }
  void span(double low, double high) {
    low_ = low;
    per_unit_ = high > low ? static_cast<double>(strips_) / (high - low) : 0;
  }
  /// Never falls as x grows. Where the span is so small that strips_ by it is infinite, the product is NaN at its low
  /// end and infinite elsewhere: the first strip and the last.
  std::int64_t at(double x) const { return index_of((x - low_) * per_unit_, strips_); }

 private:
  std::int64_t strips_;
  double low_ = 0, per_unit_ = 0;
};

/// Which boxes can suppress which, and how far away.
template <class A>
class Reach {
 public:
  /// `inclusive`: suppressed when IoU is equal to the threshold, too.
  Reach(A threshold, A offset, bool inclusive)
      : limited_(inclusive ? threshold > 0 : threshold >= 0), offset_(offset), factor_(factor(threshold)) {}

  /// Boxes that share nothing do not suppress each other; else every box is compared with every other.
  bool limited() const { return limited_; }
  /// A box that may suppress and be suppressed; the IoU of others with any box is 0 or NaN.
  bool has(const BoxLists<A>& boxes, std::int64_t i) const {
    return !limited_ || (width(boxes, i) > 0 && boxes.y2[i] - boxes.y1[i] + offset_ > 0 &&
                         boxes.area[i] < std::numeric_limits<A>::infinity());
  }
  double centre(const BoxLists<A>& boxes, std::int64_t i) const {
    return 0.5 * (static_cast<double>(boxes.x1[i]) + static_cast<double>(boxes.x2[i]));
  }
  /// From its centre, the farthest centre of a box it may suppress.
  double distance(const BoxLists<A>& boxes, std::int64_t i) const {
    return factor_ * static_cast<double>(width(boxes, i));
  }

 private:
  static double factor(A threshold) {
    // Rounded IoUs: a little less than the threshold, and never as much as 1.
    const double t = std::min(0.99, static_cast<double>(threshold) * (1 - 1e-4));
    return (1 - t) * std::max(1.0, 0.5 / t);
  }
  A width(const BoxLists<A>& boxes, std::int64_t i) const { return boxes.x2[i] - boxes.x1[i] + offset_; }

  bool limited_;
  A offset_;
  double factor_;
};

/// The kept boxes of each strip, in the order they were kept.
template <class A>
class KeptBoxes {
 public:
  KeptBoxes(Allocator& allocator, std::int64_t most, std::int64_t strips)
      : boxes(allocator, slots(most, strips)),
        ranks(allocator.allocate<std::int32_t>(slots(most, strips))),
        begin_(allocator.allocate<std::int64_t>(strips + 1)),
        end_(allocator.allocate<std::int64_t>(strips)) {}

  BoxLists<A> boxes;
  std::int32_t* ranks;

  /// Makes room: strip_of(f) calls f(strip) once for each box that may be added.
  template <class StripOf>
  void lay_out(std::int64_t strips, const StripOf& strip_of) {
    std::fill_n(end_, strips, std::int64_t{0});
    strip_of([&](std::int64_t strip) { ++end_[strip]; });
    std::int64_t place = 0;
    for (std::int64_t strip = 0; strip < strips; ++strip) {
      begin_[strip] = place;
      place += round_up(end_[strip], kPad);
      end_[strip] = begin_[strip];
    }
    begin_[strips] = place;
    boxes.clear(0, place);
  }
  void add(std::int64_t strip, const BoxLists<A>& from, std::int64_t rank) {
    const std::int64_t slot = end_[strip]++;
    boxes.copy(slot, from, rank);
    ranks[slot] = static_cast<std::int32_t>(rank);
  }
  std::int64_t begin(std::int64_t strip) const { return begin_[strip]; }
  std::int64_t end(std::int64_t strip) const { return end_[strip]; }

 private:
  static std::int64_t slots(std::int64_t most, std::int64_t strips) { return most + strips * kPad; }

  std::int64_t *begin_, *end_;
};

}  // namespace mluops::cpu::nms
