// The copy a word asks for, from its direction; for the words that move memory.
#pragma once

#include <memory>
#include <vector>

#include "backends/mlu_emu/bang/words.h"
#include "backends/mlu_emu/device/core.h"

namespace mluops::emu::bang {

/// One piece; a fault for a direction that is not modelled.
Copy make_copy(const char* word, void* dst, const void* src, std::int64_t bytes, mluMemcpyDirection_t direction);
/// Pieces where the list says.
Copy make_copy(const char* word, std::vector<Piece> list, std::int64_t bytes, mluMemcpyDirection_t direction);

}  // namespace mluops::emu::bang
