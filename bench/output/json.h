// The run as JSON, for other programs: one object with "machine" and "rows"; and as a page for a browser.
#pragma once

#include <string>
#include <vector>

#include "bench/engine/row.h"
#include "bench/output/growth.h"

namespace bench {

std::string json_text(const std::vector<Row>& rows, const Machine& machine);

/// The page that shows these rows and, unless empty, how the time grows with each parameter.
std::string page_text(const std::vector<Row>& rows, const Machine& machine, const std::vector<GrowthRow>& growth);

/// Writes a whole file; throws std::runtime_error when it cannot.
void write_file(const std::string& path, const std::string& text);

}  // namespace bench
