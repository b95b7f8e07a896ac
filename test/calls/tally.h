// Counts what the process allocates and how many threads it starts, by standing in front of malloc and pthread_create.
#pragma once

#include <cstdint>

#include "mlu_op_ext.h"

namespace mluops::test {

/// Since the process began.
struct Tally {
  std::int64_t allocations;  ///< malloc and its like, operator new included
  std::int64_t live_bytes;
  std::int64_t threads;  ///< started
};

/// Whether tally() counts: not under sanitizers, which stand there themselves, and not with a C library other than
/// glibc.
bool tally_works();
Tally tally();

/// The most live bytes since the last call of this function.
std::int64_t take_peak_bytes();

/// While it lives, the n-th allocation of this thread (the first is 1) fails; with `for_ever` all after it as well.
class FailingAllocation {
 public:
  FailingAllocation(std::int64_t n, bool for_ever);
  FailingAllocation(const FailingAllocation&) = delete;
  FailingAllocation& operator=(const FailingAllocation&) = delete;
  ~FailingAllocation();
  /// Whether there was an n-th one.
  bool happened() const;
};

/// An executor that runs all tasks on the caller, the last one first, and counts what happens meanwhile.
struct CountingExecutor {
  std::int64_t loops = 0;
  std::int64_t allocations_inside = 0;

  /// Points to *this.
  mluOpExtExecutor_t executor();
};

/// Skips a test that needs the tally.
#define MLUOPS_SKIP_WITHOUT_TALLY() \
  if (!tally_works()) GTEST_SKIP() << "allocations cannot be counted here: sanitizer, or not glibc"

}  // namespace mluops::test
