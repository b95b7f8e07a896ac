// Where a statement ends.
#pragma once

#include <cstddef>

#include "backends/mlu_emu/neuware/cncc/source.h"

namespace cncc {

/// Index behind the statement that begins at `i`, with all that belongs to it: an if has its else.
std::size_t behind_statement(const Source& source, std::size_t i);

}  // namespace cncc
