// Runs a problem through the C API and looks at everything the call may have touched.
#pragma once

#include <ostream>
#include <string>
#include <vector>

#include "test/support/handle.h"
#include "test/support/problem.h"
#include "test/support/tolerance.h"

namespace mluops::test {

enum class Outcome {
  kRan,       ///< and everything was right
  kDeclined,  ///< NOT_SUPPORTED, nothing touched
  kFailed,
};

inline std::ostream& operator<<(std::ostream& out, Outcome outcome) {
  const char* const words[] = {"ran", "declined", "failed"};
  return out << words[static_cast<int>(outcome)];
}

struct Report {
  Outcome outcome;
  std::string text;  ///< what was wrong, or why it was declined
};

/// Fills the outputs with garbage, runs, and checks: status, which backend ran, inputs unchanged, fences intact,
/// outputs as expected (NaN-aware; a declined call must leave the garbage as it was).
Report run_and_check(Problem& problem, const Handle& handle, const std::string& backend, const Expected& expected,
                     const Tolerance& tolerance);

/// Only runs: garbage in the outputs, then the call. For tests that compare two runs.
mluOpStatus_t run(Problem& problem, const Handle& handle);

/// "" when the outputs of the problem are as expected.
std::string mismatch(const Problem& problem, const Expected& expected, const Tolerance& tolerance);

/// How to run just this: MLUOP_TEST_CASE="..." and the settings.
std::string how_to_repeat(const Problem& problem, const std::string& settings);

}  // namespace mluops::test
