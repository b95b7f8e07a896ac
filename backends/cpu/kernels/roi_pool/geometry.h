// Which pixels the bins of a RoI have.
#pragma once

#include <cmath>
#include <cstdint>

#include "backends/cpu/runtime/index.h"
#include "backends/cpu/simd/element.h"
#include "mluops/problem.h"

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

  template <class T>
  Roi(const T* roi, const Shape& s)
      : image(index_of(to_acc(roi[0]), s.batch)),
        y(to_acc(roi[2]), to_acc(roi[4]), static_cast<A>(s.spatial_scale), s.pooled_h, s.h),
        x(to_acc(roi[1]), to_acc(roi[3]), static_cast<A>(s.spatial_scale), s.pooled_w, s.w) {}

  /// The rows of a bin; none where the RoI has no size.
  Pixels rows(std::int64_t bin) const { return y.empty() || x.empty() ? Pixels{0, 0} : y.of(bin); }
};

}  // namespace mluops::cpu::roi_pool
