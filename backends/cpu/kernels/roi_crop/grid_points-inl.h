// Where the points of grids lie on the maps, found by vectors of points. Include after foreach_target.h, like
// simd-inl.h.
#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "backends/cpu/sampling/sampled_rois.h"
#include "backends/cpu/simd/simd-inl.h"
#include "mluops/problem/roi_crop.h"

#if defined(MLUOPS_CPU_KERNELS_ROI_CROP_GRID_POINTS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HWY_TARGET_TOGGLE
#undef MLUOPS_CPU_KERNELS_ROI_CROP_GRID_POINTS_INL_H_
#else
#define MLUOPS_CPU_KERNELS_ROI_CROP_GRID_POINTS_INL_H_
#endif

HWY_BEFORE_NAMESPACE();
namespace mluops::cpu::roi_crop::HWY_NAMESPACE {
using namespace cpu::HWY_NAMESPACE;

using Shape = mluopsRoiCropShape;

/// The image that a grid samples.
inline std::int64_t image_of(const Shape& s, std::int64_t grid) {
  return grid / (s.grids / s.batch);
}

/// Neighbours of some points along an axis of `size` pixels: the arithmetic of sample_padded. Numbers of pixels are
/// vectors of DW, int32 or double.
template <class D, class DW>
struct Neighbours {
  hn::Vec<D> weight[2];
  hn::Vec<DW> first;
  hn::Mask<DW> on_map[2];

  HWY_INLINE Neighbours(D d, DW dw, hn::Vec<D> coordinate, std::int64_t size) {
    using A = hn::TFromD<D>;
    using W = hn::TFromD<DW>;
    const auto extent = hn::Set(d, static_cast<A>(size - 1));
    const auto at = hn::Mul(hn::Mul(hn::Add(coordinate, hn::Set(d, A{1})), extent), hn::Set(d, A{0.5}));
    const auto near = hn::And(hn::Gt(at, hn::Set(d, A{-1})), hn::Lt(at, hn::Set(d, static_cast<A>(size))));
    const auto place = hn::IfThenElse(near, at, hn::Set(d, A{-2}));
    const auto low = hn::Floor(place);
    weight[1] = hn::Sub(place, low);
    weight[0] = hn::Sub(hn::Set(d, A{1}), weight[1]);
    first = whole(dw, low);
    on_map[0] = hn::Gt(first, hn::Set(dw, W{-1}));
    on_map[1] = hn::And(hn::Gt(first, hn::Set(dw, W{-2})), hn::Lt(first, hn::Set(dw, static_cast<W>(size - 1))));
  }

 private:
  static HWY_INLINE hn::Vec<DW> whole(DW dw, hn::Vec<D> low) {
    if constexpr (std::is_same_v<D, DW>) {
      return low;
    } else if constexpr (std::is_same_v<hn::TFromD<DW>, double>) {
      return hn::PromoteTo(dw, low);
    } else {
      return hn::ConvertTo(dw, low);
    }
  }
};

/// Samples of some points that follow each other. Index: int32 only for maps of at most INT32_MAX pixels.
template <class A, class Index>
struct PointBlock {
  static constexpr std::int64_t kMost = 64;

  HWY_ALIGN Index pixel[4][kMost];  ///< -1: not on the map
  HWY_ALIGN A weight[4][kMost];     ///< finite

  /// Finds the samples of points [first, first + count), counted through all grids.
  template <class T>
  void fill(const Shape& s, const void* grid, std::int64_t first, std::int64_t count) {
    HWY_ALIGN A promoted[2 * kMost];
    const T* const points = static_cast<const T*>(grid) + 2 * first;
    const A* yx = promoted;
    if constexpr (std::is_same_v<T, A>) {
      yx = points;
    } else {
      load_row(points, promoted, 2 * count);
    }
    for_lanes<Index>(count, [&](auto di, std::int64_t i) HWY_ATTR { fill_vector(di, s, yx + 2 * i, i); });
  }

 private:
  template <class DI>
  HWY_INLINE void fill_vector(DI di, const Shape& s, const A* yx, std::int64_t i) {
    using W = std::conditional_t<sizeof(Index) == 4, Index, double>;
    const hn::Rebind<A, DI> d;
    const hn::Rebind<W, DI> dw;
    hn::Vec<decltype(d)> y, x;
    hn::LoadInterleaved2(d, yx, y, x);
    const Neighbours<decltype(d), decltype(dw)> down(d, dw, y, s.h), across(d, dw, x, s.w);
    const auto corner = hn::Add(hn::Mul(down.first, hn::Set(dw, static_cast<W>(s.w))), across.first);
    MLUOPS_UNROLL
    for (std::int64_t k = 0; k < 4; ++k) {
      const auto on_map = hn::And(down.on_map[k / 2], across.on_map[k % 2]);
      const auto number = hn::Add(corner, hn::Set(dw, static_cast<W>(k / 2 * s.w + k % 2)));
      hn::StoreU(index(di, hn::IfThenElse(on_map, number, hn::Set(dw, W{-1}))), di, pixel[k] + i);
      hn::StoreU(hn::Mul(down.weight[k / 2], across.weight[k % 2]), d, weight[k] + i);
    }
  }
  template <class DI, class V>
  static HWY_INLINE hn::Vec<DI> index(DI di, V number) {
    if constexpr (sizeof(Index) == 4) {
      return number;
    } else {
      return hn::ConvertTo(di, number);
    }
  }
};

template <class A>
using PlaneBlock = PointBlock<A, hn::TFromD<hn::RebindToSigned<hn::ScalableTag<A>>>>;
template <class A>
using RowBlock = PointBlock<A, std::int64_t>;

/// The grids of a call.
template <class T>
class GridRois final : public SampledRois {
 public:
  GridRois(const Shape& s, const void* grid) : SampledRois({s.grids, s.out_h, s.out_w, 1}), shape_(s), grid_(grid) {}

  PlacedRoi place(std::int64_t r) const override { return {image_of(shape_, r), 0, 0, r}; }
  double most_pixels(std::int64_t) const override { return additions(); }
  void find(std::int64_t r, BinPixels& to) const override {
    using Block = RowBlock<Acc<T>>;
    BinPixels::Writer pixels(to);
    for (std::int64_t first = r * bins(), end = first + bins(); first < end; first += Block::kMost) {
      Block block;
      const std::int64_t count = std::min(Block::kMost, end - first);
      block.template fill<T>(shape_, grid_, first, count);
      for (std::int64_t i = 0; i < count; ++i) {
        for (std::size_t k = 0; k < 4; ++k) {
          if (block.pixel[k][i] < 0) continue;
          pixels.add(first + i, WeightedPixels<1>{{block.pixel[k][i]}, {block.weight[k][i]}}, 1);
        }
      }
    }
  }

 private:
  const Shape& shape_;
  const void* grid_;
};

}  // namespace mluops::cpu::roi_crop::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
