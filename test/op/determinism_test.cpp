// Without atomics, results are bitwise equal on every run and for any number of threads.
#include "test/op/suite.h"

namespace mluops::test {
namespace {

class DeterminismTest : public ::testing::TestWithParam<Combination> {};

std::vector<std::vector<unsigned char>> output_bytes(Problem& problem, const Handle& handle) {
  EXPECT_EQ(run(problem, handle), MLUOP_STATUS_SUCCESS) << mluOpExtGetLastErrorText();
  std::vector<std::vector<unsigned char>> all;
  for (const auto& out : problem.outputs) all.push_back(out->bytes());
  return all;
}

TEST_P(DeterminismTest, SameBitsForEveryThreadCount) {
  const Combination& c = GetParam();
  for (const Case& text : random_cases_for(c, 4, 12)) {
    Problem problem = make_problem(text, c.dtype);
    std::vector<std::vector<unsigned char>> first;
    for (int threads : {1, 2, 3, 4, 5, 7, 8, 11, 16, 16, 2, 1}) {
      Handle handle(c.backend, threads);
      handle.contract(MLUOP_EXT_CONTRACT_EXTENDED).atomics(MLUOP_ATOMICS_NOT_ALLOWED);
      const auto bytes = output_bytes(problem, handle);
      if (first.empty()) first = bytes;
      ASSERT_EQ(bytes == first, true) << how_to_repeat(problem, c.backend + ", " + std::to_string(threads));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, DeterminismTest, ::testing::ValuesIn(combinations()), name_of);

// Atomics are allowed: the order of sums may vary, their values may not.
class AtomicsTest : public ::testing::TestWithParam<Combination> {};

TEST_P(AtomicsTest, AllowedAtomicsStillMatchTheReference) {
  const Combination& c = GetParam();
  const Tolerance tolerance = tolerance_of(c.backend, c.dtype);
  Handle handle(c.backend, 4);
  handle.contract(MLUOP_EXT_CONTRACT_EXTENDED).atomics(MLUOP_ATOMICS_ALLOWED);
  for (const Case& text : random_cases_for(c, 5, 12)) {
    Problem problem = make_problem(text, c.dtype);
    const Report report = run_and_check(problem, handle, c.backend, problem.expect(tolerance.coordinates), tolerance);
    EXPECT_EQ(report.outcome, Outcome::kRan) << report.text << how_to_repeat(problem, c.backend + ", atomics allowed");
  }
}

INSTANTIATE_TEST_SUITE_P(All, AtomicsTest, ::testing::ValuesIn(combinations()), name_of);

}  // namespace
}  // namespace mluops::test
