// Whole blocks of channels of borders of few points (border_align backward): with AVX-512, a vector holds all points of
// a border, and argmax permutes it.
//
// Where the points of a border lie along its line is computed once, not for every channel. What a block adds waits in
// registers until its places, which are addresses and so have to go through memory, have arrived there.
#if defined(MLUOPS_CPU_BORDER_ALIGN_POINT_BLOCKS_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HWY_TARGET_TOGGLE
#undef MLUOPS_CPU_BORDER_ALIGN_POINT_BLOCKS_H_
#else
#define MLUOPS_CPU_BORDER_ALIGN_POINT_BLOCKS_H_
#endif

#include "backends/cpu/border_align_lines.h"
#include "backends/cpu/simd.h"

HWY_BEFORE_NAMESPACE();
namespace mluops::cpu::HWY_NAMESPACE {

/// The points of a border, one in each lane: where they lie along a line, kept on it, and which are on the map.
struct PointsOnLine {
  using D = hn::ScalableTag<float>;

  hn::Vec<D> at;
  hn::Mask<D> inside;

  /// `points` of them, a vector at most, on a line of `length` pixels.
  HWY_INLINE PointsOnLine(const border_align::LineBorder<float>& border, std::size_t points, std::int64_t length) {
    const D d;
    const auto end = hn::Set(d, static_cast<float>(length));
    const auto x = hn::Add(hn::Mul(hn::Iota(d, 0), hn::Set(d, border.stride)), hn::Set(d, border.start));
    const auto on_map = hn::And(hn::Ge(x, hn::Set(d, -1.0f)), hn::Le(x, end));
    inside = hn::And(on_map, hn::FirstN(d, points));
    at = hn::Min(hn::Max(x, hn::Zero(d)), hn::Sub(end, hn::Set(d, 1.0f)));
  }
};

#if HWY_TARGET != HWY_SCALAR
/// Adds the 128-bit blocks of two vectors, weighted, to the sums at every fourth of the places and at the ones behind
/// these.
template <class D>
HWY_INLINE void add_blocks(D d, hn::Vec<D> even, hn::Vec<D> odd, hn::Vec<hn::CappedTag<float, 4>> weights,
                           const std::uint32_t* place, float* HWY_RESTRICT sums) {
  if constexpr (hn::MaxLanes(d) > 4) {
    const hn::Half<D> half;
    add_blocks(half, hn::LowerHalf(half, even), hn::LowerHalf(half, odd), weights, place, sums);
    add_blocks(half, hn::UpperHalf(half, even), hn::UpperHalf(half, odd), weights, place + hn::MaxLanes(half), sums);
  } else {
    std::uint64_t places;  // one load for both
    std::memcpy(&places, place, sizeof(places));
    asm("" : "+r"(places));  // and not another one for its half
    float *const first = sums + static_cast<std::uint32_t>(places), *const second = sums + (places >> 32);
    hn::StoreU(hn::MulAdd(even, weights, hn::LoadU(d, first)), d, first);
    hn::StoreU(hn::MulAdd(odd, weights, hn::LoadU(d, second)), d, second);
  }
}

/// Adds a vector of channels, to the pixels of their points and to the ones behind.
template <class D>
HWY_INLINE void add_vector(D d, hn::Vec<D> here, hn::Vec<D> behind, const float* weights, const std::uint32_t* place,
                           float* HWY_RESTRICT sums) {
  const hn::CappedTag<float, 4> d4;
  double both;  // one load
  std::memcpy(&both, weights, sizeof(both));
  const auto weight = hn::BitCast(d4, hn::Set(hn::Repartition<double, decltype(d4)>(), both));
  const auto lower = hn::InterleaveLower(d, here, behind), upper = hn::InterleaveUpper(d, here, behind);
  add_blocks(d, hn::InterleaveLower(d, lower, lower), hn::InterleaveUpper(d, lower, lower), weight, place, sums);
  add_blocks(d, hn::InterleaveLower(d, upper, upper), hn::InterleaveUpper(d, upper, upper), weight, place + 2, sums);
}
#endif

#if HWY_TARGET <= HWY_AVX3
template <class T>
class PointBlocks {
  using D = hn::ScalableTag<float>;
  using DU = hn::RebindToUnsigned<D>;
  using LineBorder = border_align::LineBorder<float>;
  using Shape = border_align::Shape;
  using V = hn::Vec<D>;
  using Points = float[kLanes<float>];

 public:
  /// The last lane is for argmax that names no point. Numbers of pixels are exact as floats. Placing points pays from
  /// eight blocks on.
  static bool take(const Shape& s, std::int64_t length) {
    return s.c >= 8 * border_align::kBlock && s.pool_size + 1 < kLanes<float> && length < (std::int64_t{1} << 24);
  }

  /// Borders of one line, and kFetch more behind them, of which nothing is added.
  PointBlocks(const Shape& s, const LineBorder* group, std::int64_t count, std::int64_t length)
      : group_(group), count_(count) {
    const D d;
    for (std::int64_t i = 0; i < count + border_align::kAhead; ++i) {
      const PointsOnLine points(group[i], static_cast<std::size_t>(s.pool_size) + 1, length);
      hn::Store(hn::IfThenElse(points.inside, points.at, hn::Set(d, static_cast<float>(length))), d, points_[i]);
    }
  }

  /// Adds kBlock channels of all borders, of which there is one. Sums: [kBlock, pitch].
  HWY_NOINLINE void add(const T* HWY_RESTRICT grad_output, const std::int32_t* HWY_RESTRICT argmax, std::int64_t pitch,
                        float* HWY_RESTRICT sums) const {
    using border_align::kAhead;
    constexpr int kRing = 2 * kAhead;
    const D d;
    const DU du;
    const auto channels = hn::Mul(hn::Iota(du, 0), hn::Set(du, static_cast<std::uint32_t>(pitch)));
    alignas(64) std::uint32_t places[kRing][border_align::kBlock];
    V here[kAhead], behind[kAhead];
    const auto prepare = [&](const LineBorder& border, const Points& points, int to) HWY_ATTR {
      const auto index = hn::LoadU(du, reinterpret_cast<const std::uint32_t*>(argmax + border.at));
      const auto lane = hn::IndicesFromVec(d, hn::Min(index, hn::Set(du, kLanes<float> - 1)));
      const auto x = hn::TableLookupLanes(hn::Load(d, points), lane);
      const auto after = hn::Sub(x, hn::Floor(x));
      const hn::Vec<DU> pixel{_mm512_cvttps_epi32(x.raw)};  // without a look at what does not fit
      hn::Store(hn::Add(channels, hn::Add(pixel, pixel)), du, places[to]);
      const auto gradient = load(d, grad_output + border.at);
      here[to % kAhead] = hn::Mul(gradient, hn::Sub(hn::Set(d, 1.0f), after));
      behind[to % kAhead] = hn::Mul(gradient, after);
    };
    MLUOPS_UNROLL
    for (int j = 0; j < kAhead; ++j) prepare(group_[j], points_[j], j);
    // Unrolled by the ring, whose addresses are constants then: there are no registers for more.
    const Points* points = points_ + kAhead;
    const LineBorder* const end = group_ + count_;
    for (const LineBorder* border = group_;; border += kRing, points += kRing) {
      MLUOPS_UNROLL
      for (int j = 0; j < kRing; ++j) {
        if (border + j == end) return;
        const auto add_here = here[j % kAhead], add_behind = behind[j % kAhead];
        border_align::ask(grad_output, argmax, border, j);
        prepare(border[j + kAhead], points[j], (j + kAhead) % kRing);
        add_vector(d, add_here, add_behind, border[j].weights, places[j], sums);
      }
    }
  }

 private:
  const LineBorder* const group_;
  const std::int64_t count_;
  /// Pixels, and parts of them to the next one; where a point is nowhere, the one behind the line.
  alignas(64) Points points_[border_align::kGroup + border_align::kAhead];
};
#endif

}  // namespace mluops::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
