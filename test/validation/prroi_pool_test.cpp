// What PrRoIPool refuses beyond what all operators do.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <string>

#include "test/validation/op_call.h"

namespace mluops::test {
namespace {

OpCall forward() {
  return OpCall(Case::parse("prroi_pool_forward b=2 h=6 w=7 c=5 r=4 ph=2 pw=3 scale=1 rois=inside"));
}

OpCall backward() {
  return OpCall(Case::parse("prroi_pool_backward b=2 h=6 w=7 c=5 r=4 ph=2 pw=3 scale=1 rois=inside"));
}

std::function<void(OpCall&)> dim(std::vector<std::string> names, std::size_t axis, std::int64_t n) {
  return [=](OpCall& c) {
    for (Arg& a : c.args) {
      if (std::find(names.begin(), names.end(), a.name) != names.end()) a.dims[axis] = n;
    }
  };
}

CommonRules rules(const std::string& bins) {
  const std::vector<std::string> of_rois = {"rois", "grad_rois", bins};
  return {.optional = {"grad_input", "grad_rois"},
          .free_dims = {"input:0", "input:1", "input:2", bins + ":1", bins + ":2"},
          .huge = dim(of_rois, 0, std::int64_t{1} << 30),
          .overflow = dim(of_rois, 0, std::int64_t{1} << 61)};
}

std::vector<Wrong> own_wrongs(const std::string& bins) {
  const auto batch_index = [](float value) {
    return [=](OpCall& c) { std::memcpy(c.arg("rois").data.data() + 5 * sizeof value, &value, sizeof value); };
  };
  const std::vector<std::string> maps = {"input", "grad_input"};
  return {{"batch index 2", batch_index(2), MLUOP_STATUS_BAD_PARAM, "rois: wanted batch index in [0, 1]"},
          {"batch index -1", batch_index(-1), MLUOP_STATUS_BAD_PARAM, "rois: wanted batch index"},
          {"batch index NaN", batch_index(std::nanf("")), MLUOP_STATUS_BAD_PARAM, "rois: wanted batch index"},
          {"no rows of bins", dim({bins}, 1, 0), MLUOP_STATUS_BAD_PARAM, bins + ": wanted height and width >= 1"},
          {"no columns of bins", dim({bins}, 2, 0), MLUOP_STATUS_BAD_PARAM, bins + ": wanted height and width >= 1"},
          {"no pixels", dim(maps, 1, 0), MLUOP_STATUS_SUCCESS, ""},
          {"NCHW under STRICT", [=](OpCall& c) { c.arg("input").layout = MLUOP_LAYOUT_NCHW; }, MLUOP_STATUS_BAD_PARAM,
           "input: wanted layout LAYOUT_NHWC"}};
}

TEST(PrRoiPoolValidation, Forward) {
  const OpCall base = forward();
  check_table(base, common_wrongs(base, rules("output")));
  check_table(base, own_wrongs("output"));
  check_table(base, {{"no RoIs", dim({"rois", "output"}, 0, 0), MLUOP_STATUS_SUCCESS, ""}});
}

TEST(PrRoiPoolValidation, Backward) {
  const OpCall base = backward();
  check_table(base, common_wrongs(base, rules("grad_output")));
  check_table(base, own_wrongs("grad_output"));
  const auto without = [](std::vector<std::string> names) {
    return [=](OpCall& c) {
      for (const std::string& name : names) c.arg(name).no_desc = c.arg(name).no_data = true;
    };
  };
  check_table(base, {{"no gradient", without({"grad_input", "grad_rois"}), MLUOP_STATUS_BAD_PARAM,
                      "grad_input: wanted it or grad_rois, got neither"}});
}

}  // namespace
}  // namespace mluops::test
