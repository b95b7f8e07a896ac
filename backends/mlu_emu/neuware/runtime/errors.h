// The last error of each thread, as the runtime's callers ask for it.
#pragma once

#include <string>

#include "backends/mlu_emu/neuware/include/cnrt.h"

namespace neuware {

/// Keeps the error and returns it; success changes nothing.
cnrtRet_t keep(cnrtRet_t error);
/// Keeps a fault with its text, and prints the text in the runtime's form.
cnrtRet_t keep_fault(cnrtRet_t error, const std::string& text);

/// Keeps the text of the launch's last warning.
void keep_warning(const std::string& text);

}  // namespace neuware
