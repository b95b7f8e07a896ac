// grad_mask of CARAFE: dot products over channels of input and grad_output.
#if defined(MLUOPS_CPU_CARAFE_GRAD_MASK_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HWY_TARGET_TOGGLE
#undef MLUOPS_CPU_CARAFE_GRAD_MASK_INL_H_
#else
#define MLUOPS_CPU_CARAFE_GRAD_MASK_INL_H_
#endif

#include "backends/cpu/kernels/carafe/rows-inl.h"
#include "backends/cpu/simd/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace mluops::cpu::carafe::HWY_NAMESPACE {
using namespace cpu::HWY_NAMESPACE;

/// Neighbouring taps whose dot products are summed at a time: 4 * 5 sums fit 32 registers, 4 * 2 fit 16.
constexpr int kTapBlock = HWY_TARGET <= HWY_AVX3 ? 5 : 2;

/// Dot products of one group: taps of a window, at least one, with the output pixels of S phases.
template <class T, int S>
struct Dots {
  using A = Acc<T>;

  const A* const* rows;  ///< under the tap rows
  const A* const* rows_end;
  std::int64_t offset;    ///< of the first tap in each row, group included
  std::int64_t stride;    ///< elements from one tap column to the next
  std::int64_t kernel;    ///< results of one row of taps
  std::int64_t channels;  ///< of a group
  const A* gradient[S];   ///< channels of each phase
  A* result[S];           ///< of the first tap
  Promotion<T> ahead[S];  ///< of the next window, one for each of the first rows
};

/// sums[s][t] = sum of the lanes of sum[s][t].
template <int S, int N, class D, class A = hn::TFromD<D>>
HWY_INLINE void store_dots(D d, const hn::Vec<D> (&sum)[S][N], A* const (&sums)[S], std::int64_t at) {
  if constexpr (N >= 4) {
    MLUOPS_UNROLL
    for (int s = 0; s < S; ++s) sum_4_vectors(d, sum[s][0], sum[s][1], sum[s][2], sum[s][3], sums[s] + at);
  }
  MLUOPS_UNROLL
  for (int t = N / 4 * 4; t < N; ++t) {
    if constexpr (S == 4) {
      A four[4];
      sum_4_vectors(d, sum[0][t], sum[1][t], sum[2][t], sum[3][t], four);
      MLUOPS_UNROLL
      for (int s = 0; s < 4; ++s) sums[s][at + t] = four[s];
    } else {
      MLUOPS_UNROLL
      for (int s = 0; s < S; ++s) sums[s][at + t] = hn::GetLane(hn::SumOfLanes(d, sum[s][t]));
    }
  }
}

/// The dot products of N neighbouring tap columns, as far as whole vectors go. All rows in one call.
template <int S, int N, class T, class A = Acc<T>>
HWY_NOINLINE void dots(const Dots<T, S>& at) {
  const hn::ScalableTag<A> d;
  constexpr std::int64_t kStep = kLanes<A>;
  const A* gradient[S];
  MLUOPS_UNROLL
  for (int s = 0; s < S; ++s) gradient[s] = value_barrier(at.gradient[s]);
  const std::int64_t end = at.channels / kStep * kStep, stride = at.stride;
  std::int64_t result = 0;
  for (const A* const* row = at.rows; row != at.rows_end; ++row, result += at.kernel) {
    const A* HWY_RESTRICT x = value_barrier(*row + at.offset);
    Promotion<T> ahead;
    if (row - at.rows < S) ahead = at.ahead[row - at.rows];
    hn::Vec<decltype(d)> sum[S][N];
    MLUOPS_UNROLL
    for (int s = 0; s < S; ++s) {
      MLUOPS_UNROLL
      for (int t = 0; t < N; ++t) sum[s][t] = hn::Zero(d);
    }
    for (std::int64_t i = 0; i < end; i += kStep) {
      if (ahead.from != nullptr) ahead(d, i);
      hn::Vec<decltype(d)> in[S];
      MLUOPS_UNROLL
      for (int s = 0; s < S; ++s) in[s] = hn::LoadU(d, gradient[s] + i);
      MLUOPS_UNROLL
      for (int t = 0; t < N; ++t) {
        const auto tap = hn::LoadU(d, x + t * stride + i);
        MLUOPS_UNROLL
        for (int s = 0; s < S; ++s) sum[s][t] = hn::MulAdd(tap, in[s], sum[s][t]);
      }
    }
    store_dots(d, sum, at.result, result);
    reload_barrier(at);
  }
}

/// What dots leaves: the last channels, fewer than a vector.
template <class T, int S>
HWY_NOINLINE void add_last_dots(const Dots<T, S>& at, std::int64_t taps) {
  const std::int64_t begin = at.channels / kLanes<Acc<T>> * kLanes<Acc<T>>, count = at.channels - begin;
  std::int64_t result = 0;
  for (auto row = at.rows; row != at.rows_end; ++row, result += at.kernel) {
    for (int s = 0; s < S; ++s) {
      for (std::int64_t t = 0; t < taps; ++t) {
        at.result[s][result + t] += dot(*row + at.offset + t * at.stride + begin, at.gradient[s] + begin, count);
      }
    }
    if (row - at.rows < S && at.ahead[row - at.rows].from != nullptr) at.ahead[row - at.rows].run(begin, at.channels);
  }
}

/// dots for `count` tap columns, at most kTapBlock.
template <int N = kTapBlock, class T, int S>
HWY_INLINE void some_dots(std::int64_t count, const Dots<T, S>& at) {
  if constexpr (N > 1) {
    if (count < N) return some_dots<N - 1>(count, at);
  }
  dots<S, N>(at);
}

/// The grad_output rows of one window's phases, as sums, and the next window's, made ready meanwhile.
template <class T>
class WindowGradients {
 public:
  using A = Acc<T>;

  WindowGradients(const Shape& s, const T* grad_output, Allocator& allocator)
      : s_(s), grad_output_(grad_output), tensor_offsets_(s, s.wo * s.c, s.c, allocator) {
    if constexpr (!kAddsInPlace<T>) {
      offsets_ = PhaseOffsets(s, s.scale * s.c, s.c, allocator);
      for (A*& promoted : promoted_) promoted = allocator.allocate<A>(phases(s), s.c);
    }
  }

  /// Before the first window of a row; step() goes to it.
  void begin_row(std::int64_t n, std::int64_t row, Range columns) {
    next_ = grad_output_ + first_phase(s_, n, row, columns.begin) * s_.c;
    left_ = columns.size();
    for (std::int64_t phase = 0; phase < phases(s_); ++phase) ahead(phase).run(0, s_.c);
  }
  /// To the next window, which all channels of all phases have been worked ahead for.
  void step() {
    if constexpr (kAddsInPlace<T>) {
      first_ = next_;
    } else {
      std::swap(promoted_[0], promoted_[1]);
      first_ = promoted_[0];
    }
    if (--left_ > 0) next_ += s_.scale * s_.c;  // else this window again, for want of another
  }
  /// Channels of phase 0; those of another are offsets()[phase] elements behind.
  const A* first() const { return first_; }
  const std::int64_t* offsets() const { return kAddsInPlace<T> ? tensor_offsets_.all() : offsets_.all(); }
  /// The promotion of the next window; the one behind it is prefetched where this one is promoted.
  Promotion<T> ahead(std::int64_t phase) const {
    const T* const from = next_ + tensor_offsets_[phase];
    if constexpr (kAddsInPlace<T>) {
      return {from, nullptr, 0};
    } else {
      return {from, promoted_[1] + offsets_[phase], s_.scale * s_.c};
    }
  }

 private:
  const Shape& s_;
  const T* grad_output_;
  PhaseOffsets tensor_offsets_, offsets_;  // in elements
  A* promoted_[2] = {};                    // this window's, the next one's
  const A* first_ = nullptr;
  const T* next_ = nullptr;  // phase 0 of the next window
  std::int64_t left_ = 0;    // windows of the row, from this one on
};

/// Sums of the masks of a few windows next to each other, on their way to grad_mask.
template <class T>
class MaskStage {
 public:
  using A = Acc<T>;

  MaskStage(const Shape& s, T* grad_mask, std::int64_t block_columns, Allocator& allocator)
      : s_(s),
        grad_mask_(grad_mask),
        non_temporal_(leaves_caches(s.n * s.ho * s.wo * mask_row(s) * kSize)),
        window_(s.scale * mask_row(s)),
        columns_(std::min(block_columns, ceil_div(kBytes, window_ * kSize))),
        offsets_(s, columns_ * window_, mask_row(s), allocator),
        stage_(allocator.allocate<A>(s.scale, columns_, window_)) {}

  /// Windows of a row in order.
  void move_to(std::int64_t n, std::int64_t row, std::int64_t column) {
    if (staged_ == 0) target_ = grad_mask_ + first_phase(s_, n, row, column) * mask_row(s_);
    first_ = stage_ + staged_++ * window_;
  }
  /// Sums of a phase.
  A* of(std::int64_t phase) const { return first_ + offsets_[phase]; }
  void clear() const {
    for (std::int64_t r = 0; r < s_.scale; ++r)
      std::memset(first_ + r * columns_ * window_, 0, static_cast<std::size_t>(window_) * sizeof(A));
  }
  /// After a window, which may be the last one of its row.
  void finish(bool last) {
    if (last || staged_ == columns_) write();
  }

 private:
  static constexpr std::int64_t kSize = sizeof(T);
  /// Bytes of a row that are written together: where they begin or end inside a cache line, that costs a read.
  static constexpr std::int64_t kBytes = 4096;

  HWY_NOINLINE void write() {
    for (std::int64_t r = 0; r < s_.scale; ++r) {
      const A* const sums = stage_ + r * columns_ * window_;
      T* const target = target_ + r * s_.wo * mask_row(s_);
      store_row(non_temporal_, sums, target, staged_ * window_);
    }
    staged_ = 0;
  }

  const Shape& s_;
  T* grad_mask_;
  bool non_temporal_;     // grad_mask is
  std::int64_t window_;   // elements of a window in an output row
  std::int64_t columns_;  // windows staged together
  PhaseOffsets offsets_;
  A* stage_;
  std::int64_t staged_ = 0;  // windows in the stage
  T* target_ = nullptr;      // where the first of them belongs
  A* first_ = nullptr;       // of phase 0
};

/// grad_mask of the blocks of one slot.
template <class T>
class MaskGradient {
 public:
  using A = Acc<T>;

  MaskGradient(const mluopsCarafeBackwardProblem& p, std::int64_t block_columns, Allocator& allocator)
      : s_(p.shape),
        rows_(s_, static_cast<const T*>(p.input), block_columns, allocator),
        gradients_(s_, static_cast<const T*>(p.grad_output), allocator),
        stage_(s_, static_cast<T*>(p.grad_mask), block_columns, allocator) {}

  void begin(const Block& block) { rows_.begin(block); }

  /// Gradients of the output pixels that belong to input row `row` of the block.
  void run_row(const Block& block, std::int64_t row) {
    rows_.advance(row);
    gradients_.begin_row(block.n, row, block.columns);
    const Range kh = taps_into(s_, row, {0, s_.h});
    for (std::int64_t column = block.columns.begin; column < block.columns.end; ++column) {
      rows_.reach(column);
      gradients_.step();
      stage_.move_to(block.n, row, column);
      const Range kw = taps_into(s_, column, {0, s_.w});
      if (kh.size() * kw.size() < taps(s_)) stage_.clear();
      for_phases(phases(s_), [&](std::int64_t phase, auto count)
                                 HWY_ATTR { groups<decltype(count)::value>(kh, kw, rows_.offset(column), phase); });
      stage_.finish(column + 1 == block.columns.end);
    }
  }

 private:
  /// Tap rows that work ahead. Emulated conversions need the registers.
  static constexpr std::int64_t kRowsAhead = kAddsInPlace<T> || HWY_TARGET <= HWY_AVX2 ? 4 : 0;

  /// S phases from `phase` on; pixels are `offset` behind the start of their row.
  template <int S>
  void groups(Range kh, Range kw, std::int64_t offset, std::int64_t phase) {
    const std::int64_t channels = s_.c / s_.group;
    // Where a window is one tap, prefetching all of the next one at once is faster.
    const std::int64_t rows_ahead = s_.kernel == 1 ? 0 : std::min({kRowsAhead, kh.size(), std::int64_t{S}});
    Dots<T, S> at{rows_.rows() + kh.begin, rows_.rows() + kh.end, 0, s_.c, s_.kernel, channels, {}, {}, {}};
    for (std::int64_t g = 0; g < s_.group; ++g) {
      for (int i = 0; i < S; ++i) {
        Promotion<T> ahead = gradients_.ahead(phase + i);
        ahead.from += g * channels;
        if (ahead.to != nullptr) ahead.to += g * channels;
        if (i < rows_ahead) {
          at.ahead[i] = ahead;
        } else {
          ahead.run(0, channels);
        }
        at.gradient[i] = gradients_.first() + gradients_.offsets()[phase + i] + g * channels;
        at.result[i] = stage_.of(phase + i) + g * taps(s_) + kh.begin * s_.kernel + kw.begin;
      }
      at.offset = offset + kw.begin * s_.c + g * channels;
      tap_columns(at, kw.size());
    }
  }

  template <int S>
  HWY_INLINE void tap_columns(Dots<T, S>& at, std::int64_t left) {
    for (; left > 0; left -= kTapBlock) {
      some_dots(left, at);
      if (at.channels % kLanes<A> != 0) add_last_dots(at, std::min<std::int64_t>(left, kTapBlock));
      at.offset += kTapBlock * at.stride;
      for (int i = 0; i < S; ++i) at.result[i] += kTapBlock, at.ahead[i] = {};
    }
  }

  const Shape& s_;
  WindowRows<T> rows_;
  WindowGradients<T> gradients_;
  MaskStage<T> stage_;
};

}  // namespace mluops::cpu::carafe::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
