// Some channels of an NCHW image as rows of pixels in scratch: sizes (channel_block-inl.h moves the pixels).
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

#include "backends/cpu/runtime/machine.h"

namespace mluops::cpu::layout {

/// Channels that are worked on together: a cache line of sums.
template <class A>
inline constexpr std::int64_t kBlockChannels = kCacheLineBytes / static_cast<std::int64_t>(sizeof(A));
/// Pixels that are transposed together.
inline constexpr std::int64_t kBlockPixels = 16;

/// How many rows of pixels are at hand at a time, and where they lie.
class RingSize {
 public:
  /// `rows`: as many at least are used together, of an image of h x w pixels.
  RingSize(std::int64_t h, std::int64_t w, std::int64_t rows) : w_(w) {
    // The blocks that the first and the last of those pixels are in reach beyond them.
    const std::int64_t needed = rows + (2 * kBlockPixels + w - 1) / w;
    const auto ring = static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(needed)));
    mask_ = ring < h ? ring - 1 : -1;
    pixels_ = std::min(ring, h) * w;
  }
  std::int64_t pixels() const { return pixels_; }
  /// Pixels to allocate: a block may reach over the end.
  std::int64_t room() const { return pixels_ + kBlockPixels; }
  std::int64_t row(std::int64_t y) const { return (y & mask_) * w_; }
  std::int64_t place(std::int64_t pixel) const { return mask_ < 0 ? pixel : pixel % pixels_; }

 private:
  std::int64_t w_, mask_, pixels_;
};

}  // namespace mluops::cpu::layout
