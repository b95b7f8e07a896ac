// RoiPooling: examples of mmcv's tests and of the vendor's documentation, and the gradient against central differences.
#include "test/reference/roi_pool.h"

#include <gtest/gtest.h>

#include <cfloat>
#include <cmath>

#include "test/cases/base/random.h"
#include "test/reference_check/central_difference.h"

namespace mluops {
namespace {

using cases::Random;
using reference::Values;
using test::central_difference;

mluopsRoiPoolShape shape(std::int64_t h, std::int64_t w, std::int64_t bins) {
  return {MLUOP_DTYPE_DOUBLE, 1, h, w, 1, 1, bins, bins, 1.0f};
}

reference::RoiPoolResult forward(const mluopsRoiPoolShape& s, const Values& map, const Values& roi) {
  return reference::roi_pool_forward({s, map.data(), roi.data(), nullptr, nullptr, MLUOP_LAYOUT_NHWC, s.spatial_scale});
}

Values backward(const mluopsRoiPoolShape& s, const Values& grad, const Values& roi, const Values& argmax) {
  const std::vector<std::int32_t> pixels(argmax.begin(), argmax.end());
  return reference::roi_pool_backward(
      {s, grad.data(), roi.data(), pixels.data(), nullptr, MLUOP_LAYOUT_NHWC, s.spatial_scale});
}

TEST(RoiPoolExamples, OfMmcv) {
  const Values small = {0, 0, 0, 1, 1}, large = {0, 0, 0, 3, 3}, ones = {1, 1, 1, 1};
  EXPECT_EQ(forward(shape(2, 2, 2), {1, 2, 3, 4}, small).output, (Values{1, 2, 3, 4}));
  const Values map = {1, 2, 5, 6, 3, 4, 7, 8, 9, 10, 13, 14, 11, 12, 15, 16};
  const auto r = forward(shape(4, 4, 2), map, large);
  EXPECT_EQ(r.output, (Values{4, 8, 12, 16}));
  EXPECT_EQ(backward(shape(4, 4, 2), ones, large, r.argmax), (Values{0, 0, 0, 0, 0, 1, 0, 1, 0, 0, 0, 0, 0, 1, 0, 1}));
}

TEST(RoiPoolExamples, OfMluOps) {
  Values map(16);
  for (std::size_t i = 0; i < map.size(); ++i) map[i] = static_cast<double>(i + 1);
  const auto r = forward(shape(4, 4, 2), map, {0, 0, 0, 3, 3});
  EXPECT_EQ(r.output, (Values{6, 8, 14, 16}));
  EXPECT_EQ(r.argmax, (Values{5, 7, 13, 15}));
  const mluopsRoiPoolShape s = shape(4, 4, 2);
  EXPECT_EQ(backward(s, {1, 2, 3, 4}, {0, 0, 0, 2, 2}, {0, 2, 8, 10}),
            (Values{1, 0, 2, 0, 0, 0, 0, 0, 3, 0, 4, 0, 0, 0, 0, 0}));
}

// NaN is never the greatest, as in mmcv; the first of equals wins.
TEST(RoiPoolExamples, NotNumbersAndTies) {
  const double nan = std::nan("");
  const Values roi = {0, 0, 0, 1, 1};
  EXPECT_EQ(forward(shape(2, 2, 1), {1, 2, 3, nan}, roi).output, (Values{3}));
  EXPECT_EQ(forward(shape(2, 2, 1), {1, nan, 3, 4}, roi).argmax, (Values{3}));
  EXPECT_EQ(forward(shape(2, 2, 1), {5, 2, 5, 5}, roi).argmax, (Values{0}));
  const auto none = forward(shape(2, 2, 1), {nan, nan, nan, nan}, roi);
  EXPECT_EQ(none.output, (Values{-static_cast<double>(FLT_MAX)}));
  EXPECT_EQ(none.argmax, (Values{-1}));
}

TEST(RoiPoolExamples, BinsWithoutPixels) {
  const Values map = {1, 2, 3, 4};
  for (const Values& roi :
       {Values{0, 5, 5, 7, 7}, Values{0, 1, 0, 0, 1}, Values{0, 1, 0, -1, 1}, Values{0, std::nan(""), 0, 1, 1}}) {
    const auto r = forward(shape(2, 2, 1), map, roi);
    EXPECT_EQ(r.output, (Values{0}));
    EXPECT_EQ(r.argmax, (Values{-1}));
    EXPECT_EQ(backward(shape(2, 2, 1), {1}, roi, r.argmax), (Values{0, 0, 0, 0}));
  }
  EXPECT_EQ(forward(shape(2, 2, 1), map, {0, 1, 1, 1, 1}).output, (Values{4}));  // one pixel
}

TEST(RoiPoolGradient, Differences) {
  Random random(7);
  for (int round = 0; round < 20; ++round) {
    mluopsRoiPoolShape s = shape(random.integer(1, 5), random.integer(1, 6), random.integer(1, 3));
    s.c = 2;
    s.batch = 2;
    s.rois = 3;
    Values map(static_cast<std::size_t>(s.batch * s.h * s.w * s.c)), rois;
    Values grad(static_cast<std::size_t>(s.rois * s.pooled_h * s.pooled_w * s.c));
    for (double& v : map) v = random.real(-1, 1);
    for (double& v : grad) v = random.real(-1, 1);
    for (int r = 0; r < 3; ++r) {
      rois.insert(rois.end(),
                  {r % 2 + 0.0, random.real(-2, 3), random.real(-2, 3), random.real(2, 7), random.real(2, 7)});
    }
    const Values gradient = backward(s, grad, rois, forward(s, map, rois).argmax);
    const auto loss = [&] {
      const Values out = forward(s, map, rois).output;
      double sum = 0;
      for (std::size_t i = 0; i < out.size(); ++i) sum += out[i] * grad[i];
      return sum;
    };
    for (std::size_t i = 0; i < map.size(); ++i) {
      const double slope = central_difference(map[i], 1e-7, loss);
      ASSERT_NEAR(slope, gradient[i], 1e-6) << "round " << round << ", element " << i;
    }
  }
}

}  // namespace
}  // namespace mluops
