// The sums of a line of pixels, two for each: what the line has and what the next one has already (border_align
// backward).
#if defined(MLUOPS_CPU_BORDER_ALIGN_LINE_SUMS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HWY_TARGET_TOGGLE
#undef MLUOPS_CPU_BORDER_ALIGN_LINE_SUMS_INL_H_
#else
#define MLUOPS_CPU_BORDER_ALIGN_LINE_SUMS_INL_H_
#endif

#include "backends/cpu/kernels/border_align/lines.h"
#include "backends/cpu/simd/simd-inl.h"
#include "backends/cpu/simd/transpose-inl.h"

HWY_BEFORE_NAMESPACE();
namespace mluops::cpu::border_align::HWY_NAMESPACE {
using namespace cpu::HWY_NAMESPACE;

/// The first of each pair for kLanes pixels, which the second one replaces.
template <class A>
HWY_INLINE hn::Vec<hn::ScalableTag<A>> take_first(A* pairs) {
  const hn::ScalableTag<A> d;
#if HWY_TARGET == HWY_SCALAR
  const auto first = hn::Load(d, pairs);
  pairs[0] = std::exchange(pairs[1], A{0});
  return first;
#else
  const auto lower = hn::LoadU(d, pairs), upper = hn::LoadU(d, pairs + kLanes<A>);
  const auto second = [&](hn::Vec<hn::ScalableTag<A>> v) HWY_ATTR {
    if constexpr (sizeof(A) == 8) {
      return hn::InterleaveUpper(d, v, hn::Zero(d));
    } else {
      const hn::RepartitionToWide<hn::RebindToUnsigned<decltype(d)>> pair;
      return hn::BitCast(d, hn::ShiftRight<32>(hn::BitCast(pair, v)));
    }
  };
  hn::StoreU(second(lower), d, pairs);
  hn::StoreU(second(upper), d, pairs + kLanes<A>);
  return hn::ConcatEven(d, upper, lower);
#endif
}

/// Writes lines that are complete. Sums: [channels, ChannelChunks::pitch].
template <class T>
class LineSums {
  using A = Acc<T>;
  static constexpr std::int64_t kCacheLine = 64 / sizeof(T);

 public:
  LineSums(A* sums, bool non_temporal) : sums_(sums), non_temporal_(non_temporal) {}

  /// Writes n channels from c on of a line that is complete, unless out is nullptr, and goes on to the next one.
  void take_line(const BorderAxes& axes, std::int64_t first, std::int64_t n, T* out) {
    constexpr std::int64_t lanes = kLanes<A>;
    const std::int64_t tiled = n / lanes * lanes, pitch = ChannelChunks<A>::pitch(axes.length);
    A* const sums = sums_ + first * pitch;
    if (out != nullptr) out += first;
    for (std::int64_t i = 0; i < axes.length; i += lanes) {
      const std::int64_t pixels = std::min(lanes, axes.length - i);
      T* const to = out == nullptr ? nullptr : out + i * axes.pixel_pitch;
      A* const pairs = sums + i * 2;
      std::int64_t c = 0;
      if (out != nullptr && non_temporal_) {
        for (; c < tiled; c += kCacheLine) take_cache_lines(pairs + c * pitch, pitch, pixels, axes.pixel_pitch, to + c);
      }
      for (; c < tiled; c += lanes) {
        take_tile(pairs + c * pitch, pitch, pixels, axes.pixel_pitch, to == nullptr ? nullptr : to + c);
      }
    }
    for (std::int64_t c = tiled; c < n; ++c) {
      for (std::int64_t i = 0; i < axes.length; ++i) {
        A* const pair = sums + c * pitch + i * 2;
        if (out != nullptr) out[i * axes.pixel_pitch + c] = from_acc<T>(pair[0]);
        pair[0] = std::exchange(pair[1], A{0});
      }
    }
  }

  /// Zeros for a line that nothing is added to.
  void write_zeros(const BorderAxes& axes, std::int64_t channels, T* out) const {
    const std::int64_t bytes = channels * static_cast<std::int64_t>(sizeof(T));
    for (std::int64_t i = 0; i < axes.length; ++i, out += axes.pixel_pitch) zero_bytes(non_temporal_, out, bytes);
  }

 private:
  /// kLanes channels of as many pixels, or fewer that are written.
  template <bool kNonTemporal = false>
  HWY_INLINE void take_tile(A* pairs, std::int64_t pitch, std::int64_t pixels, std::int64_t pixel_pitch, T* out) {
    const hn::ScalableTag<A> d;
    hn::Vec<decltype(d)> v[kLanes<A>];
    MLUOPS_UNROLL
    for (int c = 0; c < kLanes<A>; ++c) v[c] = take_first(pairs + c * pitch);
    if (out == nullptr) return;
    transpose_square<A>(v);
    MLUOPS_UNROLL
    for (int i = 0; i < kLanes<A>; ++i) {
      if (i >= pixels) break;
      store<kNonTemporal>(v[i], d, out + i * pixel_pitch);
    }
  }

  /// Channels that fill a cache line, of kLanes pixels or fewer that are written, with non-temporal stores.
  HWY_INLINE void take_cache_lines(A* pairs, std::int64_t pitch, std::int64_t pixels, std::int64_t pixel_pitch,
                                   T* out) {
    if constexpr (std::is_same_v<T, A> && kLanes<A> == kCacheLine) {
      return take_tile<true>(pairs, pitch, pixels, pixel_pitch, out);
    }
    alignas(64) T lines[kLanes<A> * kCacheLine];
    for (std::int64_t c = 0; c < kCacheLine; c += kLanes<A>) {
      take_tile(pairs + c * pitch, pitch, kLanes<A>, kCacheLine, lines + c);
    }
    for (std::int64_t i = 0; i < pixels; ++i)
      copy_lines_non_temporal<64>(lines + i * kCacheLine, out + i * pixel_pitch);
  }

  A* const sums_;
  const bool non_temporal_;
};

}  // namespace mluops::cpu::border_align::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
