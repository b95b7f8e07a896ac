// Half and bfloat16 against float on the very same inputs, element by element: an error of a few spacings in one
// element does not show in diff1 and diff2 at 3e-3. For backends that compute in float whatever they store.
#include <algorithm>
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

/// The case in a narrow type and, the same numbers, in float.
class Pair {
 public:
  Problem narrow, wide;

  Pair(Case text, mluOpDataType_t dtype)
      : narrow(make_problem(text.set("values", dtype == MLUOP_DTYPE_HALF ? "half" : "bfloat16"), dtype)),
        wide(make_problem(text, MLUOP_DTYPE_FLOAT)) {}

  /// Input i times a power of two, so that what lies between input and output leaves the range of half.
  void scale(std::size_t i, double factor) {
    scaled_ = true;
    reference::Values v = narrow.inputs[i]->values();
    for (double& x : v) x = std::clamp(factor * x, -60000.0, 60000.0);
    narrow.inputs[i]->fill(v);
    wide.inputs[i]->fill(narrow.inputs[i]->values());  // what the narrow type has of them
  }
  void compare(const Handle& handle, const Combination& c) {
    const mluOpStatus_t status = run(narrow, handle);
    ASSERT_EQ(run(wide, handle), status) << mluOpExtGetLastErrorText();
    if (scaled_ && status == MLUOP_STATUS_BAD_PARAM) return;  // a RoI of no image
    ASSERT_EQ(status, MLUOP_STATUS_SUCCESS) << mluOpExtGetLastErrorText();
    for (std::size_t i = 0; i < narrow.outputs.size(); ++i) {
      EXPECT_EQ(unexplained(*narrow.outputs[i], *wide.outputs[i]), "") << how_to_repeat(narrow, c.backend);
    }
  }

 private:
  bool scaled_ = false;
};

TEST_P(NarrowTest, IsTheFloatResultRoundedOnce) {
  const Combination& c = GetParam();
  Handle handle(c.backend, 2);
  handle.contract(MLUOP_EXT_CONTRACT_EXTENDED);
  for (const Case& text : random_cases(c.op, 2, scaled(40))) Pair(text, c.dtype).compare(handle, c);
}

TEST_P(NarrowTest, OfExtremeNumbersToo) {
  const Combination& c = GetParam();
  Handle handle(c.backend, 2);
  handle.contract(MLUOP_EXT_CONTRACT_EXTENDED);
  for (const Case& text : random_cases(c.op, 3, scaled(6))) {
    const std::size_t inputs = make_problem(text, c.dtype).inputs.size();
    for (std::size_t i = 0; i < inputs; ++i) {
      for (const double factor : {0x1p-9, 0x1p9}) {
        Pair pair(text, c.dtype);
        if (pair.narrow.inputs[i]->dtype() != c.dtype) continue;
        pair.scale(i, factor);
        pair.compare(handle, c);
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, NarrowTest, ::testing::ValuesIn(narrow_combinations()), name_of);

}  // namespace
}  // namespace mluops::test
