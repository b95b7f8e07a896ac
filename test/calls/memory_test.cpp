// The memory a call works in: one block per handle, nothing beside it, kept for the next call.
#include "test/calls/suite.h"
#include "test/calls/tally.h"

namespace mluops::test {
namespace {

constexpr std::int64_t kSlack = 512;  ///< of malloc: rounding, alignment

class WorkingMemory : public OperatorCallTest {};

/// The most bytes that live during the first call of a handle, beyond those that lived before.
std::int64_t peak_of_first_call(const CallVariant& v, const Handle& handle) {
  Problem problem = make_problem(v.text, v.dtype);
  const std::int64_t live = tally().live_bytes;
  take_peak_bytes();
  EXPECT_EQ(problem.call(handle.get()), MLUOP_STATUS_SUCCESS) << v << ": " << mluOpExtGetLastErrorText();
  return take_peak_bytes() - live;
}

TEST_P(WorkingMemory, IsAllThatACallTakes) {
  MLUOPS_SKIP_WITHOUT_TALLY();
  for (const CallVariant& v : large_calls(GetParam())) {
    for (const int threads : {1, 3}) {
      const auto handle = make_handle(v, threads);
      CountingExecutor counter;  // the runtimes' own memory is theirs
      const mluOpExtExecutor_t executor = counter.executor();
      ASSERT_EQ(mluOpExtSetExecutor(handle->get(), &executor), MLUOP_STATUS_SUCCESS);
      const std::int64_t peak = peak_of_first_call(v, *handle);
      EXPECT_GE(peak, working_bytes(*handle)) << v << ", " << threads << " threads";
      EXPECT_LE(peak, working_bytes(*handle) + kSlack) << v << ", " << threads << " threads";
    }
  }
}

TEST_P(WorkingMemory, IsKeptForSmallerCalls) {
  MLUOPS_SKIP_WITHOUT_TALLY();
  const CallVariant large = large_calls(GetParam())[0], small = small_calls(GetParam())[0];
  Problem first = make_problem(large.text, large.dtype), second = make_problem(small.text, small.dtype);
  const auto handle = make_handle(large, 1);
  ASSERT_EQ(run(first, *handle), MLUOP_STATUS_SUCCESS) << mluOpExtGetLastErrorText();
  const std::int64_t bytes = working_bytes(*handle);
  const Tally before = tally();
  EXPECT_EQ(second.call(handle->get()), MLUOP_STATUS_SUCCESS);
  EXPECT_EQ(tally().allocations - before.allocations, 0);
  EXPECT_EQ(working_bytes(*handle), bytes);
}

INSTANTIATE_TEST_SUITE_P(Cpu, WorkingMemory, ::testing::ValuesIn(operators()), operator_name);

}  // namespace
}  // namespace mluops::test
