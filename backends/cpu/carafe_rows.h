// The input rows under a window, as sums: the tensor itself for float and double, else a ring of widened rows. And the
// masks of the window, likewise.
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

/// Elements to be widened, and asked for: those `ahead` elements behind.
template <class T>
struct Widening {
  const T* from = nullptr;  ///< nullptr: nothing to do
  Acc<T>* to = nullptr;
  std::int64_t ahead = 0;

  template <class D>
  HWY_INLINE void operator()(D d, std::int64_t i) const {
    hwy::Prefetch(from + ahead + i);
    hn::StoreU(load(d, from + i), d, to + i);
  }
  void run(std::int64_t begin, std::int64_t end) const {
    for_lanes<Acc<T>>(end - begin, [&](auto d, std::int64_t i) HWY_ATTR { (*this)(d, begin + i); });
  }
};

/// Lets a block walk down its rows: advance(i) comes before row i is worked on, reach(j) before the window at column j.
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
    last_ = std::max<std::int64_t>(0, block.rows.begin - r);
    widened_ = columns_.begin;
  }

  void advance(std::int64_t row) {
    const carafe::Range kh = carafe::taps_into(s_, row, {0, s_.h});
    const std::int64_t first = row - carafe::radius(s_);
    for (; last_ < first + kh.end - 1; ++last_, widened_ = columns_.begin) widen(columns_.end);
    for (std::int64_t k = kh.begin; k < kh.end; ++k) rows_[k] = row_start(first + k);
  }

  /// Makes the window at `column` of that row ready, and those before it. A pixel at a time, between two windows'
  /// arithmetic, memory is not waited for; a whole row at a time it is.
  void reach(std::int64_t column) { widen(std::min(columns_.end, column + carafe::radius(s_) + 1)); }

  /// The pixel that the window after the one reached adds, for whoever widens it meanwhile: all its channels, or the
  /// next reach() comes too late.
  Widening<T> next() {
    if (kAddsInPlace<T> || widened_ >= columns_.end) return {};
    const Widening<T> pixel{from(), to(), kAhead * s_.c};
    ++widened_;
    return pixel;
  }

  /// rows()[kh] + offset(column) + kw * c is the pixel under tap (kh, kw) of the window at `column`.
  const A* const* rows() const { return rows_; }
  std::int64_t offset(std::int64_t column) const { return (column - carafe::radius(s_) - columns_.begin) * s_.c; }

 private:
  static constexpr std::int64_t kAhead = 4;  // columns asked for before they are needed

  const A* row_start(std::int64_t row) const {
    if constexpr (kAddsInPlace<T>) {
      return input_ + (n_ * s_.h + row) * s_.w * s_.c;
    } else {
      return ring_ + row % s_.kernel * ring_row_;
    }
  }

  /// Row last_ up to column `end`.
  void widen(std::int64_t end) {
    if constexpr (!kAddsInPlace<T>) {
      if (widened_ >= end) return;
      Widening<T>{from(), to(), kAhead * s_.c}.run(0, (end - widened_) * s_.c);
      widened_ = end;
    }
  }
  const T* from() const { return input_ + ((n_ * s_.h + last_) * s_.w + widened_) * s_.c; }
  A* to() const { return ring_ + last_ % s_.kernel * ring_row_ + (widened_ - columns_.begin) * s_.c; }

  const carafe::Shape& s_;
  const T* input_;
  const A** rows_;
  std::int64_t ring_row_;
  A* ring_;
  std::int64_t n_ = 0, last_ = 0, widened_ = 0;  // rows before last_ are widened, and row last_ up to here
  carafe::Range columns_{};
};

/// As load_row; the last vector begins early, where there is one, so that it is a whole one too.
template <class T>
HWY_INLINE void widen_row(const T* HWY_RESTRICT row, Acc<T>* HWY_RESTRICT out, std::int64_t n) {
  const FullTag<T> d;
  const auto step = static_cast<std::int64_t>(hn::Lanes(d));
  if (n < step) return load_row(row, out, n);
  for (std::int64_t i = 0; i < n; i += step) {
    const std::int64_t at = std::min(i, n - step);
    hn::StoreU(load(d, row + at), d, out + at);
  }
}

/// Masks of the s*s output pixels of one window, as sums: where they are for float and double, else widened, and the
/// next window's too: what has just been stored is slow to load.
template <class T>
class WindowMasks {
 public:
  using A = Acc<T>;

  WindowMasks(const carafe::Shape& s, const T* mask, Carver& carver)
      : s_(s), mask_(mask), offsets_(s, s.wo, 1, carver), pitch_(round_up(carafe::mask_row(s), 64 / sizeof(A))) {
    if constexpr (!kAddsInPlace<T>) {
      for (A*& widened : widened_) widened = carver.take<A>(carafe::subs(s) * pitch_);
    }
  }

  /// Before the first window of a row; step() goes to it.
  void begin_row(std::int64_t n, std::int64_t row, carafe::Range columns) {
    next_ = mask_ + carafe::first_sub(s_, n, row, columns.begin) * carafe::mask_row(s_);
    left_ = columns.size();
    widen_next();
  }
  void step() {
    first_ = next_;
    next_ += s_.scale * carafe::mask_row(s_);
    std::swap(widened_[0], widened_[1]);
    if (--left_ > 0) widen_next();
  }

  /// The taps of one sub, [group, K*K].
  const A* of(std::int64_t sub) const {
    if constexpr (kAddsInPlace<T>) {
      return first_ + offsets_[sub] * carafe::mask_row(s_);
    } else {
      return widened_[0] + sub * pitch_;
    }
  }

 private:
  void widen_next() {
    if constexpr (!kAddsInPlace<T>) {
      const std::int64_t size = carafe::mask_row(s_);
      for (std::int64_t sub = 0; sub < carafe::subs(s_); ++sub) {
        widen_row(next_ + offsets_[sub] * size, widened_[1] + sub * pitch_, size);
      }
    }
  }

  const carafe::Shape& s_;
  const T* mask_;
  carafe::SubOffsets offsets_;
  std::int64_t pitch_;  // whole cache lines: what is stored across two pages can not be loaded before it is in cache
  A* widened_[2] = {};  // this window's, the next one's
  const T *first_ = nullptr, *next_ = nullptr;  // of sub 0
  std::int64_t left_ = 0;                       // windows of the row, from this one on
};

/// The taps of one window and group that lie on the map, at least one, seen by S subs. Row is A or const A. Kept to
/// what the innermost loops need: they hold all of it in registers.
template <class Row, class A, int S>
struct Taps {
  Row* const* rows;  ///< under the tap rows
  Row* const* rows_end;
  std::int64_t offset;   ///< of the first tap in each row, group included
  std::int64_t stride;   ///< elements from one tap column to the next
  std::int64_t columns;  ///< taps per row
  std::int64_t skip;     ///< mask values between two rows of taps
  const A* mask[S];      ///< value of the first tap

  /// All but the masks; rows[kh] + offset is the pixel under tap (kh, 0).
  Taps(const carafe::Shape& s, carafe::Range kh, carafe::Range kw, Row* const* all_rows, std::int64_t offset_of_0)
      : rows(all_rows + kh.begin),
        rows_end(all_rows + kh.end),
        offset(offset_of_0 + kw.begin * s.c),
        stride(s.c),
        columns(kw.size()),
        skip(s.kernel - kw.size()) {}
};

/// The same address, but the compiler cannot know: it stays one, in a general register. Else some compilers keep it, or
/// its parts, in vector registers, and it comes back behind the multiply-adds that wait there.
template <class P>
HWY_INLINE P in_register(P p) {
  asm("" : "+r"(p));
  return p;
}

/// What is read of `at` from here on comes out of memory: no register has to keep it.
template <class At>
HWY_INLINE void reload(const At& at) {
  asm volatile("" : : "r"(&at) : "memory");
}

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
