// The run as JSON, for other programs: one object with "machine" and "rows".
#pragma once

#include <string>
#include <vector>

#include "bench/engine/row.h"

namespace bench {

std::string json_text(const std::vector<Row>& rows, const Machine& machine);

/// Writes a whole file; throws std::runtime_error when it cannot.
void write_file(const std::string& path, const std::string& text);

}  // namespace bench
