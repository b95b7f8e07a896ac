// Calls too small to share are done by the caller alone, without an allocation, in a few microseconds.
#include <algorithm>
#include <chrono>

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

double median_microseconds(const CallVariant& v) {
  using Clock = std::chrono::steady_clock;
  Problem problem = make_problem(v.text, v.dtype);
  const auto handle = make_handle(v, kThreads);
  EXPECT_EQ(run(problem, *handle), MLUOP_STATUS_SUCCESS) << v;
  std::vector<double> times(1001);
  for (double& time : times) {
    const Clock::time_point start = Clock::now();
    problem.call(handle->get());
    time = std::chrono::duration<double, std::micro>(Clock::now() - start).count();
  }
  std::nth_element(times.begin(), times.begin() + 500, times.end());
  return times[500];
}

// Far above what a call takes (docs/performance.md has the figures): only something gone wrong reaches it, a thread
// woken, a file read, a lock waited for.
TEST_P(SmallCall, TakesMicroseconds) {
  MLUOPS_SKIP_WITHOUT_TALLY();
  for (const CallVariant& v : small_calls(GetParam())) EXPECT_LE(median_microseconds(v), 20) << v;
}

INSTANTIATE_TEST_SUITE_P(Cpu, SmallCall, ::testing::ValuesIn(operators()), operator_name);

}  // namespace
}  // namespace mluops::test
