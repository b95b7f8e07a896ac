// Functions the vendor has under two spellings do the same.
#include <gtest/gtest.h>

#include <type_traits>
#include <vector>

#include "mlu_op_ext.h"
#include "test/support/tensor.h"

namespace mluops::test {
namespace {

static_assert(std::is_same_v<decltype(mluOpRoiawarePool3dForward), decltype(mluOpRoiAwarePool3dForward)>);
static_assert(std::is_same_v<decltype(mluOpRoiawarePool3dBackward), decltype(mluOpRoiAwarePool3dBackward)>);

constexpr std::int64_t kBoxes = 2, kPoints = 4, kChannels = 3, kSide = 2, kMost = 5;
constexpr int kMean = 1;

/// Two unit boxes, three points in the first, one in the second.
class RoiAwarePool3d : public ::testing::Test {
 protected:
  RoiAwarePool3d() {
    rois_.fill({0, 0, 0, 1, 1, 1, 0, 5, 5, 5, 1, 1, 1, 0});
    points_.fill({.1, .1, .1, .2, .2, .2, -.3, .3, .9, 5.1, 5.1, 5.1});
    features_.fill({1, 2, 3, 5, 8, 13, 21, 34, 55, 89, 144, 233});
  }
  void SetUp() override { ASSERT_EQ(mluOpCreate(&handle_), MLUOP_STATUS_SUCCESS); }
  void TearDown() override { mluOpDestroy(handle_); }

  std::vector<unsigned char> forward(decltype(&mluOpRoiAwarePool3dForward) function) {
    EXPECT_EQ(function(handle_, kMean, kBoxes, kPoints, kChannels, rois_.desc(), rois_.data(), points_.desc(),
                       points_.data(), features_.desc(), features_.data(), nullptr, 0, kMost, kSide, kSide, kSide,
                       argmax_.desc(), argmax_.data(), voxels_.desc(), voxels_.data(), pooled_.desc(), pooled_.data()),
              MLUOP_STATUS_SUCCESS);
    return pooled_.bytes();
  }
  std::vector<unsigned char> backward(decltype(&mluOpRoiAwarePool3dBackward) function) {
    EXPECT_EQ(function(handle_, kMean, kBoxes, kSide, kSide, kSide, kChannels, kMost, voxels_.desc(), voxels_.data(),
                       argmax_.desc(), argmax_.data(), pooled_.desc(), pooled_.data(), grad_.desc(), grad_.data()),
              MLUOP_STATUS_SUCCESS);
    return grad_.bytes();
  }

  mluOpHandle_t handle_ = nullptr;
  const mluOpTensorLayout_t array_ = MLUOP_LAYOUT_ARRAY;
  Tensor rois_{"rois", array_, MLUOP_DTYPE_FLOAT, {kBoxes, 7}}, points_{"pts", array_, MLUOP_DTYPE_FLOAT, {kPoints, 3}},
      features_{"pts_feature", array_, MLUOP_DTYPE_FLOAT, {kPoints, kChannels}},
      argmax_{"argmax", array_, MLUOP_DTYPE_INT32, {kBoxes, kSide, kSide, kSide, kChannels}},
      voxels_{"pts_idx_of_voxels", array_, MLUOP_DTYPE_INT32, {kBoxes, kSide, kSide, kSide, kMost}},
      pooled_{"pooled_features", array_, MLUOP_DTYPE_FLOAT, {kBoxes, kSide, kSide, kSide, kChannels}},
      grad_{"grad_in", array_, MLUOP_DTYPE_FLOAT, {kPoints, kChannels}};
};

TEST_F(RoiAwarePool3d, OlderSpellingDoesTheSame) {
  std::size_t older = 1, newer = 2;
  EXPECT_EQ(mluOpGetRoiawarePool3dForwardWorkspaceSize(handle_, rois_.desc(), points_.desc(), features_.desc(), &older),
            MLUOP_STATUS_SUCCESS);
  EXPECT_EQ(mluOpGetRoiAwarePool3dForwardWorkspaceSize(handle_, rois_.desc(), points_.desc(), features_.desc(), &newer),
            MLUOP_STATUS_SUCCESS);
  EXPECT_EQ(older, newer);
  const std::vector<unsigned char> pooled = forward(mluOpRoiAwarePool3dForward);
  pooled_.fill(reference::Values(static_cast<std::size_t>(pooled_.count()), -1));
  EXPECT_EQ(forward(mluOpRoiawarePool3dForward), pooled);
  const std::vector<unsigned char> gradient = backward(mluOpRoiAwarePool3dBackward);
  grad_.fill(reference::Values(static_cast<std::size_t>(grad_.count()), -1));
  EXPECT_EQ(backward(mluOpRoiawarePool3dBackward), gradient);
  EXPECT_EQ(mluOpGetRoiawarePool3dForwardWorkspaceSize(nullptr, rois_.desc(), points_.desc(), features_.desc(), &older),
            MLUOP_STATUS_BAD_PARAM);
}

}  // namespace
}  // namespace mluops::test
