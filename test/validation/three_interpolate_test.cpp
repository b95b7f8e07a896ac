#include <gtest/gtest.h>

#include "test/validation/op_call.h"

namespace mluops::test {
namespace {

OpCall forward() {
  return OpCall(Case::parse("three_interpolate_forward b=2 c=3 m=5 n=4"));
}

OpCall backward() {
  return OpCall(Case::parse("three_interpolate_backward b=2 c=3 m=5 n=4"));
}

std::function<void(OpCall&)> batch(std::int64_t n) {
  return [=](OpCall& c) {
    for (Arg& a : c.args) a.dims[0] = n;
  };
}

std::function<void(OpCall&)> points(const std::string& tensor, std::int64_t n) {
  return [=](OpCall& c) { c.arg("indices").dims[1] = c.arg("weights").dims[1] = c.arg(tensor).dims[2] = n; };
}

std::function<void(OpCall&)> channels(std::int64_t n) {
  return [=](OpCall& c) {
    for (Arg& a : c.args) {
      if (a.name != "indices" && a.name != "weights") a.dims[1] = n;
    }
  };
}

CommonRules rules(const std::string& known) {
  // M is free: nothing else has it.
  return {.free_dims = {known + ":2"}, .huge = batch(std::int64_t{1} << 29), .overflow = batch(std::int64_t{1} << 61)};
}

std::vector<Wrong> own_wrongs(const std::string& known, const std::string& at_points) {
  return {
      {"mixed dtypes", [](OpCall& c) { c.arg("weights").dtype = MLUOP_DTYPE_HALF; }, MLUOP_STATUS_BAD_PARAM,
       "weights: wanted the dtype of"},
      {"indices int64", [](OpCall& c) { c.arg("indices").dtype = MLUOP_DTYPE_INT64; }, MLUOP_STATUS_BAD_PARAM,
       "indices: wanted dtype DTYPE_INT32, got DTYPE_INT64"},
      {"B = 0", batch(0), MLUOP_STATUS_BAD_PARAM, "wanted a non-empty tensor"},
      {"C = 0", channels(0), MLUOP_STATUS_BAD_PARAM, "wanted a non-empty tensor"},
      {"N = 0", points(at_points, 0), MLUOP_STATUS_BAD_PARAM, "wanted a non-empty tensor"},
      {"everything 0",
       [=](OpCall& c) {
         batch(0)(c);
         channels(0)(c);
         points(at_points, 0)(c);
         c.arg(known).dims[2] = 0;
       },
       MLUOP_STATUS_BAD_PARAM, "wanted a non-empty tensor"},
  };
}

TEST(ThreeInterpolateValidation, Forward) {
  const OpCall base = forward();
  check_table(base, common_wrongs(base, rules("features")));
  check_table(base, own_wrongs("features", "output"));
  check_table(base, {{"M = 0", [](OpCall& c) { c.arg("features").dims[2] = 0; }, MLUOP_STATUS_SUCCESS, ""}});
}

TEST(ThreeInterpolateValidation, Backward) {
  const OpCall base = backward();
  check_table(base, common_wrongs(base, rules("grad_features")));
  check_table(base, own_wrongs("grad_features", "grad_output"));
  check_table(base, {{"M = 0", [](OpCall& c) { c.arg("grad_features").dims[2] = 0; }, MLUOP_STATUS_BAD_PARAM,
                      "grad_features: wanted a non-empty tensor"}});
}

}  // namespace
}  // namespace mluops::test
