// Infinite and NaN gradients: the same elements become Inf and NaN whichever way a gradient is scattered, on both
// backends, as in the reference.
#include <algorithm>
#include <cmath>
#include <limits>

#include "test/cases/base/element.h"
#include "test/op/suite.h"

namespace mluops::test {
namespace {

class NonFiniteTest : public ::testing::TestWithParam<std::string> {};

/// Some numbers of the first input of reals, which is what is scattered.
void poison(Problem& problem, Random& random) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const double wild[] = {kInfinity, -kInfinity, std::numeric_limits<double>::quiet_NaN()};
  Tensor& gradient = **std::find_if(problem.inputs.begin(), problem.inputs.end(),
                                    [](const auto& input) { return cases::is_float(input->dtype()); });
  Values values = gradient.values();
  for (double& v : values) {
    if (random.chance(0.02)) v = random.pick(wild);
  }
  gradient.fill(values);
}

/// "" when the first `count` outputs are Inf and NaN where they should be.
std::string other_kinds(const Problem& problem, const Expected& expected, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    const Values got = problem.outputs[i]->values();
    for (std::size_t j = 0; j < got.size(); ++j) {
      const double wanted = expected[i][j];
      const bool both = std::isfinite(got[j]) == std::isfinite(wanted);
      const bool same = both && (std::isfinite(wanted) || (std::isnan(wanted) ? std::isnan(got[j]) : got[j] == wanted));
      if (same) continue;
      return problem.outputs[i]->name() + " element " + std::to_string(j) + ": wanted " + std::to_string(wanted) +
             ", got " + std::to_string(got[j]);
    }
  }
  return "";
}

struct Way {
  const char* backend;
  const char* option;
};

TEST_P(NonFiniteTest, GradientsGoTheSameWay) {
  const Way ways[] = {{"cpu", "scatter=owner"},
                      {"cpu", "scatter=atomic"},
                      {"cpu", "isa=sse2"},
                      {"cpu", "isa=avx2"},
                      {"mlu_emu", "order=serial"}};
  const std::vector<std::string> levels = cpu_levels();
  const auto has_level = [&](const char* level) {
    return std::find(levels.begin(), levels.end(), level) != levels.end();
  };
  Random random(GetParam());
  int compared = 0;
  for (const Case& text : joined(edge_cases(GetParam()), random_cases(GetParam(), 21, scaled(30), 0.2))) {
    Problem problem = make_problem(text, MLUOP_DTYPE_FLOAT);
    poison(problem, random);
    const Expected expected = problem.expect(Coordinates::kFloat);
    for (const Way& way : ways) {
      if (duty(way.backend, GetParam(), MLUOP_DTYPE_FLOAT) == Duty::kNone) continue;
      if (std::string(way.option).rfind("isa", 0) == 0 && !has_level(way.option + 4)) continue;
      Handle handle(way.backend, 3, {way.option});
      handle.contract(MLUOP_EXT_CONTRACT_EXTENDED).atomics(MLUOP_ATOMICS_ALLOWED);
      const mluOpStatus_t status = run(problem, handle);
      if (status == MLUOP_STATUS_NOT_SUPPORTED) continue;  // beyond a device's limit: test_op says which may be
      ASSERT_EQ(status, MLUOP_STATUS_SUCCESS) << mluOpExtGetLastErrorText();
      ++compared;
      // Of deform_roi_pool the device multiplies a gradient by the sum of what the formula adds up as products:
      // grad_offset may be Inf there instead of Inf - Inf.
      const bool device = std::string(way.backend) == "mlu_emu";
      EXPECT_EQ(other_kinds(problem, expected, device ? 1 : expected.size()), "")
          << how_to_repeat(problem, std::string(way.backend) + " " + way.option);
    }
  }
  EXPECT_GT(compared, 0);
}

std::vector<std::string> scattering() {
  std::vector<std::string> found;
  for (const std::string& op : operators()) {
    if (find_operator(op).scatters) found.push_back(op);
  }
  return found;
}

INSTANTIATE_TEST_SUITE_P(All, NonFiniteTest, ::testing::ValuesIn(scattering()),
                         [](const ::testing::TestParamInfo<std::string>& op) { return op.param; });

}  // namespace
}  // namespace mluops::test
