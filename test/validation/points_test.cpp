// What the operators on points refuse beyond what their descriptions tell.
#include <gtest/gtest.h>

#include <string>

#include "test/validation/described.h"

namespace mluops::test {
namespace {

TEST(PointsValidation, ThreeNNWorkspaceHasToBeThere) {
  OpCall base(Case::parse("three_nn_forward b=2 n=5 m=4"));
  base.call = [](mluOpHandle_t handle, const Arguments& t) {
    return mluOpThreeNNForward(handle, t[0].desc, t[0].data, t[1].desc, t[1].data, nullptr, 16, t[2].desc, t[2].data,
                               t[3].desc, t[3].data);
  };
  EXPECT_EQ(base.make(), MLUOP_STATUS_BAD_PARAM);
  EXPECT_NE(std::string(mluOpExtGetLastErrorText()).find("workspace: wanted a pointer, got NULL"), std::string::npos);
  EXPECT_FALSE(base.outputs_touched());
}

TEST(PointsValidation, ThreeNNWorkspaceHoldsTheKnownPoints) {
  mluOpHandle_t handle = nullptr;
  mluOpTensorDescriptor_t known = nullptr;
  ASSERT_EQ(mluOpCreate(&handle), MLUOP_STATUS_SUCCESS);
  ASSERT_EQ(mluOpCreateTensorDescriptor(&known), MLUOP_STATUS_SUCCESS);
  const int dims[] = {2, 7, 3};
  ASSERT_EQ(mluOpSetTensorDescriptor(known, MLUOP_LAYOUT_ARRAY, MLUOP_DTYPE_HALF, 3, dims), MLUOP_STATUS_SUCCESS);
  std::size_t size = 1;
  EXPECT_EQ(mluOpGetThreeNNForwardWorkspaceSize(handle, known, &size), MLUOP_STATUS_SUCCESS);
  EXPECT_EQ(size, 2u * 7 * 3 * 2);
  EXPECT_EQ(mluOpGetThreeNNForwardWorkspaceSize(nullptr, known, &size), MLUOP_STATUS_BAD_PARAM);
  EXPECT_EQ(mluOpGetThreeNNForwardWorkspaceSize(handle, nullptr, &size), MLUOP_STATUS_BAD_PARAM);
  EXPECT_EQ(mluOpGetThreeNNForwardWorkspaceSize(handle, known, nullptr), MLUOP_STATUS_BAD_PARAM);
  ASSERT_EQ(mluOpSetTensorDescriptor(known, MLUOP_LAYOUT_ARRAY, MLUOP_DTYPE_HALF, 2, dims), MLUOP_STATUS_SUCCESS);
  EXPECT_EQ(mluOpGetThreeNNForwardWorkspaceSize(handle, known, &size), MLUOP_STATUS_BAD_PARAM);
  mluOpDestroyTensorDescriptor(known);
  mluOpDestroy(handle);
}

/// The call with other radii and another number of points.
std::function<void(OpCall&)> query(float low, float high, int nsample) {
  return [=](OpCall& c) {
    c.call = [=](mluOpHandle_t handle, const Arguments& t) {
      return mluOpBallQuery(handle, t[0].desc, t[0].data, t[1].desc, t[1].data, low, high, nsample, t[2].desc,
                            t[2].data);
    };
  };
}

TEST(PointsValidation, BallQueryOfNoPointsWanted) {
  check_table(OpCall(Case::parse("ball_query b=2 m=5 n=7 s=4 max=1")), {{"nothing wanted",
                                                                         [](OpCall& c) {
                                                                           query(0, 1, 0)(c);
                                                                           c.arg("idx").dims[2] = 0;
                                                                         },
                                                                         MLUOP_STATUS_SUCCESS, ""}});
}

/// A case with groups is a call of another C function.
TEST(PointsValidation, Groups) {
  for (const std::string op : {"forward", "backward"}) {
    OpCall call(Case::parse("gather_points_" + op + " b=2 c=3 n=7 m=4 s=5"));
    call.function = op == "forward" ? "mluOpExtGroupPoints" : "mluOpExtGroupPointsBackward";
    check_table(call, described(call));
  }
}

}  // namespace
}  // namespace mluops::test
