// RoIs in an order in which neighbours share pixels.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <tuple>

#include "backends/cpu/runtime/arena.h"
#include "backends/cpu/runtime/machine.h"
#include "backends/cpu/runtime/parallel.h"

namespace mluops::cpu {

/// A RoI and the first pixel of its bins.
struct PlacedRoi {
  std::int64_t image, y, x, roi;

  bool operator<(const PlacedRoi& other) const {
    constexpr int kStrip = 4;  // as many rows, two to the power of it
    const auto key = [](const PlacedRoi& p) { return std::tuple(p.image, p.y >> kStrip, p.x, p.roi); };
    return key(*this) < key(other);
  }
};

/// All RoIs of a call: image by image, then by strips of rows, then by columns.
class RoiOrder {
 public:
  RoiOrder(Allocator& allocator, std::int64_t rois) : rois_(allocator.allocate<PlacedRoi>(rois)), count_(rois) {}

  /// place_of(roi) is where it is.
  template <class PlaceOf>
  void sort(PlaceOf place_of) {
    for (std::int64_t r = 0; r < count_; ++r) rois_[r] = place_of(r);
    std::sort(rois_, rois_ + count_);
  }
  /// With the threads of the call.
  template <class PlaceOf>
  void sort(const Context& context, const mluopsCall& call, PlaceOf place_of) {
    Loop(context, call, count_, 20 * cost::kStep).run([&](std::int64_t begin, std::int64_t end, int) {
      for (std::int64_t r = begin; r < end; ++r) rois_[r] = place_of(r);
    });
    std::sort(rois_, rois_ + count_);
  }
  std::span<const PlacedRoi> all() const { return {rois_, static_cast<std::size_t>(count_)}; }
  std::span<const PlacedRoi> of_image(std::int64_t image) const {
    const auto before = [](const PlacedRoi& p, std::int64_t i) { return p.image < i; };
    const PlacedRoi* const first = std::lower_bound(rois_, rois_ + count_, image, before);
    return {first, std::lower_bound(first, static_cast<const PlacedRoi*>(rois_ + count_), image + 1, before)};
  }

 private:
  PlacedRoi* rois_;
  std::int64_t count_;
};

}  // namespace mluops::cpu
