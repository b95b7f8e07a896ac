// How much scalar code does, for the clock of the emulated machine: operations, counted where they are written.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "backends/mlu_emu/neuware/cncc/source.h"

namespace cncc {

/// Operations of the tokens [begin, end) that run when the first of them does: all but those in loops and blocks that
/// count themselves.
std::int64_t operations(const Source& source, std::size_t begin, std::size_t end);

/// What an `if` or `else` heads.
struct Branch {
  std::size_t begin, end;  // of the statement, without an else behind it; none of an `else if`
  bool single = false;     // it is a statement without braces
  std::int64_t cost = 0;   // operations that decide
};
Branch branch_at(const Source& source, std::size_t at);

/// The "{" begins a body: of a function, a loop or a branch.
bool begins_body(const Source& source, std::size_t open);

/// The statement at the start of the block at `open` that counts its operations, "" if there are none.
std::string count_of_body(const Source& source, std::size_t open);

}  // namespace cncc
