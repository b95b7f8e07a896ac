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

/// What the dot products of a call have in common, in elements.
struct DotShape {
  std::int64_t tap_column;  ///< from one tap column to the next
  std::int64_t sub_result;  ///< from the results of one sub to the next one's
  std::int64_t channels;    ///< of a group
  std::int64_t window;      ///< from one window's grad_output to the next one's
};

/// sums[s * stride + t] = sum of the lanes of sum[s][t].
template <int S, int N, class D, class A = hn::TFromD<D>>
HWY_INLINE void store_dots(D d, const hn::Vec<D> (&sum)[S][N], A* HWY_RESTRICT sums, std::int64_t stride) {
  if constexpr (N >= 4) {
    MLUOPS_UNROLL
    for (int s = 0; s < S; ++s) sum_4_vectors(d, sum[s][0], sum[s][1], sum[s][2], sum[s][3], sums + s * stride);
  }
  MLUOPS_UNROLL
  for (int t = N / 4 * 4; t < N; ++t) {
    if constexpr (S == 4) {
      A four[4];
      sum_4_vectors(d, sum[0][t], sum[1][t], sum[2][t], sum[3][t], four);
      MLUOPS_UNROLL
      for (int s = 0; s < 4; ++s) sums[s * stride + t] = four[s];
    } else {
      MLUOPS_UNROLL
      for (int s = 0; s < S; ++s) sums[s * stride + t] = hn::GetLane(hn::SumOfLanes(d, sum[s][t]));
    }
  }
}

/// result[s * sub_result + t] = x[t * tap_column + i] . (y + sub_y[s])[i], summed over the channels i of a group, the
/// first of which is `begin`, as far as whole vectors go, for S subs and N taps. A function that holds little:
/// addresses kept in vector registers would come back behind the multiply-adds.
template <int S, int N, class T, class A = Acc<T>>
HWY_NOINLINE void dots(const DotShape& shape, const A* HWY_RESTRICT x, const A* HWY_RESTRICT y,
                       const std::int64_t* sub_y, std::int64_t begin, A* HWY_RESTRICT result, const Ahead<T> ahead) {
  const hn::ScalableTag<A> d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  const std::int64_t stride = shape.tap_column, step = shape.window, sub_result = shape.sub_result;
  const A* channels[S];
  MLUOPS_UNROLL
  for (int s = 0; s < S; ++s) channels[s] = in_register(y + sub_y[s]);
  hn::Vec<decltype(d)> sum[S][N];
  MLUOPS_UNROLL
  for (int s = 0; s < S; ++s) {
    MLUOPS_UNROLL
    for (int t = 0; t < N; ++t) sum[s][t] = hn::Zero(d);
  }
  const std::int64_t end = begin + shape.channels / lanes * lanes;
  for (std::int64_t i = begin; i < end; i += lanes) {
    if (ahead.from != nullptr) ahead(d, i, step);
    hn::Vec<decltype(d)> in[S];
    MLUOPS_UNROLL
    for (int s = 0; s < S; ++s) in[s] = hn::LoadU(d, channels[s] + i);
    MLUOPS_UNROLL
    for (int t = 0; t < N; ++t) {
      const auto tap = hn::LoadU(d, x + t * stride + i);
      MLUOPS_UNROLL
      for (int s = 0; s < S; ++s) sum[s][t] = hn::MulAdd(tap, in[s], sum[s][t]);
    }
  }
  store_dots(d, sum, result, sub_result);
}

/// What dots leaves: adds the products of channels [begin, end), fewer than a vector.
template <class T, class A = Acc<T>>
HWY_NOINLINE void add_last_dots(const DotShape& shape, const A* x, const A* y, const std::int64_t* sub_y, int subs,
                                std::int64_t taps, Range channels, A* result) {
  for (int s = 0; s < subs; ++s) {
    for (std::int64_t t = 0; t < taps; ++t) {
      result[s * shape.sub_result + t] +=
          dot(x + t * shape.tap_column + channels.begin, y + sub_y[s] + channels.begin, channels.size());
    }
  }
}

/// dots for `count` taps, at most kTapBlock.
template <class T, int S, int N = kTapBlock, class... Arguments>
HWY_INLINE void some_dots(std::int64_t count, Arguments... arguments) {
  if constexpr (N > 1) {
    if (count < N) return some_dots<T, S, N - 1>(count, arguments...);
  }
  dots<S, N, T>(arguments...);
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

/// grad_mask of the blocks of one slot.
template <class T>
class MaskGradient {
 public:
  using A = Acc<T>;

  MaskGradient(const mluopsCarafeBackwardProblem& p, std::int64_t block_columns, Carver& carver)
      : s_(p.shape),
        dot_shape_{s_.c, carafe::mask_row(s_), s_.c / s_.group, s_.scale * s_.c},
        grad_mask_(static_cast<T*>(p.grad_mask)),
        offsets_(s_, s_.wo * carafe::mask_row(s_), carafe::mask_row(s_), carver),
        rows_(s_, static_cast<const T*>(p.input), block_columns, carver),
        gradients_(s_, static_cast<const T*>(p.grad_output), carver),
        sums_{carver.take<A>(carafe::subs(s_) * carafe::mask_row(s_)),
              carver.take<A>(carafe::subs(s_) * carafe::mask_row(s_))} {}

  void begin(const Block& block) { rows_.begin(block); }

  /// Of the output pixels that belong to input row `row` of the block.
  void run_row(const Block& block, std::int64_t row) {
    rows_.advance(row);
    gradients_.begin_row(block.n, row, block.columns);
    const Range kh = carafe::taps_into(s_, row, {0, s_.h});
    T* target = grad_mask_ + carafe::first_sub(s_, block.n, row, block.columns.begin) * carafe::mask_row(s_);
    for (std::int64_t column = block.columns.begin; column < block.columns.end; ++column) {
      rows_.reach(column);
      gradients_.step();
      std::swap(sums_[0], sums_[1]);
      run_window(kh, carafe::taps_into(s_, column, {0, s_.w}), rows_.offset(column));
      // A window late: sums just stored in pieces cannot be loaded in larger ones before they have reached the cache.
      if (column == block.columns.begin) continue;
      write(sums_[1], target);
      target += s_.scale * carafe::mask_row(s_);
    }
    write(sums_[0], target);
  }

 private:
  /// Tap rows that work ahead. Emulated conversions need the registers.
  static constexpr std::int64_t kRowsAhead = kAddsInPlace<T> || HWY_TARGET <= HWY_AVX2 ? 4 : 0;

  HWY_NOINLINE void run_window(Range kh, Range kw, std::int64_t offset) {
    const std::int64_t size = carafe::subs(s_) * carafe::mask_row(s_);
    if (kh.size() * kw.size() < carafe::taps(s_)) std::memset(sums_[0], 0, static_cast<std::size_t>(size) * sizeof(A));
    for_subs(carafe::subs(s_), [&](std::int64_t sub, auto count) HWY_ATTR {
      for (std::int64_t g = 0; g < s_.group; ++g) group<decltype(count)::value>(kh, kw, offset, sub, g);
    });
  }

  /// S subs from `sub` on; pixels are `offset` behind the start of their row.
  template <int S>
  HWY_NOINLINE void group(Range kh, Range kw, std::int64_t offset, std::int64_t sub, std::int64_t g) {
    const std::int64_t channel = g * dot_shape_.channels, whole = dot_shape_.channels / kLanes<A> * kLanes<A>;
    // Where a window is one tap, asking for all of the next one at once is faster.
    const std::int64_t rows_ahead = s_.kernel == 1 ? 0 : std::min({kRowsAhead, kh.size(), std::int64_t{S}});
    for (std::int64_t i = rows_ahead; i < S; ++i) {
      gradients_.ahead(sub + i).run(channel, channel + dot_shape_.channels, dot_shape_.window);
    }
    A* const sums = sums_[0] + sub * carafe::mask_row(s_) + g * carafe::taps(s_);
    for (std::int64_t k = kh.begin; k < kh.end; ++k) {
      Ahead<T> ahead;
      if (k - kh.begin < rows_ahead) ahead = gradients_.ahead(sub + k - kh.begin);
      const A* const pixels = rows_.rows()[k] + offset;
      for (std::int64_t j = kw.begin; j < kw.end; j += kTapBlock, ahead = {}) {
        some_dots<T, S>(kw.end - j, dot_shape_, pixels + j * s_.c, gradients_.first(), gradients_.offsets() + sub,
                        channel, sums + k * s_.kernel + j, ahead);
      }
      if (whole == dot_shape_.channels) continue;
      const Range last{channel + whole, channel + dot_shape_.channels};
      add_last_dots<T>(dot_shape_, pixels + kw.begin * s_.c, gradients_.first(), gradients_.offsets() + sub, S,
                       kw.size(), last, sums + k * s_.kernel + kw.begin);
      if (k - kh.begin < rows_ahead) gradients_.ahead(sub + k - kh.begin).run(last.begin, last.end, dot_shape_.window);
    }
  }

  HWY_NOINLINE void write(const A* sums, T* target) const {
    const std::int64_t size = carafe::mask_row(s_);
    for (std::int64_t sub = 0; sub < carafe::subs(s_); ++sub)
      store_row(sums + sub * size, target + offsets_[sub], size);
  }

  const Shape& s_;
  DotShape dot_shape_;
  T* grad_mask_;
  SubOffsets offsets_;  // in elements
  WindowRows<T> rows_;
  WindowGradients<T> gradients_;
  A* sums_[2];  // of this window, of the one before
};

}  // namespace mluops::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
