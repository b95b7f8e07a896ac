// The bilinear samples that the taps of deformable convolution read. Include after foreach_target.h, like simd-inl.h.
#include <cstdint>

#include "backends/cpu/kernels/dcn/geometry.h"
#include "backends/cpu/sampling/bilinear.h"
#include "backends/cpu/simd/element.h"
#include "backends/cpu/simd/products-inl.h"
#include "backends/cpu/simd/simd-inl.h"

#if defined(MLUOPS_CPU_DCN_SAMPLES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HWY_TARGET_TOGGLE
#undef MLUOPS_CPU_DCN_SAMPLES_INL_H_
#else
#define MLUOPS_CPU_DCN_SAMPLES_INL_H_
#endif

HWY_BEFORE_NAMESPACE();
namespace mluops::cpu::dcn::HWY_NAMESPACE {
using namespace cpu::HWY_NAMESPACE;

/// Where a tap samples, and its mask. A sample off the map has no pixel on it.
template <class A>
struct Tap {
  PaddedSample<A> at;
  A mask;
};

/// taps [tile.count, end - first] of one deformable group: taps [first, end) of the filter.
template <class T, class Problem>
void find_taps(const Problem& p, const Tile& tile, std::int64_t deform_group, std::int64_t first, std::int64_t end,
               Tap<Acc<T>>* taps) {
  using A = Acc<T>;
  const Shape& s = p.shape;
  const std::int64_t count = count_taps(s);
  const auto *const offsets = static_cast<const T*>(p.offset), *const masks = static_cast<const T*>(p.mask);
  for (std::int64_t i = 0; i < tile.count; ++i) {
    const std::int64_t pixel = tile.first + i;
    const std::int64_t top = pixel / s.out_w * s.stride_h - s.pad_top;
    const std::int64_t left = pixel % s.out_w * s.stride_w - s.pad_left;
    const std::int64_t number = ((tile.image * out_pixels(s) + pixel) * s.deform_groups + deform_group) * count;
    std::int64_t row = first / s.kernel_w, column = first % s.kernel_w;
    for (std::int64_t k = first; k < end; ++k, ++taps) {
      const A y = static_cast<A>(top + row * s.dilation_h) + to_acc(offsets[2 * (number + k)]);
      const A x = static_cast<A>(left + column * s.dilation_w) + to_acc(offsets[2 * (number + k) + 1]);
      if (++column == s.kernel_w) column = 0, ++row;
      taps->mask = masks == nullptr ? A{1} : to_acc(masks[number + k]);
      if (!sample_padded(y, x, s.h, s.w, taps->at)) taps->at = {};
    }
  }
}

/// All taps of the filter.
template <class T, class Problem>
void find_taps(const Problem& p, const Tile& tile, std::int64_t deform_group, Tap<Acc<T>>* taps) {
  find_taps<T>(p, tile, deform_group, 0, count_taps(p.shape), taps);
}

/// A slice of the channels of an image: pixels lie `stride` elements apart; those beyond the map are zeros.
template <class T>
struct ImageSlice {
  const T* first;
  std::int64_t stride;
  const T* zeros;

  HWY_INLINE const T* pixel(const PaddedSample<Acc<T>>& at, std::size_t corner, std::int64_t channel) const {
    return at.on_map[corner] ? first + at.pixel[corner] * stride + channel : zeros;
  }
};

template <class D>
HWY_INLINE void store_sample(hn::Vec<D> v, D d, hn::TFromD<D>* row, std::int64_t i) {
  hn::StoreU(v, d, row + i);
}

#if HWY_TARGET <= HWY_AVX3
/// Blocks of 32 channels of sample_channels: even and odd ones apart, so that no element moves to another lane. Returns
/// how many channels it did.
HWY_INLINE std::int64_t sample_blocks(const Bfloat16* const (&pixels)[4], const Tap<float>& tap, std::int64_t count,
                                      const SplitRow& row) {
  const hn::ScalableTag<float> d;
  const hn::ScalableTag<std::uint32_t> d32;
  const hn::ScalableTag<std::uint16_t> d16;
  const auto upper = hn::Set(d32, 0xffff0000u);
  std::int64_t i = 0;
  for (; i + 32 <= count; i += 32) {
    auto even = hn::Zero(d), odd = hn::Zero(d);
    MLUOPS_UNROLL
    for (std::size_t c = 0; c < 4; ++c) {
      const auto both = hn::BitCast(d32, hn::LoadU(d16, &pixels[c][i].bits));
      const auto weight = hn::Set(d, tap.at.weight[c]);
      even = hn::MulAdd(weight, hn::BitCast(d, hn::ShiftLeft<16>(both)), even);
      odd = hn::MulAdd(weight, hn::BitCast(d, hn::And(both, upper)), odd);
    }
    const auto mask = hn::Set(d, tap.mask);
    store_interleaved(d, hn::Mul(mask, even), hn::Mul(mask, odd), row, i);
  }
  return i;
}
#endif

/// row[c] = what the tap samples of channels [channel, channel + count) of the slice; a row of numbers or a SplitRow.
template <class T, class Row>
HWY_INLINE void sample_channels(const ImageSlice<T>& image, const Tap<Acc<T>>& tap, std::int64_t channel,
                                std::int64_t count, Row row) {
  const T* const p0 = image.pixel(tap.at, 0, channel);
  const T* const p1 = image.pixel(tap.at, 1, channel);
  const T* const p2 = image.pixel(tap.at, 2, channel);
  const T* const p3 = image.pixel(tap.at, 3, channel);
  const auto& w = tap.at.weight;
  std::int64_t done = 0;
#if HWY_TARGET <= HWY_AVX3
  if constexpr (std::is_same_v<Row, SplitRow>) done = sample_blocks({p0, p1, p2, p3}, tap, count, row);
#endif
  for_lanes<Acc<T>>(count - done, [&](auto d, std::int64_t rest) HWY_ATTR {
    const std::int64_t i = done + rest;
    auto sum = hn::Mul(hn::Set(d, w[0]), load(d, p0 + i));
    sum = hn::MulAdd(hn::Set(d, w[1]), load(d, p1 + i), sum);
    sum = hn::MulAdd(hn::Set(d, w[2]), load(d, p2 + i), sum);
    sum = hn::MulAdd(hn::Set(d, w[3]), load(d, p3 + i), sum);
    store_sample(hn::Mul(hn::Set(d, tap.mask), sum), d, row, i);
  });
}

}  // namespace mluops::cpu::dcn::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
