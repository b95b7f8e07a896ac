// The copy a word asks for, from its direction; for the words that move memory.
#pragma once

#include <limits>
#include <memory>
#include <vector>

#include "backends/mlu_emu/bang/words.h"
#include "backends/mlu_emu/device/core.h"

namespace mluops::emu::bang {

/// Strides and counts of pieces: then their product fits 64 bits.
constexpr bool fits_32_bits(std::int64_t value) {
  constexpr std::int64_t kLargest = std::numeric_limits<std::int32_t>::max();
  return value >= -kLargest && value <= kLargest;
}

/// One piece; a fault for a direction that is not modelled.
Copy make_copy(const char* word, void* dst, const void* src, std::int64_t bytes, mluMemcpyDirection_t direction);
/// Pieces where the list says.
Copy make_copy(const char* word, std::vector<Piece> list, std::int64_t bytes, mluMemcpyDirection_t direction);

}  // namespace mluops::emu::bang
