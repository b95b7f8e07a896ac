// Values, ownership of memory and thread counts, for every combination.
#include "test/op/suite.h"

namespace mluops::test {
namespace {

class OperatorTest : public ::testing::TestWithParam<Combination> {};

struct Counts {
  int ran = 0, declined = 0;
};

// One case at every thread count.
void check_case(const Combination& c, const Case& text, const std::vector<std::unique_ptr<Handle>>& handles,
                Counts& counts) {
  const Tolerance tolerance = tolerance_of(c.backend, c.dtype);
  Problem problem = make_problem(text, c.dtype);
  const Expected expected = problem.expect(tolerance.coordinates);
  const std::vector<int> threads = thread_counts(c.backend);
  for (std::size_t i = 0; i < handles.size(); ++i) {
    const Report report = run_and_check(problem, *handles[i], c.backend, expected, tolerance);
    const std::string settings = c.backend + ", " + std::to_string(threads[i]) + " threads";
    if (report.outcome == Outcome::kDeclined) {
      EXPECT_TRUE(may_decline(text, c.backend)) << "declined: " << report.text << how_to_repeat(problem, settings);
      std::printf("declined: %s: %s\n", text.text().c_str(), report.text.c_str());
      ++counts.declined;
      return;
    }
    EXPECT_EQ(report.outcome, Outcome::kRan) << report.text << how_to_repeat(problem, settings);
    EXPECT_FALSE(may_decline(text, c.backend)) << "marked as declined, but it ran: " << text.text();
    if (report.outcome == Outcome::kFailed) return;
  }
  ++counts.ran;
}

TEST_P(OperatorTest, MatchesTheReference) {
  const Combination& c = GetParam();
  std::vector<std::unique_ptr<Handle>> handles;
  for (int threads : thread_counts(c.backend)) {
    handles.push_back(std::make_unique<Handle>(c.backend, threads));
    handles.back()->contract(contract_for(duty(c.backend, c.op, c.dtype)));
  }
  Counts counts;
  const Cases cases = cases_of(c);
  for (const Case& text : cases) check_case(c, text, handles, counts);
  if (!selected_case() && !HasFailure()) {
    EXPECT_GT(counts.ran, 0) << "nothing ran";
  }
  RecordProperty("cases", static_cast<int>(cases.size()));
  RecordProperty("declined", counts.declined);
}

INSTANTIATE_TEST_SUITE_P(All, OperatorTest, ::testing::ValuesIn(combinations({"document", "edge", "random"})), name_of);

}  // namespace
}  // namespace mluops::test
