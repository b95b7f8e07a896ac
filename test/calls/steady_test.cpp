// Calls of network size: a repeated one allocates nothing, and no loop allocates even in the first.
#include <algorithm>
#include <limits>
#include <map>

#include "test/calls/suite.h"
#include "test/calls/tally.h"

namespace mluops::test {
namespace {

class SteadyState : public OperatorCallTest {};

/// Allocations of a call that has been made before. A thread runtime grows its own pools when its threads first meet a
/// pattern of work, which may be a few calls later; an allocation of the library's would be in every call.
std::int64_t allocations_of_repeated_call(const CallVariant& v, Problem& problem, int threads, const char* runtime) {
  const auto handle = make_handle(v, threads);
  EXPECT_EQ(mluOpExtSetOption(handle->get(), "cpu", "threading", runtime), MLUOP_STATUS_SUCCESS);
  EXPECT_EQ(run(problem, *handle), MLUOP_STATUS_SUCCESS) << mluOpExtGetLastErrorText();
  std::int64_t fewest = std::numeric_limits<std::int64_t>::max();
  for (int i = 0; i < 8 && fewest > 0; ++i) {
    const Tally before = tally();
    problem.call(handle->get());
    fewest = std::min(fewest, tally().allocations - before.allocations);
  }
  return fewest;
}

TEST_P(SteadyState, ARepeatedCallAllocatesNothing) {
  MLUOPS_SKIP_WITHOUT_TALLY();
  for (const CallVariant& v : large_calls(GetParam())) {
    Problem problem = make_problem(v.text, v.dtype);
    EXPECT_EQ(allocations_of_repeated_call(v, problem, 1, "openmp"), 0) << v << ", 1 thread";
    for (const char* runtime : {"openmp", "tbb"}) {
      EXPECT_EQ(allocations_of_repeated_call(v, problem, 3, runtime), 0) << v << ", 3 threads, " << runtime;
    }
  }
}

TEST_P(SteadyState, NoLoopAllocatesEvenInAFirstCall) {
  MLUOPS_SKIP_WITHOUT_TALLY();
  for (const CallVariant& v : large_calls(GetParam())) {
    Problem problem = make_problem(v.text, v.dtype);
    const auto handle = make_handle(v, 4);
    CountingExecutor counter;
    const mluOpExtExecutor_t executor = counter.executor();
    ASSERT_EQ(mluOpExtSetExecutor(handle->get(), &executor), MLUOP_STATUS_SUCCESS);
    ASSERT_EQ(run(problem, *handle), MLUOP_STATUS_SUCCESS) << mluOpExtGetLastErrorText();
    EXPECT_EQ(counter.loops > 0, !find_operator(GetParam()).sequential) << v;
    EXPECT_EQ(counter.allocations_inside, 0) << v;
  }
}

INSTANTIATE_TEST_SUITE_P(Cpu, SteadyState, ::testing::ValuesIn(operators()), operator_name);

}  // namespace
}  // namespace mluops::test
