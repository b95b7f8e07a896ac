// Holds one operator of a backend to what every backend has to do (docs/plugin.md).
#pragma once

#include <string>
#include <vector>

#include "test/support/settings.h"

namespace mluops::conformance {

struct Settings {
  std::string backend;
  double scale = 1;            ///< on the number of random cases
  int threads = 5;             ///< most threads of a call
  bool timing = true;          ///< beside cpu
  std::string only_case = {};  ///< "op key=value ...": nothing else
};

struct Result {
  std::string op;
  int ran = 0, declined = 0;          ///< cases x dtypes
  std::string reason;                 ///< of the first that was declined
  std::vector<std::string> findings;  ///< what was wrong, with the case that shows it
  std::string timed;                  ///< the case of the times; "" where none were taken
  double seconds = 0, cpu_seconds = 0;

  bool good() const { return findings.empty() && (ran > 0 || declined == 0); }
};

/// All lists of the operator's description in every dtype: values against the reference, memory touched, bitwise equal
/// for every number of threads, statuses with texts, outputs untouched by what is refused.
Result examine(const cases::OperatorCases& op, const Settings& settings);

/// The operators that the backend provides. Throws std::runtime_error with the library's text where it cannot be used.
std::vector<std::string> provided(const std::string& backend);

}  // namespace mluops::conformance
