// Launches and inline MLISA, which become calls of the runtime.
#pragma once

#include <cstddef>

#include "backends/mlu_emu/neuware/cncc/source.h"

namespace cncc {

/// kernel<...><<<dim, type, queue>>>(arguments), the "<<<" at `at`. std::runtime_error: it is no whole launch.
/// Returns the index of its last token.
std::size_t rewrite_launch(Source& source, std::size_t at);

/// asm volatile("text" : outputs : inputs : clobbers), the "asm" at `at`. Only `asm volatile` is MLISA: system headers
/// and labels use the plain form, which stays. std::runtime_error: its parentheses are not closed.
void rewrite_assembly(Source& source, std::size_t at);

}  // namespace cncc
