// What the host's compiler says about a rewritten file, as the author of the file is to read it.
#pragma once

#include <string>

#include "backends/mlu_emu/neuware/cncc/columns.h"

namespace cncc {

/// The messages with columns and carets of the author's text, and with the builtin that the author wrote where the
/// compiler names the text that replaced it. `bytes`: the compiler counts columns in bytes, as clang does.
std::string for_author(const std::string& messages, const Columns& columns, bool bytes);
/// "warning: ..." or "error: ..." in the same form.
std::string message(const Columns& columns, std::size_t preprocessed, const std::string& text);

}  // namespace cncc
