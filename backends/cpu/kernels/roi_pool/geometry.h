// Which pixels the bins of a RoI have.
#pragma once

#include <cmath>
#include <cstdint>

#include "backends/cpu/runtime/index.h"
#include "backends/cpu/simd/element.h"
#include "mluops/problem/roi_pool.h"

namespace mluops::cpu::roi_pool {

using Shape = mluopsRoiPoolShape;

/// Pixels [first, end) of an axis.
struct Pixels {
  std::int64_t first, end;
  bool empty() const { return first >= end; }
};

/// One axis of a RoI.
template <class A>
class Bins {
 public:
  Bins(A low, A high, A scale, std::int64_t bins, std::int64_t pixels) : pixels_(pixels) {
    start_ = low * scale;
    size_ = (high + 1) * scale - start_;
    bin_ = size_ / static_cast<A>(bins);
  }
  /// NaN is not: its bins are.
  bool empty() const { return size_ <= 0; }
  Pixels of(std::int64_t bin) const { return {on_map(std::floor(edge(bin))), on_map(std::ceil(edge(bin + 1)))}; }

 private:
  A edge(std::int64_t i) const { return static_cast<A>(i) * bin_ + start_; }
  std::int64_t on_map(A at) const { return index_of(at, pixels_ + 1); }

  std::int64_t pixels_;
  A start_, size_, bin_;
};

template <class A>
struct Roi {
  std::int64_t image;
  Bins<A> y, x;

  /// Row r of p.rois.
  template <class T, class Problem>
  static Roi read(const Problem& p, std::int64_t r) {
    const T* const roi = static_cast<const T*>(p.rois) + 5 * r;
    const Shape& s = p.shape;
    const A scale = static_cast<A>(p.exact_spatial_scale);
    return {index_of(to_acc(roi[0]), s.batch), Bins<A>(to_acc(roi[2]), to_acc(roi[4]), scale, s.pooled_h, s.h),
            Bins<A>(to_acc(roi[1]), to_acc(roi[3]), scale, s.pooled_w, s.w)};
  }

  /// The rows of a bin; none where the RoI has no size.
  Pixels rows(std::int64_t bin) const { return y.empty() || x.empty() ? Pixels{0, 0} : y.of(bin); }
};

}  // namespace mluops::cpu::roi_pool
