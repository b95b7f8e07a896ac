// What a block of channels of a border adds to the sums of a line, and where (border_align backward): the scatter
// addresses and terms, and the additions.
#if defined(MLUOPS_CPU_BORDER_ALIGN_SCATTER_TERMS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HWY_TARGET_TOGGLE
#undef MLUOPS_CPU_BORDER_ALIGN_SCATTER_TERMS_INL_H_
#else
#define MLUOPS_CPU_BORDER_ALIGN_SCATTER_TERMS_INL_H_
#endif

#include "backends/cpu/kernels/border_align/lines.h"
#include "backends/cpu/simd/barrier.h"
#include "backends/cpu/simd/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace mluops::cpu::border_align::HWY_NAMESPACE {
using namespace cpu::HWY_NAMESPACE;

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
    places = value_barrier(places);  // and not another load for its half
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

#if HWY_TARGET == HWY_SCALAR
/// Finds what borders of one kind of line add.
template <class T>
class ScatterAddresses {
  using A = Acc<T>;

 public:
  ScatterAddresses(const Shape& s, std::int64_t length, std::int64_t pitch)
      : points_(static_cast<std::uint32_t>(s.pool_size) + 1),
        pitch_(static_cast<std::uint32_t>(pitch)),
        length_(static_cast<std::int32_t>(length)) {}

  /// No branch and no call: what a compiler can make vectors of.
  void operator()(const LineBorder<A>& border, const T* HWY_RESTRICT grad_output,
                  const std::int32_t* HWY_RESTRICT argmax, ScatterTerms<A>& to) const {
    A gradient[kBlock];
    promote(grad_output, kBlock, gradient);
    const A end = static_cast<A>(length_), last = static_cast<A>(length_ - 1);
    for (int i = 0; i < kBlock; ++i) {
      const A x = border.start + border.stride * static_cast<A>(argmax[i]), on_map = x > 0 ? x : 0;
      const A on_line = on_map < last ? on_map : last;
      const auto whole = static_cast<std::int32_t>(on_line), pixel = whole < length_ ? whole : length_ - 1;
      const bool inside = (x >= -1) & (x <= end) & (static_cast<std::uint32_t>(argmax[i]) < points_);
      to.place[i] = static_cast<std::uint32_t>(i) * pitch_ + 2 * static_cast<std::uint32_t>(inside ? pixel : length_);
      const A behind = on_line - static_cast<A>(whole);
      to.here[i] = gradient[i] * (1 - behind);
      to.behind[i] = gradient[i] * behind;
    }
  }

 private:
  /// By itself it becomes vectors, inlined it does not.
  HWY_NOINLINE static void promote(const T* HWY_RESTRICT row, std::int64_t n, A* HWY_RESTRICT out) {
    load_row(row, out, n);
  }

  std::uint32_t points_, pitch_;
  std::int32_t length_;
};
#else
/// Finds what borders of one kind of line add.
template <class T>
class ScatterAddresses {
  using A = Acc<T>;
  using D = hn::ScalableTag<A>;
  using DI = hn::Rebind<std::int32_t, D>;
  using DU = hn::Rebind<std::uint32_t, D>;

 public:
  ScatterAddresses(const Shape& s, std::int64_t length, std::int64_t pitch)
      : points_(hn::Set(DU(), static_cast<std::uint32_t>(s.pool_size) + 1)),
        pixels_(hn::Set(DI(), static_cast<std::int32_t>(length))),
        last_pixel_(hn::Set(DI(), static_cast<std::int32_t>(length - 1))),
        pitch_(hn::Set(DU(), static_cast<std::uint32_t>(pitch))),
        points_as_float_(hn::Set(D(), static_cast<A>(s.pool_size + 1))),
        end_(hn::Set(D(), static_cast<A>(length))),
        last_(hn::Set(D(), static_cast<A>(length - 1))) {}

  HWY_INLINE void operator()(const LineBorder<A>& border, const T* HWY_RESTRICT grad_output,
                             const std::int32_t* HWY_RESTRICT argmax, ScatterTerms<A>& to) const {
    const D d;
    const DU du;
    MLUOPS_UNROLL
    for (int i = 0; i < kBlock; i += kLanes<A>) {
      const auto index = hn::LoadU(DI(), argmax + i);
      const auto x = hn::Add(hn::Mul(as_float(index), hn::Set(d, border.stride)), hn::Set(d, border.start));
      const auto on_map = hn::And(hn::Ge(x, hn::Set(d, A{-1})), hn::Le(x, end_));
      const auto inside = hn::And(on_map, names_point(index));
      const auto on_line = hn::Min(hn::Max(x, hn::Zero(d)), last_);
      const auto low = hn::Floor(on_line), behind = hn::Sub(on_line, low);
      const auto channel = hn::Mul(hn::Iota(du, static_cast<std::uint32_t>(i)), pitch_);
      const auto pixel = hn::BitCast(du, pixels(low, inside));
      hn::Store(hn::Add(channel, hn::Add(pixel, pixel)), du, to.place + i);
      const auto g = load(d, grad_output + i);
      hn::Store(hn::Mul(g, hn::Sub(hn::Set(d, A{1}), behind)), d, to.here + i);
      hn::Store(hn::Mul(g, behind), d, to.behind + i);
    }
  }

 private:
  HWY_INLINE hn::Vec<D> as_float(hn::Vec<DI> index) const {
    if constexpr (sizeof(A) == 8) {
      return hn::PromoteTo(D(), index);
    } else {
      return hn::ConvertTo(D(), index);
    }
  }

  HWY_INLINE hn::Mask<D> names_point(hn::Vec<DI> index) const {
    const D d;
    if constexpr (sizeof(A) == 8) {
      const auto i = hn::PromoteTo(d, index);
      return hn::And(hn::Ge(i, hn::Zero(d)), hn::Lt(i, points_as_float_));
    } else {
      return hn::RebindMask(d, hn::Lt(hn::BitCast(DU(), index), points_));
    }
  }

  /// Pixel numbers; the one behind the line for what is not inside.
  HWY_INLINE hn::Vec<DI> pixels(hn::Vec<D> low, hn::Mask<D> inside) const {
    const DI di;
    if constexpr (sizeof(A) == 8) {
      return hn::DemoteTo(di, hn::IfThenElse(inside, low, end_));
    } else {
#if HWY_TARGET <= HWY_AVX3
      const hn::Vec<DI> pixel{_mm512_cvttps_epi32(low.raw)};  // without a look at what does not fit
#else
      const auto pixel = hn::ConvertTo(di, low);
#endif
      return hn::IfThenElse(hn::RebindMask(di, inside), hn::Min(pixel, last_pixel_), pixels_);
    }
  }

  hn::Vec<DU> points_;
  hn::Vec<DI> pixels_, last_pixel_;
  hn::Vec<DU> pitch_;
  hn::Vec<D> points_as_float_, end_, last_;
};
#endif

/// The first n channels of a block.
template <class A>
HWY_INLINE void add_some(const ScatterTerms<A>& additions, const A* weights, std::int64_t n, A* HWY_RESTRICT sums) {
  const hn::CappedTag<A, 2> d;
  constexpr int lanes = static_cast<int>(hn::MaxLanes(d));
  for (std::int64_t i = 0; i < n; ++i) {
    const auto here = hn::Set(d, additions.here[i]), behind = hn::Set(d, additions.behind[i]);
    A* const sum = sums + additions.place[i];
    for (int j = 0; j < 2; j += lanes) {
      const auto weight = hn::LoadU(d, weights + j);
      hn::StoreU(hn::MulAdd(weight, here, hn::LoadU(d, sum + j)), d, sum + j);
      hn::StoreU(hn::MulAdd(weight, behind, hn::LoadU(d, sum + 2 + j)), d, sum + 2 + j);
    }
  }
}

#if HWY_TARGET != HWY_SCALAR
/// All channels of a block.
HWY_INLINE void add_all(const ScatterTerms<float>& additions, const float* weights, float* HWY_RESTRICT sums) {
  const hn::ScalableTag<float> d;
  MLUOPS_UNROLL
  for (int i = 0; i < kBlock; i += kLanes<float>) {
    add_vector(d, hn::Load(d, additions.here + i), hn::Load(d, additions.behind + i), weights, additions.place + i,
               sums);
  }
}
#endif

}  // namespace mluops::cpu::border_align::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
