// Some channels of an NCHW image as rows of pixels in scratch: sizes (image_panel-inl.h moves the pixels).
#pragma once

#include <cstdint>

#include "backends/cpu/runtime/machine.h"

namespace mluops::cpu::layout {

/// Channels that are worked on together: a cache line of sums.
template <class A>
inline constexpr std::int64_t kBlockChannels = kCacheLineBytes / static_cast<std::int64_t>(sizeof(A));
/// Pixels that are transposed together.
inline constexpr std::int64_t kBlockPixels = 16;

}  // namespace mluops::cpu::layout
