// Runs one case on the emulated MLU and brings back what it reports.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "bench/cases/case.h"

namespace explain {

/// Options of the backend in the order they are set, e.g. {"arch", "mtp_270"}.
using Options = std::vector<std::pair<std::string, std::string>>;

struct Emulation {
  std::string report;  // JSON
  std::string trace;   // JSON; without events unless an option asked for them
};

/// Throws std::runtime_error with the library's text when the backend refuses the options or the case.
Emulation emulate(const bench::Case& what, const Options& options);

}  // namespace explain
