// NCHW image tensors, which the EXTENDED contract allows where a backend takes them: the same numbers as in NHWC.
#include <algorithm>

#include "test/cases/base/nchw.h"
#include "test/op/paths.h"
#include "test/op/suite.h"

namespace mluops::test {
namespace {

Case in_nchw(Case text) {
  return text.set("layout", "nchw");
}

bool has_images(const std::string& op) {
  return cases::has_images(
      describe(cases::cases_of(find_operator(op), find_operator(op).smallest).front(), MLUOP_DTYPE_FLOAT));
}

std::vector<Combination> image_combinations(const std::vector<std::string>& groups) {
  std::vector<std::string> image_operators = operators();
  std::erase_if(image_operators, [](const std::string& op) { return !has_images(op); });
  std::vector<Combination> all = combinations(groups);
  std::erase_if(all, [&](const Combination& c) {
    return c.backend != "cpu" ||
           std::find(image_operators.begin(), image_operators.end(), c.op) == image_operators.end();
  });
  return all;
}

class LayoutTest : public ::testing::TestWithParam<Combination> {};
class LayoutPathTest : public ::testing::TestWithParam<Combination> {};

TEST_P(LayoutTest, NchwMatchesTheReference) {
  const Combination& c = GetParam();
  const Tolerance tolerance = tolerance_of(c.backend, c.dtype);
  Handle handle(c.backend, 2);
  handle.contract(MLUOP_EXT_CONTRACT_EXTENDED);
  for (const Case& text : cases_of(c)) {
    Problem problem = make_problem(in_nchw(text), c.dtype);
    const Report report = run_and_check(problem, handle, c.backend, problem.expect(tolerance.coordinates), tolerance);
    EXPECT_EQ(report.outcome, Outcome::kRan) << report.text << how_to_repeat(problem, c.backend + ", 2 threads");
  }
}

/// The straightforward form, and each other one that can run the case.
TEST_P(LayoutPathTest, EachMatchesTheReference) {
  const Combination& c = GetParam();
  Handle handle(c.backend, 3);
  handle.contract(MLUOP_EXT_CONTRACT_EXTENDED);
  for (const Case& text : cases_of(c)) {
    Problem problem = make_problem(in_nchw(text), c.dtype);
    check_every_path(handle, problem, tolerance_of(c.backend, c.dtype));
  }
}

INSTANTIATE_TEST_SUITE_P(All, LayoutTest, ::testing::ValuesIn(image_combinations({"edge", "random", "document"})),
                         name_of);
INSTANTIATE_TEST_SUITE_P(All, LayoutPathTest, ::testing::ValuesIn(image_combinations({"edge", "document"})), name_of);

/// What one call on the smallest case in NCHW answers.
std::string answer(const std::string& op, const std::string& backend, mluOpExtContract_t contract) {
  Problem problem =
      make_problem(in_nchw(cases::cases_of(find_operator(op), find_operator(op).smallest).back()), MLUOP_DTYPE_FLOAT);
  Handle handle(backend);
  handle.contract(contract);
  const mluOpStatus_t status = run(problem, handle);
  return std::string(mluOpGetErrorString(status)) + " " + mluOpExtGetLastErrorText();
}

/// Whether the operator's own cases speak of layouts; their calls then ask for EXTENDED themselves.
bool has_layout_parameter(const std::string& op) {
  const auto& parameters = find_operator(op).parameters;
  return std::any_of(parameters.begin(), parameters.end(),
                     [](const Parameter& p) { return p.name == std::string("layout"); });
}

TEST(Layout, StrictWantsNhwc) {
  for (const std::string& op : operators()) {
    if (!has_images(op) || has_layout_parameter(op)) continue;
    const std::string text = answer(op, "cpu", MLUOP_EXT_CONTRACT_STRICT);
    EXPECT_EQ(text.find("MLUOP_STATUS_BAD_PARAM"), 0u) << op << ": " << text;
    EXPECT_NE(text.find("wanted layout LAYOUT_NHWC, got LAYOUT_NCHW"), std::string::npos) << op << ": " << text;
  }
}

TEST(Layout, ABackendThatTakesNhwcOnlyDeclines) {
  for (const std::string& op : operators()) {
    if (!has_images(op)) continue;
    const std::string text = answer(op, "mlu_emu", MLUOP_EXT_CONTRACT_EXTENDED);
    EXPECT_EQ(text.find("MLUOP_STATUS_NOT_SUPPORTED"), 0u) << op << ": " << text;
  }
}

}  // namespace
}  // namespace mluops::test
