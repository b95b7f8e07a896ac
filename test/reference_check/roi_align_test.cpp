// RoiAlign: examples worked by hand, and the gradient against central differences.
#include "test/reference/roi_align.h"

#include <gtest/gtest.h>

#include <cmath>

#include "test/cases/base/random.h"
#include "test/reference_check/central_difference.h"

namespace mluops {
namespace {

using cases::Random;
using reference::Values;
using test::central_difference;

mluopsRoiAlignShape shape(std::int64_t h, std::int64_t w, std::int64_t bins, int ratio, int aligned, int mean) {
  return {MLUOP_DTYPE_DOUBLE, 1, h, w, 1, 1, bins, bins, 1.0f, ratio, aligned, mean};
}

Values forward(const mluopsRoiAlignShape& s, const Values& map, const Values& roi) {
  return reference::roi_align_forward(
             {s, map.data(), roi.data(), nullptr, nullptr, nullptr, MLUOP_LAYOUT_NHWC, s.spatial_scale})
      .output;
}

Values backward(const mluopsRoiAlignShape& s, const Values& grad, const Values& roi) {
  return reference::roi_align_backward(
      {s, grad.data(), roi.data(), nullptr, nullptr, nullptr, MLUOP_LAYOUT_NHWC, s.spatial_scale});
}

// The example of mmcv's test.
TEST(RoiAlignExamples, OfMmcv) {
  const mluopsRoiAlignShape s = shape(2, 2, 2, 2, 1, 1);
  const Values roi = {0, 0, 0, 1, 1};
  EXPECT_EQ(forward(s, {1, 2, 3, 4}, roi), (Values{1, 1.25, 1.5, 1.75}));
  EXPECT_EQ(backward(s, {1, 1, 1, 1}, roi), (Values{3.0625, 0.4375, 0.4375, 0.0625}));
}

// The example of the vendor's documentation.
TEST(RoiAlignExamples, OfMluOps) {
  const mluopsRoiAlignShape s = shape(1, 1, 1, 0, 0, 0);
  const Values map = {1}, roi = {0, 0, 0, 1, 1}, grad = {1};
  const auto r = reference::roi_align_forward(
      {s, map.data(), roi.data(), nullptr, nullptr, nullptr, MLUOP_LAYOUT_NHWC, s.spatial_scale});
  EXPECT_EQ(r.output, (Values{1}));
  EXPECT_EQ(r.argmax_x, (Values{0.5}));
  EXPECT_EQ(r.argmax_y, (Values{0.5}));
  const Values back = reference::roi_align_backward(
      {s, grad.data(), roi.data(), r.argmax_x.data(), r.argmax_y.data(), nullptr, MLUOP_LAYOUT_NHWC, s.spatial_scale});
  EXPECT_EQ(back, (Values{1}));
}

TEST(RoiAlignExamples, BoxesOfNoSize) {
  const Values map = {1, 2, 3, 4}, roi = {0, 1, 1, 1, 1};
  EXPECT_EQ(forward(shape(2, 2, 1, 0, 1, 1), map, roi), (Values{0}));    // no samples
  EXPECT_EQ(forward(shape(2, 2, 1, 1, 1, 1), map, roi), (Values{2.5}));  // one, amid the four
  EXPECT_EQ(forward(shape(2, 2, 1, 0, 0, 1), map, roi), (Values{4}));    // a pixel wide, sampled at its middle
  EXPECT_EQ(forward(shape(2, 2, 1, 2, 1, 1), map, {0, std::nan(""), 0, 1, 1}), (Values{0}));
}

// Samples outside count, with 0.
TEST(RoiAlignExamples, Outside) {
  const Values roi = {0, -3, 0, 1, 1};  // aligned: from -3.5 to 0.5, samples at -2.5 and -0.5
  EXPECT_EQ(forward(shape(1, 1, 1, 2, 1, 1), {6}, roi), (Values{3}));
  EXPECT_EQ(forward(shape(1, 1, 1, 2, 1, 0), {-6}, roi), (Values{0}));
}

TEST(RoiAlignGradient, Differences) {
  Random random(7);
  for (int round = 0; round < 24; ++round) {
    mluopsRoiAlignShape s = shape(random.integer(1, 5), random.integer(1, 6), random.integer(1, 3),
                                  static_cast<int>(random.integer(0, 3)), round % 2, round % 3 == 0 ? 0 : 1);
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
    const auto at = reference::roi_align_forward(
        {s, map.data(), rois.data(), nullptr, nullptr, nullptr, MLUOP_LAYOUT_NHWC, s.spatial_scale});
    const Values gradient =
        reference::roi_align_backward({s, grad.data(), rois.data(), at.argmax_x.data(), at.argmax_y.data(), nullptr,
                                       MLUOP_LAYOUT_NHWC, s.spatial_scale});
    const auto loss = [&] {
      const Values out = forward(s, map, rois);
      double sum = 0;
      for (std::size_t i = 0; i < out.size(); ++i)
        sum += std::isfinite(out[i]) && out[i] > -1e30 ? out[i] * grad[i] : 0;
      return sum;
    };
    for (std::size_t i = 0; i < map.size(); ++i) {
      const double slope = central_difference(map[i], 1e-6, loss);
      ASSERT_NEAR(slope, gradient[i], 1e-7) << "round " << round << ", element " << i;
    }
  }
}

}  // namespace
}  // namespace mluops
