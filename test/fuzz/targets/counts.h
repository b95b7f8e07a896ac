// What became of the calls of a run, by operator.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace mluops::test {

/// How calls ended. Written to the file that MLUOP_FUZZ_COUNTS names, now and then and when the process ends, one line
/// for each operator: its name and the numbers below.
struct CallCounts {
  std::uint64_t computed = 0;  ///< SUCCESS
  std::uint64_t refused = 0;
  std::uint64_t raw = 0;    ///< of both: by its signature alone
  std::uint64_t giant = 0;  ///< in a process of its own, its sizes beyond memory
  std::uint64_t giant_touched = 0;
};

/// By place in the list of operators.
std::vector<CallCounts>& call_counts();
/// A call has ended.
void count_call();

}  // namespace mluops::test
