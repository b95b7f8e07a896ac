// Rows of PSAMask on NCHW tensors, moved in registers.
//
// For one map row h and one mask row i, whose target row th = h + i - half_h lies on the map, the move is
//     y column th*w+tw (collect) or tw (distribute) of pixel w  =  x column j of pixel w,   tw = w + j - half_w.
// In planes, collect is a matrix with a pixel in each lane, whose lane l moves l rows down (forward) or up (backward).
// Vectors keep their lanes, so log2(lanes) selects a vector do it (a skew). Distribute is a transpose, whose rows are
// stored (forward) or loaded (backward) one element further each.
#if defined(MLUOPS_CPU_PSAMASK_NCHW_ROWS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HWY_TARGET_TOGGLE
#undef MLUOPS_CPU_PSAMASK_NCHW_ROWS_INL_H_
#else
#define MLUOPS_CPU_PSAMASK_NCHW_ROWS_INL_H_
#endif

#include <algorithm>
#include <type_traits>

#include "backends/cpu/kernels/psamask/geometry.h"
#include "backends/cpu/simd/prefetch.h"
#include "backends/cpu/simd/simd-inl.h"
#include "backends/cpu/simd/transpose-inl.h"

HWY_BEFORE_NAMESPACE();
namespace mluops::cpu::psamask::HWY_NAMESPACE {
using namespace cpu::HWY_NAMESPACE;

/// A matrix whose rows lie `stride` elements apart.
template <class E>
struct Rows {
  E* data;
  std::int64_t stride;

  E* operator[](std::int64_t row) const { return data + row * stride; }
};

/// Vectors of the element type: 128 bits of 16-bit elements, which is what they are transposed in.
template <class E>
using LaneTag = std::conditional_t<sizeof(E) == 2, hn::CappedTag<E, 8>, hn::ScalableTag<E>>;

template <class E>
constexpr std::int64_t kVectorLanes = static_cast<std::int64_t>(hn::MaxLanes(LaneTag<E>()));

template <class E>
HWY_INLINE void transpose_lanes([[maybe_unused]] hn::Vec<LaneTag<E>>* v) {
#if HWY_TARGET != HWY_SCALAR
  if constexpr (sizeof(E) == 2) {
    transpose_16bit(LaneTag<E>(), v);
  } else {
    using Float = std::conditional_t<sizeof(E) == 4, float, double>;
    const hn::ScalableTag<Float> df;
    hn::Vec<decltype(df)> f[kVectorLanes<E>];
    MLUOPS_UNROLL
    for (std::int64_t i = 0; i < kVectorLanes<E>; ++i) f[i] = hn::BitCast(df, v[i]);
    transpose_square<Float>(f);
    MLUOPS_UNROLL
    for (std::int64_t i = 0; i < kVectorLanes<E>; ++i) v[i] = hn::BitCast(LaneTag<E>(), f[i]);
  }
#endif
}

/// Rows of vectors go through in their order (kDown) or backwards: lane l of row r comes out as lane l of row r + l or
/// r - l. Rows before the first are zeros. A lane moves by the bits of its number, one select a bit; what it needs of
/// earlier rows waits in registers. Some rows behind the last of `rows` may go through as well.
template <class E, bool kDown, class Load, class Store>
HWY_INLINE void skew(Range rows, const Load& load, const Store& store) {
  constexpr LaneTag<E> d;
  constexpr std::int64_t kN = kVectorLanes<E>, kPeriod = std::max<std::int64_t>(1, kN / 2);
  hn::Vec<LaneTag<E>> waiting[kN];  // rows that came `step` rows ago: step of them, from index `step` on
  MLUOPS_UNROLL
  for (std::int64_t i = 0; i < kN; ++i) waiting[i] = hn::Zero(d);
  const auto lanes = hn::Iota(d, 0);
  for (std::int64_t first = 0; first < rows.size(); first += kPeriod) {
    MLUOPS_UNROLL
    for (std::int64_t k = 0; k < kPeriod; ++k) {
      const std::int64_t r = kDown ? rows.begin + first + k : rows.end - 1 - first - k;
      auto v = load(r);
      MLUOPS_UNROLL
      for (std::int64_t step = 1; step < kN; step *= 2) {
        auto& slot = waiting[step + k % step];
        const auto earlier = slot;
        slot = v;
        const auto bit = hn::Set(d, static_cast<E>(step));
        v = hn::IfThenElse(hn::Eq(hn::And(lanes, bit), bit), earlier, v);
      }
      store(r, v);
    }
  }
}

/// Lanes [begin, end) of a vector.
struct Lanes {
  std::int64_t begin, end;

  /// The lanes of a vector beginning at `first` that are within [0, size).
  static Lanes within(std::int64_t first, std::int64_t size, std::int64_t lanes) {
    return {std::clamp<std::int64_t>(-first, 0, lanes), std::clamp<std::int64_t>(size - first, 0, lanes)};
  }
};

/// Whether masked loads and stores touch the lanes of the mask only, and in one instruction.
template <class E>
constexpr bool kMasks = HWY_TARGET <= HWY_AVX3 || (HWY_TARGET <= HWY_AVX2 && sizeof(E) >= 4);

template <class E>
HWY_INLINE auto mask_of(Lanes lanes) {
  constexpr LaneTag<E> d;
  return hn::AndNot(hn::FirstN(d, static_cast<std::size_t>(lanes.begin)),
                    hn::FirstN(d, static_cast<std::size_t>(lanes.end)));
}

/// A vector from `from` on, zero but for some lanes: no other is read.
template <class E>
HWY_INLINE hn::Vec<LaneTag<E>> load_lanes(const E* from, Lanes lanes) {
  constexpr LaneTag<E> d;
  if (lanes.begin == 0 && lanes.end == kVectorLanes<E>) return hn::LoadU(d, from);
  if constexpr (kMasks<E>) {
    return hn::MaskedLoad(mask_of<E>(lanes), d, from);
  } else {
    HWY_ALIGN E buffer[kVectorLanes<E>];
    for (std::int64_t i = 0; i < kVectorLanes<E>; ++i) buffer[i] = i < lanes.begin || i >= lanes.end ? E{0} : from[i];
    return hn::Load(d, buffer);
  }
}

/// Some lanes of a vector to `to` on: no other is written.
template <class E>
HWY_INLINE void store_lanes(hn::Vec<LaneTag<E>> v, E* to, Lanes lanes) {
  constexpr LaneTag<E> d;
  if (lanes.begin == 0 && lanes.end == kVectorLanes<E>) return hn::StoreU(v, d, to);
  if constexpr (kMasks<E>) {
    hn::BlendedStore(v, mask_of<E>(lanes), d, to);
  } else {
    HWY_ALIGN E buffer[kVectorLanes<E>];
    hn::Store(v, d, buffer);
    for (std::int64_t i = 0; i < kVectorLanes<E>; ++i) {
      if (i >= lanes.begin && i < lanes.end) to[i] = buffer[i];
    }
  }
}

/// Moves one map row between planes. `from` has all planes of a mask row or of a target row, or of a map row's pixels;
/// `to` has some of them, `planes`, and all of their row is written.
template <class E>
class RowMoves {
 public:
  static constexpr std::int64_t kN = kVectorLanes<E>;
  static constexpr std::int64_t kRowsPerStep = 8;  ///< that a skew reads while some planes are prefetched

  explicit RowMoves(const mluopsPsamaskShape& s) : win_(s) {}

  /// Collect forward: y plane tw, pixel w = x plane tw - w + half_w, pixel w.
  void spread(const Rows<const E>& from, Range planes, const Rows<E>& to, PrefetchPlanes& ahead) const {
    for_blocks([&](std::int64_t w, Lanes lanes) HWY_ATTR {
      const std::int64_t shift = planes.begin + win_.half_w - w;  // from a plane written to the one lane 0 is of
      const Range moved = clamped({-shift, win_.w_mask - shift + kN - 1}, planes.size());
      const Range read = {std::max<std::int64_t>(0, moved.begin + shift - (kN - 1)), moved.end + shift};
      zero(to, {0, moved.begin}, w, lanes);
      skew<E, true>(read, loads(from, win_.w_mask, w, lanes, ahead), stores(to, moved, shift, w, lanes));
      zero(to, {moved.end, planes.size()}, w, lanes);
    });
  }

  /// Collect backward: x plane j, pixel w = y plane w + j - half_w, pixel w.
  void gather(const Rows<const E>& from, Range planes, const Rows<E>& to, PrefetchPlanes& ahead) const {
    for_blocks([&](std::int64_t w, Lanes lanes) HWY_ATTR {
      const std::int64_t shift = planes.begin + w - win_.half_w;
      const Range moved = clamped({-shift - (kN - 1), win_.w - shift}, planes.size());
      const Range read = {moved.begin + shift, std::min(win_.w, moved.end + shift + kN - 1)};
      zero(to, {0, moved.begin}, w, lanes);
      skew<E, false>(read, loads(from, win_.w, w, lanes, ahead), stores(to, moved, shift, w, lanes));
      zero(to, {moved.end, planes.size()}, w, lanes);
    });
  }

  /// Distribute forward: y plane w, column tw = x plane tw - w + half_w, pixel w.
  void turn(const Rows<const E>& from, Range planes, const Rows<E>& to, PrefetchPlanes& ahead) const {
    const std::int64_t pixels = std::min(kN, win_.w);
    if (!win_.covers_columns) {
      for (std::int64_t p = 0; p < planes.size(); ++p) std::fill_n(to[p], win_.w, E{0});
    }
    for (std::int64_t first = planes.begin; first < planes.end; first += kN) {
      const std::int64_t w = std::min(first, win_.w - pixels);
      const Range kept = {first - w, std::min(planes.end - w, pixels)};  // of its lanes
      const Range masks = {std::max<std::int64_t>(0, win_.half_w - (w + pixels - 1)), win_.columns(w).end};
      for (std::int64_t j = masks.begin; j < masks.end; j += kN) {
        ahead.step();
        turn_tile(from, j, w, {0, pixels}, kept, {to.data + (w - planes.begin) * to.stride, to.stride});
      }
    }
  }

  /// Distribute backward: x plane j, pixel w = y plane w, column w + j - half_w.
  void turn_back(const Rows<const E>& from, Range planes, const Rows<E>& to, PrefetchPlanes& ahead) const {
    for (std::int64_t first = 0; first < planes.size(); first += kN) {
      const Range some = {first, std::min(planes.size(), first + kN)};
      for_blocks([&](std::int64_t w, Lanes lanes) HWY_ATTR {
        const std::int64_t tw = w + planes.begin + first - win_.half_w;
        ahead.step();
        if (tw >= win_.w || tw + lanes.end + kN <= 1) return zero(to, some, w, lanes);
        turn_tile_back({from.data + w * from.stride, from.stride}, tw, w, lanes, some, to);
      });
    }
  }

 private:
  using Vector = hn::Vec<LaneTag<E>>;

  /// f(w, lanes) for vectors that cover a row of the map; the last one begins early.
  template <class F>
  HWY_INLINE void for_blocks(F&& f) const {
    if (win_.w < kN) return f(0, Lanes{0, win_.w});
    for (std::int64_t w = 0; w < win_.w; w += kN) f(std::min(w, win_.w - kN), Lanes{0, kN});
  }

  /// `some` of `count` planes.
  static Range clamped(Range some, std::int64_t count) {
    const std::int64_t begin = std::clamp<std::int64_t>(some.begin, 0, count);
    return {begin, std::clamp(some.end, begin, count)};
  }

  static HWY_INLINE Vector load_row(const Rows<const E>& from, std::int64_t row, std::int64_t rows, std::int64_t w,
                                    Lanes lanes) {
    return row < 0 || row >= rows ? hn::Zero(LaneTag<E>()) : load_lanes<E>(from[row] + w, lanes);
  }

  /// What a skew reads and writes.
  static HWY_INLINE auto loads(const Rows<const E>& from, std::int64_t rows, std::int64_t w, Lanes lanes,
                               PrefetchPlanes& ahead) {
    return [&from, rows, w, lanes, &ahead](std::int64_t r) HWY_ATTR {
      if (r % kRowsPerStep == 0) ahead.step();
      return load_row(from, r, rows, w, lanes);
    };
  }
  static HWY_INLINE auto stores(const Rows<E>& to, Range moved, std::int64_t shift, std::int64_t w, Lanes lanes) {
    return [&to, moved, shift, w, lanes](std::int64_t r, auto v) HWY_ATTR {
      const std::int64_t p = r - shift;
      if (p >= moved.begin && p < moved.end) store_lanes<E>(v, to[p] + w, lanes);
    };
  }

  static HWY_INLINE void zero(const Rows<E>& to, Range planes, std::int64_t w, Lanes lanes) {
    for (std::int64_t p = planes.begin; p < planes.end; ++p) {
      store_lanes<E>(hn::Zero(LaneTag<E>()), to[p] + w, lanes);
    }
  }

  /// kN mask columns of some pixels from w on, to planes of these pixels.
  HWY_INLINE void turn_tile(const Rows<const E>& from, std::int64_t j, std::int64_t w, Lanes lanes, Range kept,
                            const Rows<E>& to) const {
    Vector v[kN];
    MLUOPS_UNROLL
    for (std::int64_t k = 0; k < kN; ++k) v[k] = load_row(from, j + k, win_.w_mask, w, lanes);
    transpose_lanes<E>(v);
    for (std::int64_t l = kept.begin; l < kept.end; ++l) {
      const std::int64_t tw = w + l + j - win_.half_w;
      Lanes inside = Lanes::within(tw, win_.w, kN);
      inside.end = std::min(inside.end, win_.w_mask - j);
      store_lanes<E>(v[l], to[l] + tw, inside);
    }
  }

  /// Columns of the pixels from w on, the first pixel's from tw on, to `planes`.
  HWY_INLINE void turn_tile_back(const Rows<const E>& from, std::int64_t tw, std::int64_t w, Lanes lanes, Range planes,
                                 const Rows<E>& to) const {
    Vector v[kN];
    MLUOPS_UNROLL
    for (std::int64_t l = 0; l < kN; ++l) {
      v[l] =
          l < lanes.end ? load_lanes<E>(from[l] + tw + l, Lanes::within(tw + l, win_.w, kN)) : hn::Zero(LaneTag<E>());
    }
    transpose_lanes<E>(v);
    for (std::int64_t p = planes.begin; p < planes.end; ++p) store_lanes<E>(v[p - planes.begin], to[p] + w, lanes);
  }

  const Window win_;
};

}  // namespace mluops::cpu::psamask::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
