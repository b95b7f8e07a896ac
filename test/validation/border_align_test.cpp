#include <gtest/gtest.h>

#include "test/validation/op_call.h"

namespace mluops::test {
namespace {

OpCall forward() {
  return OpCall(Case::parse("border_align_forward n=2 h=4 w=5 c=3 k=7 p=2"));
}

OpCall backward() {
  return OpCall(Case::parse("border_align_backward n=2 h=4 w=5 c=3 k=7 p=2 argmax=uniform"));
}

std::function<void(OpCall&)> batch(std::int64_t n) {
  return [=](OpCall& c) {
    for (Arg& a : c.args) a.dims[0] = n;
  };
}

CommonRules rules(const std::string& map) {
  // The map's height and width are free: any number of boxes is taken.
  return {.any_layout = {"boxes"},
          .free_dims = {map + ":1", map + ":2"},
          .huge = batch(std::int64_t{1} << 27),
          .overflow = batch(std::int64_t{1} << 61)};
}

std::vector<Wrong> own_wrongs(const std::string& map) {
  const auto dims = [](const std::string& name, std::size_t axis, std::int64_t n) {
    return [=](OpCall& c) { c.arg(name).dims[axis] = n; };
  };
  return {
      {"65536 points a border", [](OpCall& c) { c.set("p", 65536); }, MLUOP_STATUS_NOT_SUPPORTED,
       "pool_size: wanted fewer than 65536, got 65536"},
      {"boxes half", [](OpCall& c) { c.arg("boxes").dtype = MLUOP_DTYPE_HALF; }, MLUOP_STATUS_BAD_PARAM,
       "boxes: wanted the dtype of"},
      {"argmax float", [](OpCall& c) { c.arg("argmax_idx").dtype = MLUOP_DTYPE_FLOAT; }, MLUOP_STATUS_BAD_PARAM,
       "argmax_idx: wanted dtype DTYPE_INT32"},
      {"channels not divisible by 4", dims(map, 3, 10), MLUOP_STATUS_BAD_PARAM,
       map + ": wanted channels divisible by 4 (borders), got 10"},
      {"N = 0", batch(0), MLUOP_STATUS_BAD_PARAM, "wanted a non-empty tensor"},
      {"H = 0", dims(map, 1, 0), MLUOP_STATUS_BAD_PARAM, map + ": wanted a non-empty tensor"},
      {"W = 0", dims(map, 2, 0), MLUOP_STATUS_BAD_PARAM, map + ": wanted a non-empty tensor"},
      {"C = 0",
       [=](OpCall& c) {
         for (Arg& a : c.args) {
           if (a.name != "boxes") a.dims[3] = 0;
         }
       },
       MLUOP_STATUS_BAD_PARAM, map + ": wanted a non-empty tensor"},
      {"K = 0",
       [=](OpCall& c) {
         for (Arg& a : c.args) {
           if (a.name != map) a.dims[1] = 0;
         }
       },
       MLUOP_STATUS_BAD_PARAM, "boxes: wanted a non-empty tensor"},
  };
}

TEST(BorderAlignValidation, Forward) {
  const OpCall base = forward();
  check_table(base, common_wrongs(base, rules("input")));
  check_table(base, own_wrongs("input"));
}

TEST(BorderAlignValidation, Backward) {
  const OpCall base = backward();
  check_table(base, common_wrongs(base, rules("grad_input")));
  check_table(base, own_wrongs("grad_input"));
}

// One descriptor object for two arguments is legal as long as it fits both.
TEST(BorderAlignValidation, ASharedDescriptorOfTheWrongRankIsRefused) {
  mluOpHandle_t handle = nullptr;
  ASSERT_EQ(mluOpCreate(&handle), MLUOP_STATUS_SUCCESS);
  mluOpTensorDescriptor_t three = nullptr;
  ASSERT_EQ(mluOpCreateTensorDescriptor(&three), MLUOP_STATUS_SUCCESS);
  const int dims[] = {2, 7, 4};
  ASSERT_EQ(mluOpSetTensorDescriptor(three, MLUOP_LAYOUT_NHWC, MLUOP_DTYPE_FLOAT, 3, dims), MLUOP_STATUS_SUCCESS);
  float memory[4] = {};
  EXPECT_EQ(mluOpBorderAlignForward(handle, three, memory, three, memory, 1, three, memory, three, memory),
            MLUOP_STATUS_BAD_PARAM);
  EXPECT_STREQ(mluOpExtGetLastErrorText(), "mluOpBorderAlignForward: input: wanted 4 dimensions, got 3 [2, 7, 4]");
  EXPECT_EQ(mluOpDestroyTensorDescriptor(three), MLUOP_STATUS_SUCCESS);
  EXPECT_EQ(mluOpDestroy(handle), MLUOP_STATUS_SUCCESS);
}

}  // namespace
}  // namespace mluops::test
