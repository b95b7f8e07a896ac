// What --library prints.
#pragma once

#include <string>
#include <vector>

#include "test/conformance/library.h"

namespace mluops::conformance {

std::string library_heading();
/// The operator's counts; then the cases that are no good, or every one.
std::string library_lines(const LibraryResult& result, bool every);
std::string library_json(const LibrarySettings& settings, const std::vector<LibraryResult>& results);

}  // namespace mluops::conformance
