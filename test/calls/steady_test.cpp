// Calls of network size: a repeated one allocates nothing, and no loop allocates even in the first.
#include <algorithm>
#include <limits>
#include <map>

#include "test/calls/suite.h"
#include "test/calls/tally.h"

namespace mluops::test {
namespace {

/// Large enough for several threads; every way an operator can take: written past the caches or not, by blocks or by
/// rows, sorted or not.
std::vector<CallVariant> large_calls(const std::string& op) {
  static const std::map<std::string, std::vector<const char*>> texts = {
      {"carafe", {"n=2 h=24 w=20 c=64 k=5 g=1 s=2", "n=1 h=17 w=70 c=48 k=3 g=2 s=3"}},
      {"psamask",
       {"n=1 h=24 w=24 hm=47 wm=47 type=0", "n=1 h=24 w=24 hm=47 wm=47 type=1", "n=2 h=40 w=40 hm=30 wm=30 type=0",
        "n=2 h=40 w=40 hm=30 wm=30 type=1"}},
      {"three_interpolate", {"b=4 c=64 m=128 n=4000", "b=1 c=1 m=20000 n=60000", "b=1 c=7 m=100 n=30000"}},
      {"deform_roi_pool",
       {"b=1 h=40 w=50 c=64 r=24 ph=7 pw=7 ratio=2 offset=1", "b=2 h=60 w=50 c=96 r=40 ph=5 pw=5 ratio=0 offset=0",
        "b=1 h=12 w=10 c=32 r=30 ph=7 pw=7 ratio=0 offset=1"}},
      {"border_align", {"n=1 h=25 w=30 c=64 k=200 p=10", "n=2 h=20 w=16 c=33 k=300 p=4"}}};
  return variants_of(op, texts.at(op.substr(0, op.rfind('_'))));
}

class SteadyState : public OperatorCallTest {};

/// Allocations of a call that has been made before. A thread runtime grows its own pools when its threads first meet a
/// pattern of work, which may be a few calls later; an allocation of the library's would be in every call.
std::int64_t allocations_of_repeated_call(const CallVariant& v, int threads, const char* runtime) {
  Problem problem = make_problem(v.text, v.dtype);
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
    EXPECT_EQ(allocations_of_repeated_call(v, 1, "openmp"), 0) << v << ", 1 thread";
    for (const char* runtime : {"openmp", "tbb"}) {
      EXPECT_EQ(allocations_of_repeated_call(v, 3, runtime), 0) << v << ", 3 threads, " << runtime;
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
    EXPECT_GT(counter.loops, 0) << v;
    EXPECT_EQ(counter.allocations_inside, 0) << v;
  }
}

INSTANTIATE_TEST_SUITE_P(Cpu, SteadyState, ::testing::ValuesIn(operators()), operator_name);

}  // namespace
}  // namespace mluops::test
