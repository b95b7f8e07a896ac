// Half and bfloat16 against float on the very same inputs, element by element: an error of a few spacings in one
// element does not show in diff1 and diff2 at 3e-3. For backends that compute in float whatever they store.
#include <cmath>

#include "test/cases/base/element.h"
#include "test/op/suite.h"

namespace mluops::test {
namespace {

class NarrowTest : public ::testing::TestWithParam<Combination> {};

std::vector<Combination> narrow_combinations() {
  std::vector<Combination> narrow;
  for (const Combination& c : combinations()) {
    const bool stored_narrow = c.dtype == MLUOP_DTYPE_HALF || c.dtype == MLUOP_DTYPE_BFLOAT16;
    if (stored_narrow && c.backend == "cpu") narrow.push_back(c);
  }
  return narrow;
}

double largest(const reference::Values& values) {
  double most = 0;
  for (double v : values) most = std::isfinite(v) ? std::max(most, std::fabs(v)) : most;
  return most;
}

// Elements further from the float result than rounding it once explains.
std::string unexplained(const Tensor& narrow, const Tensor& wide) {
  const reference::Values n = narrow.values(), w = wide.values();
  const double slack = 1e-5 * largest(w);
  for (std::size_t i = 0; i < w.size(); ++i) {
    if (std::isnan(n[i]) && std::isnan(w[i])) continue;
    if (n[i] == w[i] || n[i] == cases::rounded(narrow.dtype(), w[i])) continue;  // what half cannot hold is infinite
    if (std::fabs(n[i] - w[i]) <= 0.5 * spacing(narrow.dtype(), w[i]) + slack) continue;
    return narrow.name() + "[" + std::to_string(i) + "] = " + std::to_string(n[i]) + ", float " + std::to_string(w[i]);
  }
  return "";
}

TEST_P(NarrowTest, IsTheFloatResultRoundedOnce) {
  const Combination& c = GetParam();
  Handle handle(c.backend, 2);
  handle.contract(MLUOP_EXT_CONTRACT_EXTENDED);
  const char* values = c.dtype == MLUOP_DTYPE_HALF ? "half" : "bfloat16";
  for (Case text : random_cases(c.op, 2, scaled(40))) {
    text.set("values", values);
    Problem narrow = make_problem(text, c.dtype), wide = make_problem(text, MLUOP_DTYPE_FLOAT);
    ASSERT_EQ(run(narrow, handle), MLUOP_STATUS_SUCCESS) << mluOpExtGetLastErrorText();
    ASSERT_EQ(run(wide, handle), MLUOP_STATUS_SUCCESS) << mluOpExtGetLastErrorText();
    for (std::size_t i = 0; i < narrow.outputs.size(); ++i) {
      EXPECT_EQ(unexplained(*narrow.outputs[i], *wide.outputs[i]), "") << how_to_repeat(narrow, c.backend);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, NarrowTest, ::testing::ValuesIn(narrow_combinations()), name_of);

}  // namespace
}  // namespace mluops::test
