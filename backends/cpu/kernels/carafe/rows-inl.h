// The input rows under a window, as sums: the tensor itself for float and double, else a ring of promoted rows. And the
// masks of the window, likewise.
#if defined(MLUOPS_CPU_CARAFE_ROWS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HWY_TARGET_TOGGLE
#undef MLUOPS_CPU_CARAFE_ROWS_INL_H_
#else
#define MLUOPS_CPU_CARAFE_ROWS_INL_H_
#endif

#include "backends/cpu/kernels/carafe/geometry.h"
#include "backends/cpu/runtime/arena.h"
#include "backends/cpu/scatter/scatter.h"
#include "backends/cpu/simd/barrier.h"
#include "backends/cpu/simd/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace mluops::cpu::carafe::HWY_NAMESPACE {
using namespace cpu::HWY_NAMESPACE;

/// The promotion stage: elements that become sums while a window is worked on, and the prefetch of those `distance`
/// elements behind. Where elements are sums already, they are only prefetched.
template <class T>
struct Promotion {
  const T* from = nullptr;  ///< nullptr: nothing to do
  Acc<T>* to = nullptr;
  std::int64_t distance = 0;

  template <class D>
  HWY_INLINE void operator()(D d, std::int64_t i) const {
    hwy::Prefetch(from + distance + i);
    if constexpr (!kAddsInPlace<T>) hn::StoreU(load(d, from + i), d, to + i);
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

  /// Takes what a block of `columns` columns needs out of the slot's part of the arena.
  WindowRows(const Shape& s, const T* input, std::int64_t columns, Allocator& allocator)
      : s_(s),
        input_(input),
        rows_(allocator.allocate<const A*>(s.kernel)),
        ring_row_((columns + 2 * radius(s)) * s.c),
        ring_(kAddsInPlace<T> ? nullptr : allocator.allocate<A>(s.kernel, ring_row_)) {}

  void begin(const Block& block) {
    n_ = block.n;
    const std::int64_t r = radius(s_);
    columns_ = kAddsInPlace<T>
                   ? Range{0, s_.w}
                   : Range{std::max<std::int64_t>(0, block.columns.begin - r), std::min(s_.w, block.columns.end + r)};
    last_ = std::max<std::int64_t>(0, block.rows.begin - r);
    promoted_ = columns_.begin;
  }

  void advance(std::int64_t row) {
    const Range kh = taps_into(s_, row, {0, s_.h});
    const std::int64_t first = row - radius(s_);
    for (; last_ < first + kh.end - 1; ++last_, promoted_ = columns_.begin) promote(columns_.end);
    for (std::int64_t k = kh.begin; k < kh.end; ++k) rows_[k] = row_start(first + k);
  }

  /// Makes the window at `column` of that row ready, and those before it. A pixel at a time, between two windows'
  /// arithmetic, memory is not waited for; a whole row at a time it is.
  void reach(std::int64_t column) { promote(std::min(columns_.end, column + radius(s_) + 1)); }

  /// rows()[kh] + offset(column) + kw * c is the pixel under tap (kh, kw) of the window at `column`.
  const A* const* rows() const { return rows_; }
  std::int64_t offset(std::int64_t column) const { return (column - radius(s_) - columns_.begin) * s_.c; }

 private:
  static constexpr std::int64_t kPrefetchColumns = 4;  // columns between one promoted and one prefetched

  const A* row_start(std::int64_t row) const {
    if constexpr (kAddsInPlace<T>) {
      return input_ + (n_ * s_.h + row) * s_.w * s_.c;
    } else {
      return ring_ + row % s_.kernel * ring_row_;
    }
  }

  /// Row last_ up to column `end`.
  void promote(std::int64_t end) {
    if constexpr (!kAddsInPlace<T>) {
      if (promoted_ >= end) return;
      Promotion<T>{from(), to(), kPrefetchColumns * s_.c}.run(0, (end - promoted_) * s_.c);
      promoted_ = end;
    }
  }
  const T* from() const { return input_ + ((n_ * s_.h + last_) * s_.w + promoted_) * s_.c; }
  A* to() const { return ring_ + last_ % s_.kernel * ring_row_ + (promoted_ - columns_.begin) * s_.c; }

  const Shape& s_;
  const T* input_;
  const A** rows_;
  std::int64_t ring_row_;
  A* ring_;
  std::int64_t n_ = 0, last_ = 0, promoted_ = 0;  // rows before last_ are promoted, and row last_ up to here
  Range columns_{};
};

/// Masks of the s*s output pixels of one window, as sums: where they are for float and double, else promoted, and the
/// next window's too: what has just been stored is slow to load.
template <class T>
class WindowMasks {
 public:
  using A = Acc<T>;

  WindowMasks(const Shape& s, const T* mask, Allocator& allocator)
      : s_(s), mask_(mask), offsets_(s, s.wo, 1, allocator), pitch_(round_up(mask_row(s), 64 / sizeof(A))) {
    if constexpr (!kAddsInPlace<T>) {
      for (A*& promoted : promoted_) promoted = allocator.allocate<A>(phases(s), pitch_);
    }
  }

  /// Other masks from the next row on.
  void look_at(const T* mask) { mask_ = mask; }

  /// Before the first window of a row; step() goes to it.
  void begin_row(std::int64_t n, std::int64_t row, Range columns) {
    next_ = mask_ + first_phase(s_, n, row, columns.begin) * mask_row(s_);
    left_ = columns.size();
    promote_next();
  }
  void step() {
    first_ = next_;
    next_ += s_.scale * mask_row(s_);
    std::swap(promoted_[0], promoted_[1]);
    if (--left_ > 0) promote_next();
  }

  /// The taps of one phase, [group, K*K].
  const A* of(std::int64_t phase) const {
    if constexpr (kAddsInPlace<T>) {
      return first_ + offsets_[phase] * mask_row(s_);
    } else {
      return promoted_[0] + phase * pitch_;
    }
  }

 private:
  void promote_next() {
    if constexpr (!kAddsInPlace<T>) {
      const std::int64_t size = mask_row(s_);
      for (std::int64_t phase = 0; phase < phases(s_); ++phase) {
        load_row(next_ + offsets_[phase] * size, promoted_[1] + phase * pitch_, size);
      }
    }
  }

  const Shape& s_;
  const T* mask_;
  PhaseOffsets offsets_;
  std::int64_t pitch_;   // whole cache lines: what is stored across two pages can not be loaded before it is in cache
  A* promoted_[2] = {};  // this window's, the next one's
  const T *first_ = nullptr, *next_ = nullptr;  // of phase 0
  std::int64_t left_ = 0;                       // windows of the row, from this one on
};

/// The taps of one window and group that lie on the map, at least one, seen by S phases. Row is A or const A. Kept to
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
  Taps(const Shape& s, Range kh, Range kw, Row* const* all_rows, std::int64_t offset_of_0)
      : rows(all_rows + kh.begin),
        rows_end(all_rows + kh.end),
        offset(offset_of_0 + kw.begin * s.c),
        stride(s.c),
        columns(kw.size()),
        skip(s.kernel - kw.size()) {}
};

/// f(first phase, integral constant number of phases) for runs of 4, 2 and 1 that cover all phases.
template <class F>
HWY_INLINE void for_phases(std::int64_t phases, F&& f) {
  std::int64_t phase = 0;
  for (; phase + 4 <= phases; phase += 4) f(phase, std::integral_constant<int, 4>{});
  if (phases - phase >= 2) {
    f(phase, std::integral_constant<int, 2>{});
    phase += 2;
  }
  if (phases - phase == 1) f(phase, std::integral_constant<int, 1>{});
}

/// Vectors of channels held in registers for each of up to four phases: AVX-512 has 32 registers, the others 16.
constexpr int kTileVectors = HWY_TARGET <= HWY_AVX3 ? 4 : 2;

}  // namespace mluops::cpu::carafe::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
