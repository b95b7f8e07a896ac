// Every operator's smallest call on every backend: what a backend provides runs, what it or the whole build lacks
// (-DMLUOPS_OPERATORS) is refused with a text and leaves the outputs alone. .ci/run runs it on a build of a part, too.
#include <gtest/gtest.h>

#include <sstream>

#include "test/support/run.h"

namespace mluops::test {
namespace {

std::string query(const Handle& handle, const std::string& backend, const char* key) {
  std::string text(16384, '\0');
  std::size_t length = 0;
  EXPECT_EQ(mluOpExtQuery(handle.get(), backend.c_str(), key, text.data(), text.size(), &length), MLUOP_STATUS_SUCCESS);
  return text.substr(0, length);
}

bool has_word(const std::string& text, const std::string& word) {
  std::istringstream words(text);
  for (std::string each; words >> each;) {
    if (each == word) return true;
  }
  return false;
}

class Part : public ::testing::TestWithParam<std::string> {};

TEST_P(Part, RunsWhatItProvidesAndRefusesTheRest) {
  const std::string backend = GetParam();
  const Handle handle(backend);
  const std::string provided = query(handle, backend, "operators");
  for (const cases::OperatorCases& op : cases::all_operators()) {
    const mluOpDataType_t dtype = op.dtypes.strict.back();
    Problem problem = make_problem(cases::cases_of(op, op.smallest).back(), dtype);
    const Tolerance tolerance = tolerance_of(backend, dtype);
    const Report report = run_and_check(problem, handle, backend, problem.expect(tolerance.coordinates), tolerance);
    if (has_word(provided, op.op)) {
      EXPECT_EQ(report.outcome, Outcome::kRan) << op.op << ": " << report.text;
    } else {
      EXPECT_EQ(report.outcome, Outcome::kDeclined) << op.op << ": " << report.text;
      EXPECT_NE(report.text.find("backend " + backend + " does not provide it"), std::string::npos) << report.text;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, Part, ::testing::ValuesIn(std::vector<std::string>{"cpu", "mlu_emu"}),
                         [](const auto& of) { return of.param; });

}  // namespace
}  // namespace mluops::test
