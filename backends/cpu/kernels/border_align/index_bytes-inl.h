// Indices of points as bytes, and how they become int32 planes (border_align forward in NCHW).
#include "backends/cpu/kernels/border_align/points-inl.h"
#include "backends/cpu/simd/simd-inl.h"

#if defined(MLUOPS_CPU_BORDER_ALIGN_INDEX_BYTES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HWY_TARGET_TOGGLE
#undef MLUOPS_CPU_BORDER_ALIGN_INDEX_BYTES_INL_H_
#else
#define MLUOPS_CPU_BORDER_ALIGN_INDEX_BYTES_INL_H_
#endif

HWY_BEFORE_NAMESPACE();
namespace mluops::cpu::border_align::HWY_NAMESPACE {
using namespace cpu::HWY_NAMESPACE;

/// A vector of indices as bytes.
template <class D>
HWY_INLINE void store_bytes(D, hn::Vec<IndexTag<D>> v, std::uint8_t* to) {
#if HWY_TARGET == HWY_SCALAR
  *to = static_cast<std::uint8_t>(hn::GetLane(v));
#else
  const hn::Rebind<std::uint8_t, D> d8;
  const hn::RebindToUnsigned<IndexTag<D>> du;
  hn::StoreU(hn::TruncateTo(d8, hn::BitCast(du, v)), d8, to);
#endif
}

/// Bytes [rows, 16] become [16, rows]: rows i of `to` lie to_stride apart. A whole tile of 16 rows.
HWY_INLINE void transpose_bytes(const std::uint8_t* from, std::int64_t from_stride, std::uint8_t* to,
                                std::int64_t to_stride) {
#if HWY_TARGET == HWY_SCALAR
  for (std::int64_t r = 0; r < 16; ++r) {
    for (std::int64_t c = 0; c < 16; ++c) to[c * to_stride + r] = from[r * from_stride + c];
  }
#else
  const hn::CappedTag<std::uint8_t, 16> d;
  hn::Vec<decltype(d)> v[16], next[16];
  MLUOPS_UNROLL
  for (int i = 0; i < 16; ++i) v[i] = hn::LoadU(d, from + i * from_stride);
  MLUOPS_UNROLL
  for (int step = 0; step < 4; ++step) {
    MLUOPS_UNROLL
    for (int i = 0; i < 8; ++i) {
      next[2 * i] = hn::InterleaveLower(d, v[i], v[i + 8]);
      next[2 * i + 1] = hn::InterleaveUpper(d, v[i], v[i + 8]);
    }
    MLUOPS_UNROLL
    for (int i = 0; i < 16; ++i) v[i] = next[i];
  }
  MLUOPS_UNROLL
  for (int i = 0; i < 16; ++i) hn::StoreU(v[i], d, to + i * to_stride);
#endif
}

/// n bytes as int32.
template <bool kNonTemporal>
HWY_INLINE void widen(const std::uint8_t* HWY_RESTRICT from, std::int64_t n, std::int32_t* HWY_RESTRICT to) {
  const hn::ScalableTag<std::int32_t> d;
  const hn::Rebind<std::uint8_t, decltype(d)> d8;
  constexpr std::int64_t lanes = kLanes<std::int32_t>;
  std::int64_t i = 0;
  for (const std::int64_t head = kNonTemporal ? before_line(to, n * 4) / 4 : 0; i < head; ++i) to[i] = from[i];
  for (; i + lanes <= n; i += lanes) {
    const auto wide = hn::PromoteTo(d, hn::LoadU(d8, from + i));
    if constexpr (kNonTemporal) {
      hn::Stream(wide, d, to + i);
    } else {
      hn::StoreU(wide, d, to + i);
    }
  }
  for (; i < n; ++i) to[i] = from[i];
}

/// `rows` rows of `width` bytes become int32 columns of `channels` planes that lie to_stride apart. Reads whole tiles
/// of 16 rows.
inline void write_indices(const std::uint8_t* from, std::int64_t width, std::int64_t rows, std::int64_t channels,
                          std::int32_t* to, std::int64_t to_stride, bool non_temporal) {
  constexpr std::int64_t kRun = 512;
  HWY_ALIGN std::uint8_t stage[16 * kRun];
  for (std::int64_t c = 0; c < channels; c += 16) {
    for (std::int64_t r = 0; r < rows; r += kRun) {
      const std::int64_t run = std::min(kRun, rows - r);
      for (std::int64_t i = 0; i < run; i += 16) transpose_bytes(from + (r + i) * width + c, width, stage + i, kRun);
      for (std::int64_t k = 0; k < std::min<std::int64_t>(16, channels - c); ++k) {
        std::int32_t* const plane = to + (c + k) * to_stride + r;
        non_temporal ? widen<true>(stage + k * kRun, run, plane) : widen<false>(stage + k * kRun, run, plane);
      }
    }
  }
}

}  // namespace mluops::cpu::border_align::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
