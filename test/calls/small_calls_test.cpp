// Calls too small to share are done by the caller alone, without an allocation, in a few microseconds.
#include <algorithm>
#include <chrono>
#include <limits>

#include "test/calls/suite.h"
#include "test/calls/tally.h"

namespace mluops::test {
namespace {

constexpr int kThreads = 16;  // allowed, not wanted

class SmallCall : public OperatorCallTest {};

void expect_no_allocation_and_no_loop(const CallVariant& v) {
  SCOPED_TRACE(v);
  Problem problem = make_problem(v.text, v.dtype);
  const auto handle = make_handle(v, kThreads);
  CountingExecutor counter;
  const mluOpExtExecutor_t executor = counter.executor();
  ASSERT_EQ(mluOpExtSetExecutor(handle->get(), &executor), MLUOP_STATUS_SUCCESS);
  ASSERT_EQ(run(problem, *handle), MLUOP_STATUS_SUCCESS) << mluOpExtGetLastErrorText();  // makes the working block
  const Tally before = tally();
  const mluOpStatus_t status = problem.call(handle->get());
  const Tally after = tally();
  EXPECT_EQ(status, MLUOP_STATUS_SUCCESS);
  EXPECT_EQ(after.allocations - before.allocations, 0);
  EXPECT_EQ(counter.loops, 0) << "a loop wanted more than the calling thread";
}

TEST_P(SmallCall, RunsOnTheCallerAndAllocatesNothing) {
  MLUOPS_SKIP_WITHOUT_TALLY();
  for (const CallVariant& v : small_calls(GetParam())) expect_no_allocation_and_no_loop(v);
}

TEST_P(SmallCall, StartsNoThread) {
  MLUOPS_SKIP_WITHOUT_TALLY();
  const Tally before = tally();
  for (const CallVariant& v : small_calls(GetParam())) {
    Problem problem = make_problem(v.text, v.dtype);
    EXPECT_EQ(run(problem, *make_handle(v, kThreads)), MLUOP_STATUS_SUCCESS) << v;
  }
  EXPECT_EQ(tally().threads - before.threads, 0);
}

double least_microseconds(const CallVariant& v) {
  using Clock = std::chrono::steady_clock;
  Problem problem = make_problem(v.text, v.dtype);
  const auto handle = make_handle(v, kThreads);
  EXPECT_EQ(run(problem, *handle), MLUOP_STATUS_SUCCESS) << v;
  double least = std::numeric_limits<double>::infinity();
  for (int call = 0; call < 1000; ++call) {
    const Clock::time_point start = Clock::now();
    problem.call(handle->get());
    least = std::min(least, std::chrono::duration<double, std::micro>(Clock::now() - start).count());
  }
  return least;
}

// Seven times what the slowest of these calls takes (docs/performance.md has the figures): only something that goes
// wrong in every call reaches it, such as a lock waited for, or large scratch cleared. The least time, since other
// programs use the cores too; threads and allocations have tests of their own above.
TEST_P(SmallCall, TakesMicroseconds) {
  MLUOPS_SKIP_WITHOUT_TALLY();
  for (const CallVariant& v : small_calls(GetParam())) EXPECT_LE(least_microseconds(v), 100) << v;
}

INSTANTIATE_TEST_SUITE_P(Cpu, SmallCall, ::testing::ValuesIn(operators()), operator_name);

}  // namespace
}  // namespace mluops::test
