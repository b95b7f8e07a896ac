// grad_mask of CARAFE: dot products over channels of input and grad_output.
#if defined(MLUOPS_CPU_CARAFE_GRAD_MASK_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HWY_TARGET_TOGGLE
#undef MLUOPS_CPU_CARAFE_GRAD_MASK_INL_H_
#else
#define MLUOPS_CPU_CARAFE_GRAD_MASK_INL_H_
#endif

#include "backends/cpu/kernels/carafe/rows-inl.h"
#include "backends/cpu/simd/simd-inl.h"
#include "mluops/problem/carafe.h"

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
    hn::Vec<decltype(d)> sum[S][N];
    MLUOPS_UNROLL
    for (int s = 0; s < S; ++s) {
      MLUOPS_UNROLL
      for (int t = 0; t < N; ++t) sum[s][t] = hn::Zero(d);
    }
    for (std::int64_t i = 0; i < end; i += kStep) {
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

/// Sums of `count` neighbouring pixels, [pixel, channel], to where they belong in a tensor.
template <class T, class A = Acc<T>>
HWY_NOINLINE void write_pixels(bool non_temporal, const A* sums, std::int64_t count, const Map& map, T* to) {
  if (!map.planes) return store_row(non_temporal, sums, to, count * map.channels);
  constexpr std::int64_t kChannels = layout::kBlockChannels<A>, kPixels = layout::HWY_NAMESPACE::kPixelsTogether;
  const std::int64_t plane = map.pixels;
  for (std::int64_t c = 0; c < map.channels; c += kChannels, to += kChannels * plane) {
    for (std::int64_t i = 0; i < count; i += kPixels) {
      layout::HWY_NAMESPACE::put_together(sums + i * map.channels + c, std::min(kPixels, count - i),
                                          std::min(kChannels, map.channels - c), to + i, plane,
                                          non_temporal && long_run<T>(count), map.channels);
    }
  }
}

/// grad_mask of the blocks of one thread. A row of a block waits as sums: where what is written begins or ends inside a
/// cache line, that costs a read.
template <class T>
class MaskGradient {
 public:
  using A = Acc<T>;

  MaskGradient(const mluopsCarafeBackwardProblem& p, std::int64_t block_columns, Allocator& allocator)
      : s_(p.shape),
        map_(output_map(s_, mask_row(s_), p.layout)),
        grad_mask_(static_cast<T*>(p.grad_mask)),
        non_temporal_(leaves_caches(s_.n * s_.ho * s_.wo * mask_row(s_) * kSize)),
        rows_(s_, p.layout, static_cast<const T*>(p.input), block_columns, allocator),
        window_(s_.scale * mask_row(s_)),
        pitch_(block_columns * window_),
        offsets_(s_, pitch_, mask_row(s_), allocator),
        stage_(allocator.allocate<A>(s_.scale, pitch_)) {}

  void begin(const Block& block) { rows_.begin(block); }

  /// Gradients of the output pixels over row `row` of the block.
  void run_row(const Block& block, std::int64_t row, const PhaseRows<T>& gradients) {
    rows_.advance(row);
    const Range kh = taps_into(s_, row, {0, s_.h});
    A* results = stage_;
    for (std::int64_t column = block.columns.begin; column < block.columns.end; ++column, results += window_) {
      rows_.step();
      const Range kw = taps_into(s_, column, {0, s_.w});
      if (kh.size() * kw.size() < taps(s_)) clear(results);
      for_phases(phases(s_), [&](std::int64_t phase, auto count) HWY_ATTR {
        groups<decltype(count)::value>(kh, kw, column, phase, gradients, results);
      });
    }
    for (std::int64_t r = 0; r < s_.scale; ++r) {
      write_pixels(non_temporal_, stage_ + r * pitch_, block.columns.size() * s_.scale, map_,
                   grad_mask_ + map_.at(block.n, row * s_.scale + r, block.columns.begin * s_.scale));
    }
  }

 private:
  static constexpr std::int64_t kSize = sizeof(T);

  void clear(A* results) const {
    for (std::int64_t r = 0; r < s_.scale; ++r) std::fill_n(results + r * pitch_, window_, A{0});
  }

  /// S phases from `phase` on; the results of phase 0 go to `results`.
  template <int S>
  void groups(Range kh, Range kw, std::int64_t column, std::int64_t phase, const PhaseRows<T>& gradients, A* results) {
    const std::int64_t channels = s_.c / s_.group;
    Dots<T, S> at{rows_.rows() + kh.begin, rows_.rows() + kh.end, 0, s_.c, s_.kernel, channels, {}, {}};
    for (std::int64_t g = 0; g < s_.group; ++g) {
      for (int i = 0; i < S; ++i) {
        at.gradient[i] = gradients.of(column, phase + i) + g * channels;
        at.result[i] = results + offsets_[phase + i] + g * taps(s_) + kh.begin * s_.kernel + kw.begin;
      }
      at.offset = rows_.offset(column) + kw.begin * s_.c + g * channels;
      tap_columns(at, kw.size());
    }
  }

  template <int S>
  HWY_INLINE void tap_columns(Dots<T, S>& at, std::int64_t left) {
    for (; left > 0; left -= kTapBlock) {
      some_dots(left, at);
      if (at.channels % kLanes<A> != 0) add_last_dots(at, std::min<std::int64_t>(left, kTapBlock));
      at.offset += kTapBlock * at.stride;
      for (int i = 0; i < S; ++i) at.result[i] += kTapBlock;
    }
  }

  const Shape& s_;
  Map map_;
  T* grad_mask_;
  bool non_temporal_;  // grad_mask is
  WindowRows<T> rows_;
  std::int64_t window_, pitch_;  // results of a window in a row of output pixels, and of such a row
  PhaseOffsets offsets_;
  A* stage_;
};

}  // namespace mluops::cpu::carafe::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
