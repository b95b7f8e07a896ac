// The input rows under a window, as sums: the tensor itself for float and double, a ring of widened rows otherwise.
#if defined(MLUOPS_CPU_CARAFE_ROWS_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HWY_TARGET_TOGGLE
#undef MLUOPS_CPU_CARAFE_ROWS_H_
#else
#define MLUOPS_CPU_CARAFE_ROWS_H_
#endif

#include "backends/cpu/carafe.h"
#include "backends/cpu/scatter.h"
#include "backends/cpu/scratch.h"
#include "backends/cpu/simd.h"

HWY_BEFORE_NAMESPACE();
namespace mluops::cpu::HWY_NAMESPACE {

/// Lets a block walk down its rows. Before row i is worked on, advance(i) makes rows i - radius .. i + radius ready.
template <class T>
class WindowRows {
 public:
  using A = Acc<T>;

  /// Takes what a block of `columns` columns needs out of the slot's scratch.
  WindowRows(const carafe::Shape& s, const T* input, std::int64_t columns, Carver& carver)
      : s_(s),
        input_(input),
        rows_(carver.take<const A*>(s.kernel)),
        ring_row_((columns + 2 * carafe::radius(s)) * s.c),
        ring_(kAddsInPlace<T> ? nullptr : carver.take<A>(s.kernel * ring_row_)) {}

  void begin(const carafe::Block& block) {
    n_ = block.n;
    const std::int64_t r = carafe::radius(s_);
    columns_ = kAddsInPlace<T> ? carafe::Range{0, s_.w}
                               : carafe::Range{std::max<std::int64_t>(0, block.columns.begin - r),
                                               std::min(s_.w, block.columns.end + r)};
    ready_ = std::max<std::int64_t>(0, block.rows.begin - r);
  }

  void advance(std::int64_t row) {
    const carafe::Range kh = carafe::taps_into(s_, row, {0, s_.h});
    const std::int64_t first = row - carafe::radius(s_);
    for (; ready_ < first + kh.end; ++ready_) widen(ready_);
    for (std::int64_t k = kh.begin; k < kh.end; ++k) rows_[k] = row_start(first + k);
  }

  /// rows()[kh] + offset(column) + kw * c is the pixel under tap (kh, kw) of the window at `column`.
  const A* const* rows() const { return rows_; }
  std::int64_t offset(std::int64_t column) const { return (column - carafe::radius(s_) - columns_.begin) * s_.c; }

 private:
  const A* row_start(std::int64_t row) const {
    if constexpr (kAddsInPlace<T>) {
      return input_ + (n_ * s_.h + row) * s_.w * s_.c;
    } else {
      return ring_ + row % s_.kernel * ring_row_;
    }
  }

  void widen(std::int64_t row) {
    if constexpr (!kAddsInPlace<T>) {
      load_row(input_ + ((n_ * s_.h + row) * s_.w + columns_.begin) * s_.c, ring_ + row % s_.kernel * ring_row_,
               columns_.size() * s_.c);
    }
  }

  const carafe::Shape& s_;
  const T* input_;
  const A** rows_;
  std::int64_t ring_row_;
  A* ring_;
  std::int64_t n_ = 0, ready_ = 0;
  carafe::Range columns_{};
};

/// Masks of the s*s output pixels of one window, as sums: where they are for float and double, else widened.
template <class T>
class WindowMasks {
 public:
  using A = Acc<T>;

  WindowMasks(const carafe::Shape& s, const T* mask, Carver& carver)
      : s_(s),
        mask_(mask),
        widened_(kAddsInPlace<T> ? nullptr : carver.take<A>(carafe::subs(s) * carafe::mask_row(s))) {}

  void move_to(std::int64_t n, std::int64_t row, std::int64_t column) {
    n_ = n, row_ = row, column_ = column;
    if constexpr (!kAddsInPlace<T>) {
      const std::int64_t size = carafe::mask_row(s_);
      for (std::int64_t sub = 0; sub < carafe::subs(s_); ++sub) {
        load_row(mask_ + carafe::out_pixel(s_, n, row, column, sub) * size, widened_ + sub * size, size);
      }
    }
  }

  /// The taps of one sub, [group, K*K].
  const A* of(std::int64_t sub) const {
    if constexpr (kAddsInPlace<T>) {
      return mask_ + carafe::out_pixel(s_, n_, row_, column_, sub) * carafe::mask_row(s_);
    } else {
      return widened_ + sub * carafe::mask_row(s_);
    }
  }

 private:
  const carafe::Shape& s_;
  const T* mask_;
  A* widened_;
  std::int64_t n_ = 0, row_ = 0, column_ = 0;
};

/// f(first sub, integral constant number of subs) for runs of 4, 2 and 1 that cover all subs.
template <class F>
HWY_INLINE void for_subs(std::int64_t subs, F&& f) {
  std::int64_t sub = 0;
  for (; sub + 4 <= subs; sub += 4) f(sub, std::integral_constant<int, 4>{});
  if (subs - sub >= 2) {
    f(sub, std::integral_constant<int, 2>{});
    sub += 2;
  }
  if (subs - sub == 1) f(sub, std::integral_constant<int, 1>{});
}

/// Vectors of channels held in registers for each of up to four subs: AVX-512 has 32 registers, the others 16.
constexpr int kTileVectors = HWY_TARGET <= HWY_AVX3 ? 4 : 2;

}  // namespace mluops::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
