// The greatest point of borders that lie on one line (border_align forward). Include after foreach_target.h, like
// simd-inl.h.
//
// A border lies on its line and the next one with the same two weights at all its points. So a point's value is
// scale * ((1 - w) * r0 + w * r1), r = near + ratio * far, where near is the line of the larger weight: as many
// multiply-adds as with four weights, but two of them stay the same along a border and one is left to a point.
#include "backends/cpu/kernels/border_align/geometry.h"
#include "backends/cpu/simd/simd-inl.h"

#if defined(MLUOPS_CPU_BORDER_ALIGN_POOL_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HWY_TARGET_TOGGLE
#undef MLUOPS_CPU_BORDER_ALIGN_POOL_INL_H_
#else
#define MLUOPS_CPU_BORDER_ALIGN_POOL_INL_H_
#endif

HWY_BEFORE_NAMESPACE();
namespace mluops::cpu::border_align::HWY_NAMESPACE {
using namespace cpu::HWY_NAMESPACE;

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

  explicit LineBlend(const A* weights) {
    next_is_near = weights[1] > weights[0];
    const A more = weights[next_is_near ? 1 : 0], less = weights[next_is_near ? 0 : 1];
    ratio = less / more;
    scale = more / kPackedScale<A>;
  }
};

/// Pixels along a line that points touch: [begin, end).
struct PixelRange {
  std::int64_t begin, end;

  /// The pixels that points between two coordinates on a line of `length` pixels touch.
  template <class A>
  static PixelRange between(A a, A b, std::int64_t length) {
    const A low = std::min(a, b), high = std::max(a, b);
    if (!(low <= static_cast<A>(length) && high >= -1)) return {length, 0};
    return {index_of(low, length), index_of(high, length) + 2};
  }
  PixelRange joined(PixelRange other) const { return {std::min(begin, other.begin), std::max(end, other.end)}; }
};

/// pool_size + 1 points for each of some borders, one border after the other.
template <class A>
struct LinePoints {
  A* weights;            ///< of the pixel behind the point; the pixel before it has 1 - weight
  std::int32_t* pixels;  ///< before the point; -kPlacesBefore outside the map
  LineBlend<A>* blends;  ///< one for each border
  PixelRange* touched;   ///< likewise

  /// From a border on, of `count` points each.
  LinePoints from(std::int64_t border, std::int64_t count) const {
    return {weights + border * count, pixels + border * count, blends + border, touched + border};
  }
};

/// Some channels of a packed line, from its first pixel on, and how far away those of the next line are.
template <class A>
struct Block {
  const A* line;
  std::int64_t next;
};

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

/// Coordinates along a line of `length` pixels become the weight and number of a pixel, as sample_axis has them; points
/// outside are on the zeros before the line.
template <class A>
void find_pixels(A* HWY_RESTRICT coordinates, std::int32_t* HWY_RESTRICT pixels, std::int64_t n, std::int64_t length) {
  for_lanes<A>(n, [&](auto d, std::int64_t i) HWY_ATTR {
    const IndexTag<decltype(d)> di;
    using Index = hn::TFromD<decltype(di)>;
    const auto last = hn::Set(di, static_cast<Index>(length - 1)),
               zeros = hn::Set(di, static_cast<Index>(-kPlacesBefore));
    const auto at = hn::LoadU(d, coordinates + i);
    const auto inside = hn::And(hn::Ge(at, hn::Set(d, A{-1})), hn::Le(at, hn::Set(d, static_cast<A>(length))));
    const auto clamped = hn::IfThenElseZero(hn::And(inside, hn::Gt(at, hn::Zero(d))), at);
    const auto low = hn::ConvertTo(di, clamped);
    const auto before_last = hn::RebindMask(d, hn::Gt(last, low));
    hn::StoreU(hn::IfThenElseZero(before_last, hn::Sub(clamped, hn::ConvertTo(d, low))), d, coordinates + i);
    store_index(false, hn::IfThenElse(hn::RebindMask(di, inside), hn::Min(low, last), zeros), d, pixels + i);
  });
}

/// Places the points of borders [begin, end), which run along lines of `length` pixels.
template <class A>
void place_points(const SortedBorders<A>& sorted, std::int64_t begin, std::int64_t end, std::int64_t pool_size,
                  std::int64_t length, const LinePoints<A>& points) {
  A* at = points.weights;
  for (std::int64_t i = begin; i < end; ++i) {
    const PlacedBorder<A>& border = sorted[i];
    // Each point is reached from the one before by adding the stride.
    A coordinate = border.start;
    for (std::int64_t k = 0; k <= pool_size; ++k, coordinate += border.stride) *at++ = coordinate;
    points.blends[i - begin] = LineBlend<A>(border.weights);
    points.touched[i - begin] = PixelRange::between(border.start, at[-1], length);
  }
  find_pixels(points.weights, points.pixels, at - points.weights, length);
}

/// kVectors vectors of channels of one border, which lie `step` channels apart in the results: the greatest of its
/// `count` points, and which it is.
template <int kVectors, class D, class T, class A = Acc<T>>
HWY_INLINE void pool_channels(bool non_temporal, D d, const A* HWY_RESTRICT weights,
                              const std::int32_t* HWY_RESTRICT pixels, std::int64_t count, LineBlend<A> blend,
                              Block<A> block, std::int64_t step, T* HWY_RESTRICT output,
                              std::int32_t* HWY_RESTRICT argmax) {
  const IndexTag<D> di;
  constexpr auto lanes = static_cast<std::int64_t>(hn::MaxLanes(D())), pitch = kVectors * lanes;
  const A* const near = block.line + (blend.next_is_near ? block.next : 0);
  const std::int64_t far = blend.next_is_near ? -block.next : block.next;
  const auto ratio = hn::Set(d, blend.ratio);
  const auto evaluate = [&](std::int64_t i, hn::Vec<D>* value) HWY_ATTR {
    const A* const pixel = near + pixels[i] * pitch;
    const auto high = hn::Set(d, weights[i]), low = hn::Sub(hn::Set(d, A{1}), high);
    MLUOPS_UNROLL
    for (int v = 0; v < kVectors; ++v) {
      const A* const before = pixel + v * lanes;
      const A* const after = before + pitch;
      const auto r0 = hn::MulAdd(ratio, hn::LoadU(d, before + far), hn::LoadU(d, before));
      const auto r1 = hn::MulAdd(ratio, hn::LoadU(d, after + far), hn::LoadU(d, after));
      value[v] = hn::MulAdd(high, r1, hn::Mul(low, r0));
    }
  };
  hn::Vec<D> greatest[kVectors];
  hn::Vec<IndexTag<D>> where[kVectors];
  evaluate(0, greatest);
  MLUOPS_UNROLL
  for (int v = 0; v < kVectors; ++v) where[v] = hn::Zero(di);
  // Strictly greater: the first of equals wins, and NaN stays where it comes first and nowhere else.
  auto index = hn::Zero(di);
  for (std::int64_t i = 1; i < count; ++i) {
    hn::Vec<D> candidate[kVectors];
    evaluate(i, candidate);
    index = hn::Add(index, hn::Set(di, 1));
    MLUOPS_UNROLL
    for (int v = 0; v < kVectors; ++v) {
      const auto more = hn::Gt(candidate[v], greatest[v]);
      greatest[v] = hn::IfThenElse(more, candidate[v], greatest[v]);
      where[v] = hn::IfThenElse(hn::RebindMask(di, more), index, where[v]);
    }
  }
  MLUOPS_UNROLL
  for (int v = 0; v < kVectors; ++v) {
    store(non_temporal, hn::Mul(greatest[v], hn::Set(d, blend.scale)), d, output + v * step);
    store_index(non_temporal, where[v], d, argmax + v * step);
  }
}

}  // namespace mluops::cpu::border_align::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
