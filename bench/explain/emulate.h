// Runs one case on the emulated MLU and brings back what it reports.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "test/cases/operator.h"

namespace explain {

namespace cases = mluops::cases;

/// Options of the backend in the order they are set, e.g. {"arch", "mtp_270"}.
using Options = std::vector<std::pair<std::string, std::string>>;

struct Emulation {
  bool provided;       // false: the backend has no such operator, and there is nothing else here
  std::string report;  // JSON
  std::string trace;   // JSON; without events unless an option asked for them
};

/// Throws std::runtime_error with the library's text when the backend refuses the options or the case.
Emulation emulate(const cases::Description& what, const Options& options);

}  // namespace explain
