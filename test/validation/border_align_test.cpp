// What BorderAlign refuses beyond what its description tells.
#include <gtest/gtest.h>

#include "test/validation/op_call.h"

namespace mluops::test {
namespace {

/// By hand: the arguments of the smallest case would come from a forward call with as many points.
TEST(BorderAlignValidation, BackwardOfTooManyPoints) {
  check_table(OpCall(Case::parse("border_align_backward n=2 h=4 w=5 c=3 k=7 p=2 argmax=uniform")),
              {{"65536 points a border", [](OpCall& c) { c.set("p", 65536); }, MLUOP_STATUS_NOT_SUPPORTED,
                "pool_size: wanted fewer than 65536, got 65536"}});
}

TEST(BorderAlignValidation, NoChannels) {
  const OpCall base(Case::parse("border_align_forward n=2 h=4 w=5 c=3 k=7 p=2"));
  check_table(base, {{"C = 0",
                      [](OpCall& c) {
                        for (Arg& a : c.args) {
                          if (a.name != "boxes") a.dims[3] = 0;
                        }
                      },
                      MLUOP_STATUS_BAD_PARAM, "input: wanted a non-empty tensor"}});
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
