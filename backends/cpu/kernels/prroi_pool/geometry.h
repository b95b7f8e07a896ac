// Which pixels the bins of a RoI reach, and with what shares.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "backends/cpu/runtime/arena.h"
#include "backends/cpu/runtime/index.h"
#include "backends/cpu/simd/element.h"
#include "mluops/problem.h"

namespace mluops::cpu::prroi_pool {

using Shape = mluopsPrRoiPoolShape;

/// What a pixel is of the mean over a bin along an axis, and the derivatives of that by the RoI's two ends.
struct Share {
  double value, low, high;
};

/// One axis of a RoI.
class Axis {
 public:
  Axis(double low, double high, double scale, std::int64_t bins, std::int64_t pixels)
      : start_(low * scale), size_(high * scale - start_), scale_(scale), bins_(bins), pixels_(pixels) {}

  /// Whether it has no length, or none that is a number.
  bool empty() const {
    return !(size_ / static_cast<double>(bins_) > 0 && std::isfinite(size_) && std::isfinite(start_));
  }
  /// Pixels [first(bin), end(bin)) are those less than one away from the bin.
  std::int64_t first(std::int64_t bin) const { return index_of(std::floor(edge(bin)), pixels_ + 1); }
  std::int64_t end(std::int64_t bin) const { return index_of(std::ceil(edge(bin + 1)) + 1, pixels_ + 1); }

  /// A pixel's hat rises for one, then falls for one: the bin's part in either is its length and its middle. What lies
  /// at part s of the RoI moves with s of its high end and with 1 - s of the low one, so the derivatives are integrals
  /// of the hat's slope; differences of hats would cancel in small bins.
  Share share(std::int64_t bin, std::int64_t pixel) const {
    const auto at = static_cast<double>(pixel);
    const double from = edge(bin) - at, to = edge(bin + 1) - at, size = size_ / static_cast<double>(bins_);
    const double rise_from = std::clamp(from, -1.0, 0.0), rise_to = std::clamp(to, -1.0, 0.0);
    const double fall_from = std::clamp(from, 0.0, 1.0), fall_to = std::clamp(to, 0.0, 1.0);
    const double rise = (rise_to - rise_from) / size, fall = (fall_to - fall_from) / size;
    const double rise_middle = (rise_from + rise_to) / 2, fall_middle = (fall_from + fall_to) / 2;
    const auto part = [&](double middle) { return (middle + at - start_) / size_; };
    const double high = scale_ * (rise * part(rise_middle) - fall * part(fall_middle));
    return {rise * (1 + rise_middle) + fall * (1 - fall_middle), scale_ * (rise - fall) - high, high};
  }

 private:
  double edge(std::int64_t i) const { return start_ + size_ * (static_cast<double>(i) / static_cast<double>(bins_)); }

  double start_, size_, scale_;
  std::int64_t bins_, pixels_;
};

struct Roi {
  std::int64_t image;
  Axis y, x;

  /// Row r of p.rois.
  template <class T, class Problem>
  static Roi read(const Problem& p, std::int64_t r) {
    const T* const roi = static_cast<const T*>(p.rois) + 5 * r;
    const auto number = [&](int i) { return static_cast<double>(to_acc(roi[i])); };
    const Shape& s = p.shape;
    const double scale = p.exact_spatial_scale;
    return {index_of(number(0), s.batch), Axis(number(2), number(4), scale, s.pooled_h, s.h),
            Axis(number(1), number(3), scale, s.pooled_w, s.w)};
  }
  bool empty() const { return y.empty() || x.empty(); }
};

/// The shares of all bins along an axis, with kSlopes their derivatives too.
template <class A, bool kSlopes>
class Shares {
 public:
  struct Bin {
    std::int64_t first, count;
    const A *value, *low, *high;  ///< of each pixel; without kSlopes the first alone
  };

  /// Bins cut the axis, and one reaches three pixels beyond its length.
  Shares(Allocator& allocator, std::int64_t bins, std::int64_t pixels)
      : bins_(allocator.allocate<Bin>(bins)),
        capacity_(size_sum(size_product(4, bins), pixels)),
        shares_(allocator.allocate<A>(kSlopes ? 3 : 1, capacity_)) {}

  void find(const Axis& axis, std::int64_t bins) {
    A* value = shares_;
    for (std::int64_t bin = 0; bin < bins; ++bin) {
      const std::int64_t first = axis.first(bin), count = axis.end(bin) - first;
      bins_[bin] = {first, count, value, value + (kSlopes ? capacity_ : 0), value + (kSlopes ? 2 * capacity_ : 0)};
      for (std::int64_t i = 0; i < count; ++i, ++value) {
        const Share share = axis.share(bin, first + i);
        value[0] = static_cast<A>(share.value);
        if constexpr (kSlopes) {
          value[capacity_] = static_cast<A>(share.low);
          value[2 * capacity_] = static_cast<A>(share.high);
        }
      }
    }
  }
  const Bin& of(std::int64_t bin) const { return bins_[bin]; }

 private:
  Bin* bins_;
  std::int64_t capacity_;
  A* shares_;
};

}  // namespace mluops::cpu::prroi_pool
