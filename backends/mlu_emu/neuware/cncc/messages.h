// What the host's compiler says about a rewritten file, as the author of the file is to read it.
#pragma once

#include <string>

#include "backends/mlu_emu/neuware/cncc/columns.h"

namespace cncc {

/// Columns and carets become those of the author's text, and what has a word of BANG C gets it. `bytes`: the compiler
/// counts columns in bytes, as clang does, not in those of a terminal.
std::string for_author(const std::string& messages, const Columns& columns, bool bytes);
/// A warning in the same form.
std::string warning(const Columns& columns, std::size_t preprocessed, const std::string& text);

}  // namespace cncc
