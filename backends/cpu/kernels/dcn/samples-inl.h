// The bilinear samples that the taps of deformable convolution read. Include after foreach_target.h, like simd-inl.h.
#include <cstdint>

#include "backends/cpu/kernels/dcn/geometry.h"
#include "backends/cpu/sampling/bilinear.h"
#include "backends/cpu/simd/element.h"
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

/// taps [tile.count, taps of the filter] of one deformable group.
template <class T, class Problem>
void find_taps(const Problem& p, const Tile& tile, std::int64_t deform_group, Tap<Acc<T>>* taps) {
  using A = Acc<T>;
  const Shape& s = p.shape;
  const std::int64_t count = count_taps(s);
  const auto *const offsets = static_cast<const T*>(p.offset), *const masks = static_cast<const T*>(p.mask);
  for (std::int64_t i = 0; i < tile.count; ++i) {
    const std::int64_t pixel = tile.first + i;
    const std::int64_t top = pixel / s.out_w * s.stride_h - s.pad_top;
    const std::int64_t left = pixel % s.out_w * s.stride_w - s.pad_left;
    const std::int64_t number = ((tile.image * out_pixels(s) + pixel) * s.deform_groups + deform_group) * count;
    for (std::int64_t k = 0; k < count; ++k, ++taps) {
      const A y = static_cast<A>(top + k / s.kernel_w * s.dilation_h) + to_acc(offsets[2 * (number + k)]);
      const A x = static_cast<A>(left + k % s.kernel_w * s.dilation_w) + to_acc(offsets[2 * (number + k) + 1]);
      taps->mask = masks == nullptr ? A{1} : to_acc(masks[number + k]);
      if (!sample_padded(y, x, s.h, s.w, taps->at)) taps->at = {};
    }
  }
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

/// row[c] = what the tap samples of channels [channel, channel + count) of the slice.
template <class T>
HWY_INLINE void sample_channels(const ImageSlice<T>& image, const Tap<Acc<T>>& tap, std::int64_t channel,
                                std::int64_t count, Acc<T>* row) {
  const T* const p0 = image.pixel(tap.at, 0, channel);
  const T* const p1 = image.pixel(tap.at, 1, channel);
  const T* const p2 = image.pixel(tap.at, 2, channel);
  const T* const p3 = image.pixel(tap.at, 3, channel);
  const auto& w = tap.at.weight;
  for_lanes<Acc<T>>(count, [&](auto d, std::int64_t i) HWY_ATTR {
    auto sum = hn::Mul(hn::Set(d, w[0]), load(d, p0 + i));
    sum = hn::MulAdd(hn::Set(d, w[1]), load(d, p1 + i), sum);
    sum = hn::MulAdd(hn::Set(d, w[2]), load(d, p2 + i), sum);
    sum = hn::MulAdd(hn::Set(d, w[3]), load(d, p3 + i), sum);
    hn::StoreU(hn::Mul(hn::Set(d, tap.mask), sum), d, row + i);
  });
}

}  // namespace mluops::cpu::dcn::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
