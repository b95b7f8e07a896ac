// grad_mask of CARAFE: dot products over channels of input and grad_output.
#if defined(MLUOPS_CPU_CARAFE_GRAD_MASK_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HWY_TARGET_TOGGLE
#undef MLUOPS_CPU_CARAFE_GRAD_MASK_H_
#else
#define MLUOPS_CPU_CARAFE_GRAD_MASK_H_
#endif

#include "backends/cpu/carafe_rows.h"
#include "backends/cpu/simd.h"

HWY_BEFORE_NAMESPACE();
namespace mluops::cpu::HWY_NAMESPACE {

using carafe::Block, carafe::Range, carafe::Shape, carafe::SubOffsets;

/// Neighbouring taps whose dot products are summed at a time: 4 * 5 sums fit 32 registers, 4 * 2 fit 16.
constexpr int kTapBlock = HWY_TARGET <= HWY_AVX3 ? 5 : 2;

/// What is done on the side while a window is worked on: asking memory for channels of the next window's grad_output,
/// and where that is narrower than its sums, widening them.
template <class T>
struct Ahead {
  const T* from = nullptr;  ///< nullptr: nothing to do
  Acc<T>* to = nullptr;     ///< the widened channels

  /// The window after the next is `step` elements behind the next.
  template <class D>
  HWY_INLINE void operator()(D d, std::int64_t i, std::int64_t step) const {
    if constexpr (kAddsInPlace<T>) {
      static_cast<void>(step);
      hwy::Prefetch(from + i);
    } else {
      hwy::Prefetch(from + i + step);
      hn::StoreU(load(d, from + i), d, to + i);
    }
  }
  void run(std::int64_t begin, std::int64_t end, std::int64_t step) const {
    for_lanes<Acc<T>>(end - begin, [&](auto d, std::int64_t i) HWY_ATTR { (*this)(d, begin + i, step); });
  }
};

/// Dot products of one group: taps of a window, at least one, with the output pixels of S subs.
template <class T, int S>
struct Dots {
  using A = Acc<T>;

  const A* const* rows;  ///< under the tap rows
  const A* const* rows_end;
  std::int64_t offset;    ///< of the first tap in each row, group included
  std::int64_t stride;    ///< elements from one tap column to the next
  std::int64_t kernel;    ///< results of one row of taps
  std::int64_t channels;  ///< of a group
  std::int64_t step;      ///< from one window's grad_output to the next one's, where it comes from
  const A* gradient[S];   ///< channels of each sub
  A* result[S];           ///< of the first tap
  Ahead<T> ahead[S];      ///< meanwhile, one for each of the first rows
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
  for (int s = 0; s < S; ++s) gradient[s] = in_register(at.gradient[s]);
  const std::int64_t end = at.channels / kStep * kStep, stride = at.stride;
  std::int64_t result = 0;
  for (const A* const* row = at.rows; row != at.rows_end; ++row, result += at.kernel) {
    const A* HWY_RESTRICT x = in_register(*row + at.offset);
    Ahead<T> ahead;
    if (row - at.rows < S) ahead = at.ahead[row - at.rows];
    hn::Vec<decltype(d)> sum[S][N];
    MLUOPS_UNROLL
    for (int s = 0; s < S; ++s) {
      MLUOPS_UNROLL
      for (int t = 0; t < N; ++t) sum[s][t] = hn::Zero(d);
    }
    for (std::int64_t i = 0; i < end; i += kStep) {
      if (ahead.from != nullptr) ahead(d, i, at.step);
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
    reload(at);
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
    if (row - at.rows < S && at.ahead[row - at.rows].from != nullptr)
      at.ahead[row - at.rows].run(begin, at.channels, at.step);
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

/// The grad_output rows of one window's subs, as sums, and the next window's, made ready meanwhile.
template <class T>
class WindowGradients {
 public:
  using A = Acc<T>;

  WindowGradients(const Shape& s, const T* grad_output, Carver& carver)
      : s_(s), grad_output_(grad_output), tensor_offsets_(s, s.wo * s.c, s.c, carver) {
    if constexpr (!kAddsInPlace<T>) {
      offsets_ = SubOffsets(s, s.scale * s.c, s.c, carver);
      for (A*& widened : widened_) widened = carver.take<A>(carafe::subs(s) * s.c);
    }
  }

  /// Before the first window of a row; step() goes to it.
  void begin_row(std::int64_t n, std::int64_t row, Range columns) {
    next_ = grad_output_ + carafe::first_sub(s_, n, row, columns.begin) * s_.c;
    left_ = columns.size();
    for (std::int64_t sub = 0; sub < carafe::subs(s_); ++sub) ahead(sub).run(0, s_.c, s_.scale * s_.c);
  }
  /// To the next window, which all channels of all subs have been worked ahead for.
  void step() {
    if constexpr (kAddsInPlace<T>) {
      first_ = next_;
    } else {
      std::swap(widened_[0], widened_[1]);
      first_ = widened_[0];
    }
    if (--left_ > 0) next_ += s_.scale * s_.c;  // else this window again, for want of another
  }
  /// Channels of sub 0; those of another are offsets()[sub] elements behind.
  const A* first() const { return first_; }
  const std::int64_t* offsets() const { return kAddsInPlace<T> ? tensor_offsets_.all() : offsets_.all(); }
  Ahead<T> ahead(std::int64_t sub) const {
    return {next_ + tensor_offsets_[sub], kAddsInPlace<T> ? nullptr : widened_[1] + offsets_[sub]};
  }

 private:
  const Shape& s_;
  const T* grad_output_;
  SubOffsets tensor_offsets_, offsets_;  // in elements
  A* widened_[2] = {};                   // this window's, the next one's
  const A* first_ = nullptr;
  const T* next_ = nullptr;  // sub 0 of the next window
  std::int64_t left_ = 0;    // windows of the row, from this one on
};

/// Sums of the masks of a few windows next to each other, on their way to grad_mask.
template <class T>
class MaskStage {
 public:
  using A = Acc<T>;

  MaskStage(const Shape& s, T* grad_mask, std::int64_t block_columns, Carver& carver)
      : s_(s),
        grad_mask_(grad_mask),
        streams_(carafe::past_caches(s.n * s.ho * s.wo * carafe::mask_row(s) * kSize)),
        window_(s.scale * carafe::mask_row(s)),
        columns_(std::min(block_columns, ceil_div(kBytes, window_ * kSize))),
        offsets_(s, columns_ * window_, carafe::mask_row(s), carver),
        stage_(carver.take<A>(s.scale * columns_ * window_)) {}

  /// Windows of a row in order.
  void move_to(std::int64_t n, std::int64_t row, std::int64_t column) {
    if (staged_ == 0) target_ = grad_mask_ + carafe::first_sub(s_, n, row, column) * carafe::mask_row(s_);
    first_ = stage_ + staged_++ * window_;
  }
  /// Sums of a sub.
  A* of(std::int64_t sub) const { return first_ + offsets_[sub]; }
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
      T* const target = target_ + r * s_.wo * carafe::mask_row(s_);
      if (streams_) {
        stream_row(sums, target, staged_ * window_);
      } else {
        store_row(sums, target, staged_ * window_);
      }
    }
    staged_ = 0;
  }

  const Shape& s_;
  T* grad_mask_;
  bool streams_;          // past the caches
  std::int64_t window_;   // elements of a window in an output row
  std::int64_t columns_;  // windows staged together
  SubOffsets offsets_;
  A* stage_;
  std::int64_t staged_ = 0;  // windows in the stage
  T* target_ = nullptr;      // where the first of them belongs
  A* first_ = nullptr;       // of sub 0
};

/// grad_mask of the blocks of one slot.
template <class T>
class MaskGradient {
 public:
  using A = Acc<T>;

  MaskGradient(const mluopsCarafeBackwardProblem& p, std::int64_t block_columns, Carver& carver)
      : s_(p.shape),
        rows_(s_, static_cast<const T*>(p.input), block_columns, carver),
        gradients_(s_, static_cast<const T*>(p.grad_output), carver),
        stage_(s_, static_cast<T*>(p.grad_mask), block_columns, carver) {}

  void begin(const Block& block) { rows_.begin(block); }

  /// Of the output pixels that belong to input row `row` of the block.
  void run_row(const Block& block, std::int64_t row) {
    rows_.advance(row);
    gradients_.begin_row(block.n, row, block.columns);
    const Range kh = carafe::taps_into(s_, row, {0, s_.h});
    for (std::int64_t column = block.columns.begin; column < block.columns.end; ++column) {
      rows_.reach(column);
      gradients_.step();
      stage_.move_to(block.n, row, column);
      const Range kw = carafe::taps_into(s_, column, {0, s_.w});
      if (kh.size() * kw.size() < carafe::taps(s_)) stage_.clear();
      for_subs(carafe::subs(s_), [&](std::int64_t sub, auto count)
                                     HWY_ATTR { groups<decltype(count)::value>(kh, kw, rows_.offset(column), sub); });
      stage_.finish(column + 1 == block.columns.end);
    }
  }

 private:
  /// Tap rows that work ahead. Emulated conversions need the registers.
  static constexpr std::int64_t kRowsAhead = kAddsInPlace<T> || HWY_TARGET <= HWY_AVX2 ? 4 : 0;

  /// S subs from `sub` on; pixels are `offset` behind the start of their row.
  template <int S>
  void groups(Range kh, Range kw, std::int64_t offset, std::int64_t sub) {
    const std::int64_t channels = s_.c / s_.group;
    // Where a window is one tap, asking for all of the next one at once is faster.
    const std::int64_t rows_ahead = s_.kernel == 1 ? 0 : std::min({kRowsAhead, kh.size(), std::int64_t{S}});
    Dots<T, S> at{
        rows_.rows() + kh.begin, rows_.rows() + kh.end, 0, s_.c, s_.kernel, channels, s_.scale * s_.c, {}, {}, {}};
    for (std::int64_t g = 0; g < s_.group; ++g) {
      for (int i = 0; i < S; ++i) {
        Ahead<T> ahead = gradients_.ahead(sub + i);
        ahead.from += g * channels;
        if (ahead.to != nullptr) ahead.to += g * channels;
        if (i < rows_ahead) {
          at.ahead[i] = ahead;
        } else {
          ahead.run(0, channels, at.step);
        }
        at.gradient[i] = gradients_.first() + gradients_.offsets()[sub + i] + g * channels;
        at.result[i] = stage_.of(sub + i) + g * carafe::taps(s_) + kh.begin * s_.kernel + kw.begin;
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

}  // namespace mluops::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
