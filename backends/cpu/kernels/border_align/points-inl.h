// The points of borders that lie on one line, placed in vectors (border_align forward). Include after
// foreach_target.h, like simd-inl.h.
//
// A border lies on its line and the next one with the same two weights at all its points. So a point's value is
// scale * ((1 - w) * r0 + w * r1), r = near + ratio * far, where near is the line of the larger weight: as many
// multiply-adds as with four weights, but two of them stay the same along a border and one is left to a point.
#include <cstring>
#include <limits>
#include <span>

#include "backends/cpu/kernels/border_align/geometry.h"
#include "backends/cpu/simd/simd-inl.h"

#ifndef MLUOPS_CPU_BORDER_POINTS_ONCE_
#define MLUOPS_CPU_BORDER_POINTS_ONCE_
namespace mluops::cpu::border_align {

/// A packed line has two places of zeros before its pixels, for points outside the map, and one behind them: the last
/// pixel once more, as the neighbour of the last.
constexpr std::int64_t kPlacesBefore = 2, kPlaces = kPlacesBefore + 1;

/// Packed pixels are multiplied by this, so that two lines of the largest numbers do not overflow when added.
template <class A>
constexpr A kPackedScale = A{1} / 2;

/// What a border makes of its line and the next: scale * (near + ratio * far), ratio at most 1.
template <class A>
struct LineBlend {
  A ratio, scale;
  bool next_is_near;

  /// No line: outside the map.
  static LineBlend of(const AxisSample<A>* line) {
    if (line == nullptr) return {0, 1, false};
    const bool next = line->high_weight > line->low_weight;
    const A more = next ? line->high_weight : line->low_weight, less = next ? line->low_weight : line->high_weight;
    return {less / more, more / kPackedScale<A>, next};
  }
};

/// pool_size + 1 points for each of some borders, one border after the other.
template <class A>
struct LinePoints {
  A* weights;             ///< of the pixel behind the point; the pixel before it has 1 - weight
  std::int32_t* pixels;   ///< before the point; -kPlacesBefore outside the map
  LineBlend<A>* borders;  ///< one for each border
};

}  // namespace mluops::cpu::border_align
#endif

#if defined(MLUOPS_CPU_BORDER_ALIGN_POINTS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HWY_TARGET_TOGGLE
#undef MLUOPS_CPU_BORDER_ALIGN_POINTS_INL_H_
#else
#define MLUOPS_CPU_BORDER_ALIGN_POINTS_INL_H_
#endif

HWY_BEFORE_NAMESPACE();
namespace mluops::cpu::border_align::HWY_NAMESPACE {
using namespace cpu::HWY_NAMESPACE;

/// int32 as lanes as wide as the sums.
template <class D>
using IndexTag = hn::RebindToSigned<D>;

template <class D>
HWY_INLINE void store_index(bool non_temporal, hn::Vec<IndexTag<D>> v, D, std::int32_t* HWY_RESTRICT p) {
  const IndexTag<D> di;
  if constexpr (sizeof(hn::TFromD<D>) == 8) {
    HWY_ALIGN std::int64_t wide[hn::MaxLanes(D())];
    hn::Store(v, di, wide);
    for (std::size_t i = 0; i < hn::Lanes(di); ++i) p[i] = static_cast<std::int32_t>(wide[i]);
  } else if (std::is_same_v<D, hn::ScalableTag<hn::TFromD<D>>> && non_temporal) {
    hn::Stream(v, di, p);
  } else {
    hn::StoreU(v, di, p);
  }
}

/// Where a vector of points lies along a line.
template <class D>
struct PointVector {
  hn::Vec<D> weights;           ///< of the pixels behind the points
  hn::Vec<IndexTag<D>> pixels;  ///< before them
};

/// Points at these coordinates along a line of `length` pixels. As sample_axis; points outside are on the zeros before
/// the line.
template <class D>
HWY_INLINE PointVector<D> find_points(D d, hn::Vec<D> at, std::int64_t length) {
  using A = hn::TFromD<D>;
  const IndexTag<D> di;
  using Index = hn::TFromD<decltype(di)>;
  const auto last = hn::Set(di, static_cast<Index>(length - 1)),
             zeros = hn::Set(di, static_cast<Index>(-kPlacesBefore));
  const auto inside = hn::And(hn::Ge(at, hn::Set(d, A{-1})), hn::Le(at, hn::Set(d, static_cast<A>(length))));
  const auto clamped = hn::IfThenElseZero(hn::And(inside, hn::Gt(at, hn::Zero(d))), at);
  const auto low = hn::ConvertTo(di, clamped);
  const auto before_last = hn::RebindMask(d, hn::Gt(last, low));
  return {hn::IfThenElseZero(before_last, hn::Sub(clamped, hn::ConvertTo(d, low))),
          hn::IfThenElse(hn::RebindMask(di, inside), hn::Min(low, last), zeros)};
}

/// Coordinates along a line of `length` pixels become the weight and number of a pixel.
template <class A>
void find_pixels(A* HWY_RESTRICT coordinates, std::int32_t* HWY_RESTRICT pixels, std::int64_t n, std::int64_t length) {
  for_lanes<A>(n, [&](auto d, std::int64_t i) HWY_ATTR {
    const auto found = find_points(d, hn::LoadU(d, coordinates + i), length);
    hn::StoreU(found.weights, d, coordinates + i);
    store_index(false, found.pixels, d, pixels + i);
  });
}

/// Places the points of borders that lie on the same line and marks the pixels along it that they touch.
template <class T, class A = Acc<T>>
void place_points(const mluopsBorderAlignShape& s, const void* boxes, std::span<const std::int64_t> rows,
                  const BorderAxes& axes, const LinePoints<A>& points, std::uint8_t* touched) {
  A* at = points.weights;
  LineBlend<A>* border_at = points.borders;
  for (const std::int64_t row : rows) {
    const auto border = read_border<T>(s, boxes, row);
    AxisSample<A> line;
    const bool on_map = sample_axis(border.fixed, axes.lines, line);
    *border_at++ = LineBlend<A>::of(on_map ? &line : nullptr);
    // Each point is reached from the one before by adding the stride.
    A coordinate = on_map ? border.start : std::numeric_limits<A>::quiet_NaN();
    for (std::int64_t i = 0; i <= s.pool_size; ++i, coordinate += border.stride) *at++ = coordinate;
  }
  const std::int64_t count = at - points.weights;
  find_pixels(points.weights, points.pixels, count, axes.length);
  constexpr std::uint8_t both[2] = {1, 1};
  for (std::int64_t i = 0; i < count; ++i) std::memcpy(touched + points.pixels[i], both, sizeof(both));
}

}  // namespace mluops::cpu::border_align::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
