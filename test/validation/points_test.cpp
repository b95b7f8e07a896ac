// What the operators on points refuse.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "test/validation/op_call.h"

namespace mluops::test {
namespace {

std::function<void(OpCall&)> batch(std::int64_t n) {
  return [=](OpCall& c) {
    for (Arg& a : c.args) a.dims[0] = n;
  };
}

std::function<void(OpCall&)> dimension(const std::string& tensor, std::size_t axis, std::int64_t size) {
  return [=](OpCall& c) { c.arg(tensor).dims[axis] = size; };
}

CommonRules rules(std::vector<std::string> free_dims) {
  return {.free_dims = std::move(free_dims),
          .huge = batch(std::int64_t{1} << 30),
          .overflow = batch(std::int64_t{1} << 61)};
}

Wrong empty(const std::string& what, std::function<void(OpCall&)> change, const std::string& tensor) {
  return {what, std::move(change), MLUOP_STATUS_BAD_PARAM, tensor + ": wanted a non-empty tensor"};
}

Wrong nothing_to_do(const std::string& what, std::function<void(OpCall&)> change) {
  return {what, std::move(change), MLUOP_STATUS_SUCCESS, ""};
}

Wrong wide_indices(const std::string& tensor) {
  return {"idx int64", [=](OpCall& c) { c.arg(tensor).dtype = MLUOP_DTYPE_INT64; }, MLUOP_STATUS_BAD_PARAM,
          "idx: wanted dtype DTYPE_INT32, got DTYPE_INT64"};
}

TEST(PointsValidation, ThreeNN) {
  const OpCall base(Case::parse("three_nn_forward b=2 n=5 m=4"));
  check_table(base, common_wrongs(base, rules({"known:1"})));
  check_table(base, {wide_indices("idx"), empty("B = 0", batch(0), "unknown"),
                     nothing_to_do("M = 0", dimension("known", 1, 0))});
}

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

TEST(PointsValidation, BallQuery) {
  const OpCall base(Case::parse("ball_query b=2 m=5 n=7 s=4 max=1"));
  check_table(base, common_wrongs(base, rules({"xyz:1"})));
  const auto nothing_wanted = [](OpCall& c) {
    query(0, 1, 0)(c);
    c.arg("idx").dims[2] = 0;
  };
  check_table(base, {wide_indices("idx"),
                     empty("B = 0", batch(0), "new_xyz"),
                     nothing_to_do("N = 0", dimension("xyz", 1, 0)),
                     nothing_to_do("nothing wanted", nothing_wanted),
                     {"max NaN", query(0, NAN, 4), MLUOP_STATUS_BAD_PARAM, "max_radius: wanted >= 0"}});
}

TEST(PointsValidation, FurthestPointSample) {
  const OpCall base(Case::parse("furthest_point_sample b=2 n=7 m=4"));
  check_table(base, common_wrongs(base, rules({"points:1", "idx:1"})));
  check_table(base, {wide_indices("idx"), nothing_to_do("M = 0", dimension("idx", 1, 0)),
                     empty("N = 0", dimension("points", 1, 0), "points")});
}

TEST(PointsValidation, FurthestPointSampleWithDist) {
  const OpCall base(Case::parse("furthest_point_sample_with_dist b=2 n=7 m=4"));
  check_table(base, common_wrongs(base, rules({"idx:1"})));
  check_table(base, {wide_indices("idx"), nothing_to_do("M = 0", dimension("idx", 1, 0))});
}

/// Points, or groups of five of them.
OpCall gather(const std::string& op, bool grouped) {
  OpCall call(Case::parse(op + " b=2 c=3 n=7 m=4" + (grouped ? " s=5" : "")));
  if (grouped) call.function = op == "gather_points_forward" ? "mluOpExtGroupPoints" : "mluOpExtGroupPointsBackward";
  return call;
}

TEST(PointsValidation, GatherAndGroupForward) {
  for (const bool grouped : {false, true}) {
    const OpCall base = gather("gather_points_forward", grouped);
    check_table(base, common_wrongs(base, rules({"points:2"})));
    check_table(base, {wide_indices("idx"), nothing_to_do("B = 0", batch(0)),
                       empty("N = 0", dimension("points", 2, 0), "points"),
                       nothing_to_do("M = 0", [](OpCall& c) { c.arg("idx").dims[1] = c.arg("output").dims[2] = 0; })});
  }
}

TEST(PointsValidation, GatherAndGroupBackward) {
  for (const bool grouped : {false, true}) {
    const OpCall base = gather("gather_points_backward", grouped);
    check_table(base, common_wrongs(base, rules({"grad_points:2"})));
    check_table(base, {wide_indices("idx"), nothing_to_do("N = 0", dimension("grad_points", 2, 0)),
                       empty(
                           "M = 0", [](OpCall& c) { c.arg("idx").dims[1] = c.arg("grad_output").dims[2] = 0; },
                           "grad_output")});
  }
}

}  // namespace
}  // namespace mluops::test
