// What the checks of a launch want to know of a kernel's source: the line of each word, the index of each array.
#pragma once

#include <cstddef>

#include "backends/mlu_emu/neuware/cncc/source.h"

namespace cncc {

/// If a word of the device is called at `at`, its place is told before.
void locate_word(Source& source, std::size_t at);

/// name[i][j]...: each index is held against the array's extent.
void check_subscripts(Source& source, std::size_t at);

/// name[i][j]...: what it loads or stores is counted. `statement` is where the statement begins.
void count_access(Source& source, std::size_t at, std::size_t statement);

}  // namespace cncc
