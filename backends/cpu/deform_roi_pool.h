// What both directions of DeformRoiPool share: the RoIs of a call, the bins they are cut into, the tiles of the map
// that bins are sorted by.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "backends/cpu/context.h"
#include "backends/cpu/roi_sampling.h"
#include "common/shape.h"

namespace mluops::cpu::deform_roi_pool {

using Shape = mluopsDeformRoiPoolShape;

/// A tile of the map and what belongs to it share the second cache.
constexpr std::int64_t kTileBytes = std::int64_t{256} << 10;
/// Cost in nanoseconds: of finding the samples of a bin, of one channel of one pixel read, and added to.
constexpr double kBinNs = 60, kReadNs = 0.03, kAddNs = 0.06;

/// The map cut into tiles: images, then rows of tiles, then columns.
struct Tiles {
  std::int64_t h, w;        ///< pixels of a tile
  std::int64_t rows, cols;  ///< tiles of an image

  Tiles(const Shape& s, std::int64_t sum_bytes) {
    const std::int64_t wanted = std::min(kTileBytes / (s.c * sum_bytes), s.batch * s.h * s.w / 64);
    std::int64_t side = 4;
    while (side < 64 && side * side * 4 <= wanted) side *= 2;
    h = side;
    w = side * side * 2 <= wanted ? 2 * side : side;
    rows = ceil_div(s.h, h);
    cols = ceil_div(s.w, w);
  }
  std::int64_t count(const Shape& s) const { return s.batch * rows * cols; }
  std::int64_t index(std::int64_t batch, std::int64_t row, std::int64_t col) const {
    return (batch * rows + row) * cols + col;
  }
};

/// Pixels [y0, y1) x [x0, x1) of an image.
struct Area {
  std::int64_t batch, y0, y1, x0, x1;

  Area(const Tiles& t, const Shape& s, std::int64_t tile)
      : batch(tile / (t.rows * t.cols)),
        y0(tile / t.cols % t.rows * t.h),
        y1(std::min(s.h, y0 + t.h)),
        x0(tile % t.cols * t.w),
        x1(std::min(s.w, x0 + t.w)) {}
  std::int64_t pixels() const { return (y1 - y0) * (x1 - x0); }
};

/// The RoIs of a call and where its bins lie.
template <class T>
struct Bins {
  using A = Acc<T>;
  const Shape& s;
  const T* offset;
  const Roi<A>* rois;

  std::int64_t count() const { return s.rois * s.pooled_h * s.pooled_w; }
  const Roi<A>& roi(std::int64_t bin) const { return rois[bin / (s.pooled_h * s.pooled_w)]; }
  /// Size of the RoI that an offset of 1 stands for.
  A reach(A roi_size) const { return static_cast<A>(s.gamma) * roi_size; }

  BinAxis<A> y(std::int64_t bin) const {
    const RoiAxis<A>& axis = roi(bin).y;
    return {axis, shift(bin, 1, axis.size), bin / s.pooled_w % s.pooled_h};
  }
  BinAxis<A> x(std::int64_t bin) const {
    const RoiAxis<A>& axis = roi(bin).x;
    return {axis, shift(bin, 0, axis.size), bin % s.pooled_w};
  }
  /// Pixels a bin reads, about.
  double pixels_read(std::int64_t bin) const {
    const Roi<A>& r = roi(bin);
    return per_axis(r.y, s.h) * per_axis(r.x, s.w);
  }

 private:
  A shift(std::int64_t bin, std::int64_t plane, A size) const {
    if (offset == nullptr) return 0;
    const std::int64_t plane_size = s.pooled_h * s.pooled_w;
    const std::int64_t at = (2 * (bin / plane_size) + plane) * plane_size + bin % plane_size;
    return reach(size) * to_acc(offset[at]);
  }
  static double per_axis(const RoiAxis<A>& axis, std::int64_t size) {
    const double spread = std::min(std::abs(static_cast<double>(axis.bin)), static_cast<double>(size)) + 2;
    return std::min(2.0 * static_cast<double>(axis.grid), spread);
  }
};

/// Rows and columns of pixels one bin reads.
template <class A>
struct BinTaps {
  TapList<A> y, x;

  template <class T>
  BinTaps(const Bins<T>& bins, std::int64_t bin, Tap<A>* room)
      : y(room, bins.y(bin), bins.s.h), x(room + most_rows(bins.s), bins.x(bin), bins.s.w) {}

  static std::int64_t most_rows(const Shape& s) { return most_taps(s.h, s.sampling_ratio); }
  /// Room for the taps of a bin, rows then columns.
  static std::int64_t most(const Shape& s) { return most_rows(s) + most_taps(s.w, s.sampling_ratio); }
};

/// The RoIs of the tensor, read once.
template <class T>
void read_rois(const Shape& s, const void* rois, Roi<Acc<T>>* to) {
  const auto* const raw = static_cast<const T*>(rois);
  for (std::int64_t r = 0; r < s.rois; ++r) to[r] = Roi<Acc<T>>::read(raw + 5 * r, s);
}

/// The number of samples of a bin is an int32, as on the device.
inline bool too_many_samples(const Shape& s) {
  return s.sampling_ratio > 46340;
}

inline mluOpStatus_t decline_samples(const mluopsCall& call) {
  return fail(call, MLUOP_STATUS_NOT_SUPPORTED, "sampling_ratio: its square must be below 2^31");
}

}  // namespace mluops::cpu::deform_roi_pool
