// Rows of PSAMask, moved in registers.
//
// Between planes a vector has a pixel in each lane, and lane l moves l planes on: vectors keep their lanes, so
// log2(lanes) selects a vector do it (a skew). Between planes and rows it is a transpose, whose rows are stored or
// loaded one element further each.
#if defined(MLUOPS_CPU_PSAMASK_ROW_MOVES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HWY_TARGET_TOGGLE
#undef MLUOPS_CPU_PSAMASK_ROW_MOVES_INL_H_
#else
#define MLUOPS_CPU_PSAMASK_ROW_MOVES_INL_H_
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

/// Moves what one row of frames has in one row of the map, or the reverse. `from` and `to` are matrices with a row for
/// each plane or each pixel; `to` has some of them. Cells that come from none stay
/// as they are where pixels are rows, and are zeroed where they are planes.
template <class E>
class RowMoves {
 public:
  static constexpr std::int64_t kN = kVectorLanes<E>;
  static constexpr std::int64_t kRowsPerStep = 8;  ///< that a skew reads while some planes are prefetched

  explicit RowMoves(const Axis& columns) : axis_(columns) {}

  /// Planes to planes: plane c, pixel w = plane c + offset(w), pixel w. kDown: the offset falls with w.
  template <bool kDown>
  void planes_to_planes(const Rows<const E>& from, Range cells, const Rows<E>& to, PrefetchPlanes& ahead) const {
    constexpr std::int64_t kBack = kDown ? kN - 1 : 0, kOn = kN - 1 - kBack;
    for_blocks([&](std::int64_t w, Lanes lanes) HWY_ATTR {
      const std::int64_t shift = cells.begin + axis_.offset(w);  // from a plane written to the one lane 0 is of
      const Range moved = clamped({-shift - kOn, axis_.from - shift + kBack}, {0, cells.size()});
      Range read = {moved.begin + shift - kBack, moved.end + shift + kOn};
      if (kDown) read.begin = std::max<std::int64_t>(0, read.begin);
      if (!kDown) read.end = std::min(axis_.from, read.end);
      zero(to, {0, moved.begin}, w, lanes);
      skew<E, kDown>(read, loads(from, w, lanes, ahead), stores(to, moved, shift, w, lanes));
      zero(to, {moved.end, cells.size()}, w, lanes);
    });
  }

  /// Planes to rows: pixel w, cell c = plane c + offset(w), pixel w.
  void planes_to_rows(const Rows<const E>& from, Range pixels, const Rows<E>& to, PrefetchPlanes& ahead) const {
    const std::int64_t lanes = std::min(kN, axis_.pixels);
    for (std::int64_t first = pixels.begin; first < pixels.end; first += kN) {
      const std::int64_t w = std::min(first, axis_.pixels - lanes);
      const Range kept = {first - w, std::min(pixels.end - w, lanes)};  // of its lanes
      const Range cells = axis_.read(w, w + lanes - 1);
      for (std::int64_t c = cells.begin; c < cells.end; c += kN) {
        ahead.step();
        tile_to_rows(from, c, w, {0, lanes}, kept, {to.data + (w - pixels.begin) * to.stride, to.stride});
      }
    }
  }

  /// Rows to planes: plane c, pixel w = pixel w, cell c + offset(w).
  void rows_to_planes(const Rows<const E>& from, Range cells, const Rows<E>& to, PrefetchPlanes& ahead) const {
    for (std::int64_t first = 0; first < cells.size(); first += kN) {
      const Range some = {first, std::min(cells.size(), first + kN)};
      for_blocks([&](std::int64_t w, Lanes lanes) HWY_ATTR {
        const std::int64_t c = cells.begin + first + axis_.offset(w), last = c + axis_.step * (lanes.end - 1);
        ahead.step();
        if (std::min(c, last) >= axis_.from || std::max(c, last) + kN <= 0) return zero(to, some, w, lanes);
        tile_to_planes({from.data + w * from.stride, from.stride}, c, w, lanes, some, to);
      });
    }
  }

 private:
  using Vector = hn::Vec<LaneTag<E>>;

  /// f(w, lanes) for vectors that cover a row of the map; the last one begins early.
  template <class F>
  HWY_INLINE void for_blocks(F&& f) const {
    if (axis_.pixels < kN) return f(0, Lanes{0, axis_.pixels});
    for (std::int64_t w = 0; w < axis_.pixels; w += kN) f(std::min(w, axis_.pixels - kN), Lanes{0, kN});
  }

  /// Plane c from pixel w on, zeros where there is no such plane.
  HWY_INLINE Vector load_plane(const Rows<const E>& from, std::int64_t c, std::int64_t w, Lanes lanes) const {
    return c < 0 || c >= axis_.from ? hn::Zero(LaneTag<E>()) : load_lanes<E>(from[c] + w, lanes);
  }

  /// What a skew reads and writes.
  HWY_INLINE auto loads(const Rows<const E>& from, std::int64_t w, Lanes lanes, PrefetchPlanes& ahead) const {
    return [this, &from, w, lanes, &ahead](std::int64_t c) HWY_ATTR {
      if (c % kRowsPerStep == 0) ahead.step();
      return load_plane(from, c, w, lanes);
    };
  }
  static HWY_INLINE auto stores(const Rows<E>& to, Range moved, std::int64_t shift, std::int64_t w, Lanes lanes) {
    return [&to, moved, shift, w, lanes](std::int64_t c, auto v) HWY_ATTR {
      const std::int64_t p = c - shift;
      if (p >= moved.begin && p < moved.end) store_lanes<E>(v, to[p] + w, lanes);
    };
  }

  static HWY_INLINE void zero(const Rows<E>& to, Range planes, std::int64_t w, Lanes lanes) {
    for (std::int64_t p = planes.begin; p < planes.end; ++p) {
      store_lanes<E>(hn::Zero(LaneTag<E>()), to[p] + w, lanes);
    }
  }

  /// kN planes from c on of some pixels from w on, to rows of these pixels.
  HWY_INLINE void tile_to_rows(const Rows<const E>& from, std::int64_t c, std::int64_t w, Lanes lanes, Range kept,
                               const Rows<E>& to) const {
    Vector v[kN];
    MLUOPS_UNROLL
    for (std::int64_t k = 0; k < kN; ++k) v[k] = load_plane(from, c + k, w, lanes);
    transpose_lanes<E>(v);
    for (std::int64_t l = kept.begin; l < kept.end; ++l) {
      const std::int64_t cell = c - axis_.offset(w + l);
      Lanes inside = Lanes::within(cell, axis_.to, kN);
      inside.end = std::min(inside.end, axis_.from - c);
      store_lanes<E>(v[l], to[l] + cell, inside);
    }
  }

  /// Cells of the pixels from w on, the first pixel's from c on, to `planes`.
  HWY_INLINE void tile_to_planes(const Rows<const E>& from, std::int64_t c, std::int64_t w, Lanes lanes, Range planes,
                                 const Rows<E>& to) const {
    Vector v[kN];
    MLUOPS_UNROLL
    for (std::int64_t l = 0; l < kN; ++l) {
      const std::int64_t cell = c + axis_.step * l;
      v[l] =
          l < lanes.end ? load_lanes<E>(from[l] + cell, Lanes::within(cell, axis_.from, kN)) : hn::Zero(LaneTag<E>());
    }
    transpose_lanes<E>(v);
    for (std::int64_t p = planes.begin; p < planes.end; ++p) store_lanes<E>(v[p - planes.begin], to[p] + w, lanes);
  }

  const Axis axis_;
};

}  // namespace mluops::cpu::psamask::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
