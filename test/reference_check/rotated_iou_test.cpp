// RotatedIou: examples worked out by hand, and gradients by differences.
#include "test/reference/rotated_iou.h"

#include <gtest/gtest.h>

#include <cmath>
#include <utility>

#include "test/cases/base/fill.h"
#include "test/reference_check/central_difference.h"

namespace mluops {
namespace {

using reference::Values;

Values ious(const Values& a, const Values& b, std::int64_t numbers) {
  const auto count = static_cast<std::int64_t>(a.size()) / numbers;
  return reference::rotated_iou_forward({{MLUOP_DTYPE_DOUBLE, count, numbers}, a.data(), b.data(), nullptr});
}

void expect_ious(const Values& a, const Values& b, std::int64_t numbers, const Values& wanted) {
  const Values found = ious(a, b, numbers);
  ASSERT_EQ(found.size(), wanted.size());
  for (std::size_t i = 0; i < found.size(); ++i) EXPECT_NEAR(found[i], wanted[i], 1e-14) << i;
}

/// The gradient of one pair: whatever the two boxes are, central differences see the mean of both directions.
void expect_gradients(Values a, Values b) {
  const auto numbers = static_cast<std::int64_t>(a.size());
  const double one = 1;
  const auto found =
      reference::rotated_iou_backward({{MLUOP_DTYPE_DOUBLE, 1, numbers}, &one, a.data(), b.data(), nullptr, nullptr});
  for (const auto& [gradient, box] : {std::pair{&found.box1, &a}, {&found.box2, &b}}) {
    for (std::size_t k = 0; k < box->size(); ++k) {
      EXPECT_NEAR((*gradient)[k], test::central_difference((*box)[k], 1e-6, [&] { return ious(a, b, numbers)[0]; }),
                  2e-6)
          << k;
    }
  }
}

TEST(RotatedIouExample, Rectangles) {
  const double octagon = 8 * (std::sqrt(2.0) - 1), pi = std::acos(-1.0);
  expect_ious({0, 0, 2, 2, 0, 0, 0, 1, 1, 0.5, 0, 0, 2, 2, 0, 5, 5, 1, 1, 0.3, 0, 0, 4, 4, 0},
              {1, 1, 2, 2, 0, 0, 0, 1, 1, 0.5, 0, 0, 2, 2, pi / 4, 0, 0, 1, 1, 0.1, 1, 1, 2, 2, pi / 2}, 5,
              {1.0 / 7, 1, octagon / (8 - octagon), 0, 0.25});
}

TEST(RotatedIouExample, Boxes) {
  expect_ious({0, 0, 0, 2, 2, 2, 0, 0, 0, 0, 2, 2, 2, 0, 0, 0, 0, 2, 2, 2, 0},
              {1, 1, 1, 2, 2, 2, 0, 0, 0, 2, 2, 2, 2, 0, 0, 0, 0.5, 2, 2, 1, 0}, 7, {1.0 / 15, 0, 0.5});
}

TEST(RotatedIouExample, NoSizeSizesBelowZeroAndNotFinite) {
  const double nan = std::nan(""), infinity = INFINITY;
  expect_ious({0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, -2, -2, 0, 0, 0, -2, 2, 0, nan, 0, 2, 2, 0, 0, 0, infinity, 2, 0},
              {0, 0, 0, 0, 0, 0, 0, 2, 2, 0, 1, 1, 2, 2, 0, 0, 0, 2, 2, 0, 0, 0, 2, 2, 0, 0, 0, 2, 2, 0}, 5,
              {0, 0, 1.0 / 7, 0, 0, 0});
}

TEST(RotatedIouExample, GradientsByDifferences) {
  const cases::Fill unit = cases::uniform(0, 1, 7);
  int meet = 0;
  for (std::int64_t pair = 0; pair < 40; ++pair) {
    Values boxes[2];
    for (std::int64_t i = 0; i < 14; ++i) boxes[i / 7].push_back(0.3 + unit(pair * 14 + i));
    meet += ious(boxes[0], boxes[1], 7)[0] > 0;
    expect_gradients(boxes[0], boxes[1]);
  }
  EXPECT_GT(meet, 20);
}

TEST(RotatedIouExample, GradientsWhereSidesLieOnEachOther) {
  const double pi = std::acos(-1.0);
  expect_gradients({1, 2, 3, 2, 0.3}, {1, 2, 3, 2, 0.3});
  expect_gradients({1, 2, 3, 2, 0.3}, {1, 2, 2, 3, 0.3 + pi / 2});
  expect_gradients({0, 0, 2, 2, 0}, {0, 0, 2, 4, 0});
  expect_gradients({0, 0, 2, 2, 0}, {1, 0, 2, 2, pi});
  expect_gradients({0, 0, 2, 2, 0}, {2, 0, 2, 2, 0});
  expect_gradients({0, 0, -2, 2, 0}, {0.5, 0, 2, -3, 0.4});
  expect_gradients({0, 0, 0, 4, 4, 2, 0}, {1, 1, 0, 2, 2, 2, 0});
  expect_gradients({0, 0, 0, 4, 4, 2, 0}, {1, 0, 2, 2, 2, 2, 1});
}

}  // namespace
}  // namespace mluops
