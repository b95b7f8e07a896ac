// RotatedFeatureAlign: examples worked out by hand, finite differences.
#include "test/reference/rotated_feature_align.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "test/reference_check/central_difference.h"

namespace mluops {
namespace {

using reference::Values;
using test::central_difference;

const double kRightAngle = std::acos(0.0);

// What is added to each pixel of the map 1 2 / 3 4, all of whose boxes are `box`.
Values added(const Values& box, int points, double scale = 1) {
  const Values map = {1, 2, 3, 4};
  Values boxes;
  for (int i = 0; i < 4; ++i) boxes.insert(boxes.end(), box.begin(), box.end());
  const mluopsRotatedFeatureAlignShape s{MLUOP_DTYPE_DOUBLE, 1, 2, 2, 1, static_cast<float>(scale), points};
  Values output =
      reference::rotated_feature_align_forward({s, map.data(), boxes.data(), nullptr, MLUOP_LAYOUT_NHWC, scale});
  for (std::size_t i = 0; i < 4; ++i) output[i] -= map[i];
  return output;
}

void expect_all(const Values& found, double wanted) {
  ASSERT_EQ(found.size(), 4u);
  for (const double value : found) EXPECT_NEAR(value, wanted, 1e-12);
}

TEST(RotatedFeatureAlignExample, TheCentre) {
  expect_all(added({0, 0, 9, 9, 1}, 1), 1);
  expect_all(added({0, 1, 9, 9, 1}, 1), 2);
  expect_all(added({1, 1, 9, 9, 1}, 1, 0.5), 2.5);
  expect_all(added({-1, 2, 9, 9, 1}, 1), 2);  // up to a pixel off the map it is the border
  expect_all(added({-1.25, 0, 9, 9, 1}, 1), 0);
  expect_all(added({std::nan(""), 0, 9, 9, 1}, 1), 0);
}

TEST(RotatedFeatureAlignExample, TheCorners) {
  expect_all(added({0.5, 0.5, 1, 1, 0}, 5), 2.5 + 10);
  expect_all(added({0, 0.5, 1, 0, 0}, 5), 1.5 + 2 * (1 + 2));
  expect_all(added({0.5, 0, 1, 0, kRightAngle}, 5), 2 + 2 * (1 + 3));  // the width is along y now
  expect_all(added({0, 0, 20, 20, 0}, 5), 1);
  expect_all(added({0, 1, std::numeric_limits<double>::infinity(), 1, 0}, 5), 2);
}

TEST(RotatedFeatureAlignGradient, IsThatOfDifferences) {
  const Values boxes = {0.3, 0.2, 1, 2, 0.5, 1.2, 0.1, 0.7, 0.4, -1, 0.6, 1.1, 2.2, 0.3, 2, 0, 0.9, 3, 3, 0.1};
  const Values grads = {1, -2, 3, 0.5};
  const mluopsRotatedFeatureAlignShape s{MLUOP_DTYPE_DOUBLE, 1, 2, 2, 1, 1.0f, 5};
  const Values found =
      reference::rotated_feature_align_backward({s, grads.data(), boxes.data(), nullptr, MLUOP_LAYOUT_NHWC, 1.0});
  Values map = {1, 2, 3, 4};
  const auto loss = [&]() {
    const Values output =
        reference::rotated_feature_align_forward({s, map.data(), boxes.data(), nullptr, MLUOP_LAYOUT_NHWC, 1.0});
    double sum = 0;
    for (std::size_t i = 0; i < output.size(); ++i) sum += output[i] * grads[i];
    return sum;
  };
  for (std::size_t i = 0; i < map.size(); ++i) EXPECT_NEAR(found[i], central_difference(map[i], 1e-3, loss), 1e-9) << i;
}

}  // namespace
}  // namespace mluops
