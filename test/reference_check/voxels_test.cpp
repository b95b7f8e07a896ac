// Operators on voxels: examples worked out by hand, and the gradients of DynamicPointToVoxel.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "test/reference/dynamic_point_to_voxel.h"
#include "test/reference/voxelization.h"
#include "test/reference_check/central_difference.h"

namespace mluops {
namespace {

using reference::Values;
using test::central_difference;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// ---- dynamic_point_to_voxel ----

constexpr std::int32_t kPlaces[] = {1, 0, 0, 0, 2, 0, 1, 0, 0, -1, 3, 3};

mluopsDynamicPointToVoxelShape shape_of(mluOpReduceMode_t mode) {
  return {MLUOP_DTYPE_DOUBLE, 4, 1, 4, mode};
}
reference::DynamicPointToVoxelResult reduced(const Values& feats, mluOpReduceMode_t mode) {
  return reference::dynamic_point_to_voxel_forward(
      {shape_of(mode), feats.data(), kPlaces, nullptr, nullptr, nullptr, nullptr, nullptr});
}
Values gradient(const Values& grad, const Values& feats, const Values& voxel_feats, mluOpReduceMode_t mode) {
  const std::int32_t map[] = {1, 0, 1, -1}, counts[] = {1, 2, 0, 0}, voxels = 2;
  return reference::dynamic_point_to_voxel_backward(
      {shape_of(mode), grad.data(), feats.data(), voxel_feats.data(), map, counts, &voxels, nullptr});
}

TEST(DynamicPointToVoxelExample, VoxelsInOrderAndThePointsOfEach) {
  const Values feats = {5, 7, 9, 1};
  const auto r = reduced(feats, MLUOP_REDUCE_DMAX);
  EXPECT_EQ(r.coors, (Values{0, 2, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0}));
  EXPECT_EQ(r.map, (Values{1, 0, 1, -1}));
  EXPECT_EQ(r.counts, (Values{1, 2, 0, 0}));
  EXPECT_EQ(r.num, Values{2});
  EXPECT_EQ(r.feats, (Values{7, 9, 0, 0}));
  EXPECT_EQ(reduced(feats, MLUOP_REDUCE_DMEAN).feats, (Values{7, 7, 0, 0}));
  EXPECT_EQ(reduced(feats, MLUOP_REDUCE_DSUM).feats, (Values{7, 14, 0, 0}));
}

TEST(DynamicPointToVoxelExample, GradientsGoToTheFirstMaximumOrToAll) {
  const Values grad = {10, 20, 0, 0}, voxel_feats = {7, 9, 0, 0};
  EXPECT_EQ(gradient(grad, {5, 7, 9, 1}, voxel_feats, MLUOP_REDUCE_DMAX), (Values{0, 10, 20, 0}));
  EXPECT_EQ(gradient(grad, {9, 7, 9, 1}, voxel_feats, MLUOP_REDUCE_DMAX), (Values{20, 10, 0, 0}));
  EXPECT_EQ(gradient(grad, {5, 7, 9, 1}, voxel_feats, MLUOP_REDUCE_DMEAN), (Values{10, 10, 10, 0}));
  EXPECT_EQ(gradient(grad, {5, 7, 9, 1}, voxel_feats, MLUOP_REDUCE_DSUM), (Values{20, 10, 20, 0}));
}

TEST(DynamicPointToVoxelExample, AMaximumPassesOverNan) {
  EXPECT_EQ(reduced({std::nan(""), std::nan(""), 3, 1}, MLUOP_REDUCE_DMAX).feats, (Values{-kInfinity, 3, 0, 0}));
}

TEST(DynamicPointToVoxelGradient, IsTheDifferenceOfTheForwardFunction) {
  const Values weights = {2, 3, 0, 0};
  for (const mluOpReduceMode_t mode : {MLUOP_REDUCE_DSUM, MLUOP_REDUCE_DMEAN, MLUOP_REDUCE_DMAX}) {
    Values feats = {5, 7, 9, 1};
    const Values found = gradient(weights, feats, reduced(feats, mode).feats, mode);
    const auto loss = [&] {
      const Values output = reduced(feats, mode).feats;
      return weights[0] * output[0] + weights[1] * output[1];
    };
    for (std::size_t i = 0; i < feats.size(); ++i) {
      EXPECT_NEAR(central_difference(feats[i], 0.25, loss), found[i], 1e-12) << "mode " << mode << ", element " << i;
    }
  }
}

// ---- voxelization ----

const Values kSize = {1, 1, 1}, kRange = {0, 0, 0, 2, 2, 1};

reference::VoxelizationResult hard(const Values& points, std::int64_t max_points, std::int64_t max_voxels) {
  const auto n = static_cast<std::int64_t>(points.size() / 3);
  return reference::voxelization({{MLUOP_DTYPE_DOUBLE, n, 3, max_points, max_voxels},
                                  points.data(),
                                  kSize.data(),
                                  kRange.data(),
                                  nullptr,
                                  nullptr,
                                  nullptr,
                                  nullptr});
}
Values dynamic(const Values& points) {
  const auto n = static_cast<std::int64_t>(points.size() / 3);
  return reference::dynamic_voxelize(
      {{MLUOP_DTYPE_DOUBLE, n, 3, 0, 0}, points.data(), kSize.data(), kRange.data(), nullptr});
}

const Values kPoints = {0.5, 0.5, 0, 1.5, 0.5, 0, 0.2, 0.1, 0, 0.9, 0, 0, 3, 0, 0};

TEST(VoxelizationExample, FirstPointsOfVoxelsInTheOrderOfTheirFirstPoints) {
  const auto r = hard(kPoints, 2, 3);
  EXPECT_EQ(r.num, Values{2});
  EXPECT_EQ(r.coors, (Values{0, 0, 0, 0, 0, 1, 0, 0, 0}));
  EXPECT_EQ(r.counts, (Values{2, 1, 0}));
  EXPECT_EQ(r.voxels, (Values{0.5, 0.5, 0, 0.2, 0.1, 0, 1.5, 0.5, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}));
}

TEST(VoxelizationExample, AVoxelTooManyIsLeftOutAndPointsOfOthersAreNot) {
  const auto r = hard(kPoints, 3, 1);
  EXPECT_EQ(r.num, Values{1});
  EXPECT_EQ(r.counts, Values{3});
  EXPECT_EQ(r.voxels, (Values{0.5, 0.5, 0, 0.2, 0.1, 0, 0.9, 0, 0}));
}

TEST(VoxelizationExample, DynamicPlacesAreZYXAndMinusOneOutside) {
  EXPECT_EQ(dynamic(kPoints), (Values{0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, -1, -1, -1}));
  EXPECT_EQ(dynamic({1.5, 1, 0.25, -0.1, 0, 0, 0, 2, 0, 0, 0, std::nan("")}),
            (Values{0, 1, 1, -1, -1, -1, -1, -1, -1, -1, -1, -1}));
}

}  // namespace
}  // namespace mluops
