// A recording becomes a test case: a file in test/replay/cases, which every run of the tests replays.
#pragma once

#include <string>

namespace mluops::replay {

/// Copies the file into the folder under its operator's name and the hash of its contents; returns the path. Throws
/// std::runtime_error where it would be no test: without a case and all data, or too large for a source tree.
std::string keep(const std::string& path, const std::string& folder);

}  // namespace mluops::replay
