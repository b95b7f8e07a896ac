// Proves which backend really ran what: an empty backend cannot be green, nor can a silent fallback.
#include <map>

#include "test/op/suite.h"

namespace mluops::test {
namespace {

std::string outcome_of(const Combination& c, mluOpExtContract_t contract) {
  Random random(7);
  // NCHW, where a case names it, is of the EXTENDED contract alone.
  Problem problem = make_problem(random_case(c.op, random, 0.2).set("layout", "nhwc"), c.dtype);
  Handle handle(c.backend);
  handle.contract(contract);
  const mluOpStatus_t status = run(problem, handle);
  if (status != MLUOP_STATUS_SUCCESS) return "no";
  return handle.last_run_backend() == c.backend ? "ran" : "ran on " + handle.last_run_backend();
}

TEST(Coverage, EveryBackendRunsWhatItOffersAndNothingElse) {
  for (const std::string backend : {"cpu", "mlu_emu"}) {
    for (const std::string& op : operators()) {
      for (mluOpDataType_t dtype : float_dtypes()) {
        const Combination c{backend, op, dtype, ""};
        const Duty d = duty(backend, op, dtype);
        const bool strict = d == Duty::kStrict, extended = strict || d == Duty::kExtended;
        EXPECT_EQ(outcome_of(c, MLUOP_EXT_CONTRACT_STRICT), strict ? "ran" : "no") << c;
        EXPECT_EQ(outcome_of(c, MLUOP_EXT_CONTRACT_EXTENDED), extended ? "ran" : "no") << c;
      }
    }
  }
}

TEST(Coverage, EveryOperatorOfTheApiIsDescribed) {
  EXPECT_EQ(operators(), api_operators()) << "an operator of mluops/operators.inc has no test/cases/<family>.cpp";
}

TEST(Coverage, BothBackendsAreListed) {
  const std::vector<std::string> names = backend_names();
  EXPECT_EQ(std::count(names.begin(), names.end(), "cpu"), 1);
  EXPECT_EQ(std::count(names.begin(), names.end(), "mlu_emu"), 1);
}

TEST(Coverage, CasesSurviveTheirText) {
  for (const std::string& op : operators()) {
    for (const Case& c : random_cases(op, 3, 20)) EXPECT_EQ(Case::parse(c.text()).text(), c.text());
  }
  EXPECT_THROW(Case::parse("carafe n=1"), std::invalid_argument);
  EXPECT_THROW(Case::parse("carafe_forward n"), std::invalid_argument);
}

}  // namespace
}  // namespace mluops::test
