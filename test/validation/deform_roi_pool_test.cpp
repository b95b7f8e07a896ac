#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "test/validation/op_call.h"

namespace mluops::test {
namespace {

OpCall forward() {
  return OpCall(Case::parse("deform_roi_pool_forward b=2 h=5 w=6 c=4 r=3 ph=3 pw=2 scale=1 gamma=1"));
}

OpCall backward() {
  return OpCall(Case::parse("deform_roi_pool_backward b=2 h=5 w=6 c=4 r=3 ph=3 pw=2 scale=1 gamma=1"));
}

/// The batch index of the second RoI, which the check of the data reads.
std::function<void(OpCall&)> batch_index(float value) {
  return [=](OpCall& c) { std::memcpy(c.arg("rois").data.data() + 5 * sizeof value, &value, sizeof value); };
}

std::function<void(OpCall&)> dims(std::initializer_list<std::string> names, std::size_t axis, std::int64_t n) {
  const std::vector<std::string> list = names;
  return [=](OpCall& c) {
    for (Arg& a : c.args) {
      if (std::find(list.begin(), list.end(), a.name) != list.end()) a.dims[axis] = n;
    }
  };
}

std::function<void(OpCall&)> images(std::size_t axis, std::int64_t n) {
  return dims({"input", "grad_input"}, axis, n);
}

std::function<void(OpCall&)> absent(std::initializer_list<std::string> names) {
  const std::vector<std::string> list = names;
  return [=](OpCall& c) {
    for (const std::string& n : list) c.arg(n).no_desc = c.arg(n).no_data = true;
  };
}

CommonRules rules(std::vector<std::string> optional) {
  return {.optional = optional,
          .any_layout = {"rois", "offset", "grad_offset"},
          .free_dims = {"input:0", "input:1", "input:2"},
          .huge = images(0, std::int64_t{1} << 29),
          .overflow = images(0, std::int64_t{1} << 61)};
}

std::vector<Wrong> own_wrongs(const std::string& pooled) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  return {
      {"mixed dtypes", [](OpCall& c) { c.arg("rois").dtype = MLUOP_DTYPE_HALF; }, MLUOP_STATUS_BAD_PARAM,
       "rois: wanted the dtype of input"},
      {"batch index 2", batch_index(2), MLUOP_STATUS_BAD_PARAM, "rois: wanted batch index in [0, 1], got 2"},
      {"batch index -1", batch_index(-1), MLUOP_STATUS_BAD_PARAM, "in RoI 1"},
      {"batch index NaN", batch_index(nan), MLUOP_STATUS_BAD_PARAM, "rois: wanted batch index"},
      {"B = 0", images(0, 0), MLUOP_STATUS_BAD_PARAM, "input: wanted a non-empty tensor"},
      {"R = 0", dims({"rois", "offset", "grad_offset", pooled}, 0, 0), MLUOP_STATUS_BAD_PARAM,
       "rois: wanted a non-empty tensor"},
      {"C = 0", dims({"input", "grad_input", pooled}, 3, 0), MLUOP_STATUS_BAD_PARAM, pooled},
      {"H = 0", images(1, 0), MLUOP_STATUS_SUCCESS, ""},
      {"W = 0", images(2, 0), MLUOP_STATUS_SUCCESS, ""},
  };
}

TEST(DeformRoiPoolValidation, Forward) {
  const OpCall base = forward();
  check_table(base, common_wrongs(base, rules({"offset"})));
  check_table(base, own_wrongs("output"));
}

TEST(DeformRoiPoolValidation, Backward) {
  const OpCall base = backward();
  CommonRules r = rules({"offset", "grad_offset"});
  r.free_dims.clear();
  check_table(base, common_wrongs(base, r));
  check_table(base, own_wrongs("grad_output"));
  check_table(base, {{"offset without grad_offset", absent({"grad_offset"}), MLUOP_STATUS_BAD_PARAM,
                      "grad_offset: wanted it exactly when offset is given, got only offset"},
                     {"grad_offset without offset", absent({"offset"}), MLUOP_STATUS_BAD_PARAM,
                      "grad_offset: wanted it exactly when offset is given, got only grad_offset"}});
}

TEST(DeformRoiPoolValidation, OffsetMayBeAbsent) {
  OpCall fwd = forward();
  absent({"offset"})(fwd);
  EXPECT_EQ(fwd.make(), MLUOP_STATUS_SUCCESS) << mluOpExtGetLastErrorText();
  OpCall bwd = backward();
  absent({"offset", "grad_offset"})(bwd);
  EXPECT_EQ(bwd.make(), MLUOP_STATUS_SUCCESS) << mluOpExtGetLastErrorText();
}

}  // namespace
}  // namespace mluops::test
