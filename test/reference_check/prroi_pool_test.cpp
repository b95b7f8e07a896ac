// PrRoIPool: the example of mmcv's tests, bins that can be told by hand, and gradients against central differences.
#include "test/reference/prroi_pool.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "test/cases/base/random.h"
#include "test/reference_check/central_difference.h"

namespace mluops {
namespace {

using cases::Random;
using reference::Values;
using test::central_difference;

const Values kMap = {1, 2, 5, 6, 3, 4, 7, 8, 9, 10, 13, 14, 11, 12, 15, 16};

Values forward(const Values& roi, std::int64_t bins, float scale = 1) {
  const auto rois = static_cast<std::int64_t>(roi.size() / 5);
  return reference::prroi_pool_forward({{MLUOP_DTYPE_DOUBLE, 1, 4, 4, 1, rois, bins, bins, scale},
                                        kMap.data(),
                                        roi.data(),
                                        nullptr,
                                        MLUOP_LAYOUT_NHWC,
                                        scale});
}

void expect_near(const Values& found, const Values& wanted) {
  ASSERT_EQ(found.size(), wanted.size());
  for (std::size_t i = 0; i < found.size(); ++i) EXPECT_NEAR(found[i], wanted[i], 1e-12) << "element " << i;
}

TEST(PrRoiPoolExamples, OfMmcv) {
  const Values roi = {0, 0, 0, 3, 3}, ones = {1, 1, 1, 1};
  expect_near(forward(roi, 2), {3.75, 83.0 / 12, 121.0 / 12, 13.25});
  expect_near(forward({0, 0, 0, 6, 6}, 2, 0.5f), {3.75, 83.0 / 12, 121.0 / 12, 13.25});
  const auto g = reference::prroi_pool_backward({{MLUOP_DTYPE_DOUBLE, 1, 4, 4, 1, 1, 2, 2, 1},
                                                 ones.data(),
                                                 kMap.data(),
                                                 roi.data(),
                                                 nullptr,
                                                 nullptr,
                                                 MLUOP_LAYOUT_NHWC,
                                                 1});
  const double ninth = 1.0 / 9;
  expect_near(g.input, {ninth, 2 * ninth, 2 * ninth, ninth, 2 * ninth, 4 * ninth, 4 * ninth, 2 * ninth, 2 * ninth,
                        4 * ninth, 4 * ninth, 2 * ninth, ninth, 2 * ninth, 2 * ninth, ninth});
  expect_near(g.rois, {0, 10.0 / 3, 20.0 / 3, 10.0 / 3, 20.0 / 3});
}

TEST(PrRoiPoolExamples, ByHand) {
  const double nan = std::nan(""), infinity = std::numeric_limits<double>::infinity();
  expect_near(forward({0, 0, 0, 1, 1}, 1), {(1 + 2 + 3 + 4) / 4.0});              // between four pixels
  expect_near(forward({0, -1, -1, 0, 0}, 1), {1.0 / 4});                          // a corner's hat
  expect_near(forward({0, -1000, -1000, 1000, 1000}, 1), {136 / 4e6});            // every hat whole
  expect_near(forward({0, 1.25, 1, 1.25 + 1e-3, 1 + 1e-3}, 1), {4.75 + 0.0045});  // a plane: its middle
  expect_near(forward({0, 2, 2, 2, 3, 0, 3, 0, 1, 2, 0, nan, 0, 1, 1, 0, 0, 0, 1, infinity, 0, 9, 9, 12, 12}, 1),
              {0, 0, 0, 0, 0});
}

TEST(PrRoiPoolExamples, Gradients) {
  Random random(3);
  for (int round = 0; round < 8; ++round) {
    const mluopsPrRoiPoolShape s = {MLUOP_DTYPE_DOUBLE, 2, 5, 6, 2, 3, 2, 3, 0.5f};
    Values input(2 * 5 * 6 * 2), rois, grad(3 * 2 * 3 * 2);
    for (double& v : input) v = random.real(-1, 1);
    for (double& v : grad) v = random.real(-1, 1);
    for (int r = 0; r < 3; ++r) {
      const double x = random.real(-4, 12), y = random.real(-4, 10);
      const Values roi = {static_cast<double>(r % 2), x, y, x + random.real(0.3, 9), y + random.real(0.3, 9)};
      rois.insert(rois.end(), roi.begin(), roi.end());
    }
    const auto loss = [&] {
      const Values output =
          reference::prroi_pool_forward({s, input.data(), rois.data(), nullptr, MLUOP_LAYOUT_NHWC, 0.5});
      double sum = 0;
      for (std::size_t i = 0; i < output.size(); ++i) sum += grad[i] * output[i];
      return sum;
    };
    const auto g = reference::prroi_pool_backward(
        {s, grad.data(), input.data(), rois.data(), nullptr, nullptr, MLUOP_LAYOUT_NHWC, 0.5});
    for (std::size_t i = 0; i < input.size(); ++i)
      ASSERT_NEAR(central_difference(input[i], 1, loss), g.input[i], 1e-12);
    for (std::size_t i = 0; i < rois.size(); ++i) {
      if (i % 5 == 0) continue;
      ASSERT_NEAR(central_difference(rois[i], 1e-5, loss), g.rois[i], 1e-8) << "number " << i;
    }
    for (std::size_t r = 0; r < 3; ++r) EXPECT_EQ(g.rois[5 * r], 0);
  }
}

}  // namespace
}  // namespace mluops
