// What --library prints.
#pragma once

#include <string>
#include <vector>

#include "test/conformance/library.h"

namespace mluops::conformance {

std::string library_heading();
/// The operator's counts; then the cases that are no good, or every one.
std::string library_lines(const LibraryResult& result, bool every);
/// The outputs of all calls that ran, a line each (test/support/recorded.h).
std::string library_records(const std::vector<LibraryResult>& results);

std::string library_json(const LibrarySettings& settings, const std::vector<LibraryResult>& results);

}  // namespace mluops::conformance
