// What an expression of scalar code is for: a load, a store, both, or a part of a class.
#pragma once

#include <cstddef>
#include <string_view>

#include "backends/mlu_emu/neuware/cncc/source.h"

namespace cncc {

/// The tokens at `i` and behind it are that operator: it is scanned character by character.
bool is_operator(const Source& source, std::size_t i, std::string_view text);

/// The token closes what stands behind `for` and its kin: a statement begins behind it.
bool closes_head(const Source& source, std::size_t close);

/// What an expression [begin, behind) is for. Of a class's member ".x" it is told for the class; ".x[i]" is another
/// expression, and its own access.
const char* touch_of(const Source& source, std::size_t begin, std::size_t behind);

/// The lvalue that an expression [begin, behind) is all of, in parentheses, or a branch of.
void climb(const Source& source, std::size_t& begin, std::size_t& behind);

}  // namespace cncc
