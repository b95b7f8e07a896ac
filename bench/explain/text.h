// A report as text for a terminal.
#pragma once

#include <string>

#include "bench/explain/json.h"

namespace explain {

std::string describe(const Json& report);

/// "1 234 567 B" with a binary unit from 10 KiB on.
std::string bytes_text(double bytes);

}  // namespace explain
