// The working memory of a call as docs/working_memory.md has it.
#pragma once

#include <cstdint>

#include "test/calls/suite.h"

namespace mluops::test {

/// The most bytes a handle of cpu with that many threads may hold after the call. Written from the table of the page
/// and nothing else: where a kernel comes to work in more memory, or in much less, the page and this file change with
/// it.
std::int64_t documented_bytes(const CallVariant& call, int threads);

/// What of that is for arrays that start on cache lines of their own.
std::int64_t array_padding(int threads);

}  // namespace mluops::test
