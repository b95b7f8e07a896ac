// IoU of upright and rotated boxes, RoIs of rotated boxes: examples worked out by hand and those of mmcv's tests.
#include "test/reference/box_iou.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "test/reference/roi_align_rotated.h"
#include "test/reference_check/central_difference.h"

namespace mluops {
namespace {

using reference::Values;
using test::central_difference;

const double kQuarterTurn = std::acos(0.0);

mluopsBoxIouProblem pairs(const Values& a, const Values& b, std::int64_t numbers, int mode, int aligned, int offset) {
  const auto count = [numbers](const Values& v) { return static_cast<std::int64_t>(v.size()) / numbers; };
  return {{MLUOP_DTYPE_DOUBLE, count(a), count(b), mode, aligned, offset}, a.data(), b.data(), nullptr};
}
Values upright(const Values& a, const Values& b, int mode, int aligned, int offset) {
  return reference::bbox_overlaps(pairs(a, b, 4, mode, aligned, offset));
}
Values rotated(const Values& a, const Values& b, int mode = 0, int aligned = 0) {
  return reference::box_iou_rotated(pairs(a, b, 5, mode, aligned, 0));
}

void expect_near(const Values& found, const Values& wanted, double limit) {
  ASSERT_EQ(found.size(), wanted.size());
  for (std::size_t i = 0; i < found.size(); ++i) EXPECT_NEAR(found[i], wanted[i], limit) << i;
}

TEST(BboxOverlapsExample, OfMmcv) {
  const Values a = {1, 1, 3, 4, 2, 2, 3, 4, 7, 7, 8, 8}, b = {0, 2, 2, 5, 2, 1, 3, 3};
  expect_near(upright(a, b, 0, 0, 1), {1.0 / 3, 0.5, 0.2, 0.5, 0, 0}, 1e-12);
  const Values pair(a.begin(), a.begin() + 8);
  expect_near(upright(pair, b, 0, 1, 1), {1.0 / 3, 0.5}, 1e-12);
  expect_near(upright({10, 10, 30, 30}, {20, 20, 40, 40}, 0, 1, 0), {1.0 / 7}, 1e-12);
  expect_near(upright({0, 0, 4, 2}, {1, 1, 9, 9}, 1, 0, 0), {3.0 / 8}, 1e-12);
}

TEST(BboxOverlapsExample, BoxesWithoutEnd) {
  const double inf = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(upright({0, 0, 4, 2}, {-inf, -inf, inf, inf}, 1, 0, 0), Values{1});
  EXPECT_EQ(upright({0, 0, 4, 2}, {-inf, -inf, inf, inf}, 0, 0, 0), Values{0});
  EXPECT_EQ(upright({0, 0, 4, 2}, {-inf, nan, inf, inf}, 1, 0, 0), Values{0});
}

TEST(BoxIouRotatedExample, OfMmcv) {
  const Values a = {1, 1, 3, 4, 0.5, 2, 2, 3, 4, 0.6, 7, 7, 8, 8, 0.4};
  const Values b = {0, 2, 2, 5, 0.3, 2, 1, 3, 3, 0.5, 5, 5, 6, 7, 0.4};
  expect_near(rotated(a, b), {0.3708, 0.4351, 0, 0.1104, 0.4487, 0.0424, 0, 0, 0.3622}, 1e-4);
  expect_near(rotated(a, b, 1), {0.4959, 0.5306, 0, 0.1823, 0.5420, 0.1832, 0, 0, 0.4404}, 1e-4);
  expect_near(rotated(a, b, 0, 1), {0.3708, 0.4487, 0.3622}, 1e-4);
}

TEST(BoxIouRotatedExample, AnEighthTurnTheSameBoxTouchingBoxesAndNone) {
  const Values square = {3, 4, 2, 2, 0};
  expect_near(rotated(square, {3, 4, 2, 2, kQuarterTurn / 2}), {std::sqrt(0.5)}, 1e-12);
  const Values box = {3, 4, 5, 2, 0.7};
  expect_near(rotated(box, box), {1}, 1e-12);
  EXPECT_EQ(rotated(square, {5, 4, 2, 2, 0, 5, 6, 2, 2, 2 * kQuarterTurn}), (Values{0, 0}));
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(rotated(square, {3, 4, 0, 0, 0, nan, 4, 2, 2, 0, 3, 4, -2, 2, 0}), (Values{0, 0, 0}));
  expect_near(rotated(square, {3, 4, -2, -2, 0}), {1}, 1e-12);
}

TEST(NmsRotatedExample, OfMmcv) {
  const Values boxes = {6, 3, 8, 7, 0.5, 3, 6, 9, 11, 0.6, 3, 7, 10, 12, 0.3, 1, 4, 13, 7, 0.6};
  const Values scores = {0.7, 0.8, 0.5, 0.9};
  const auto r =
      reference::nms_rotated({{MLUOP_DTYPE_DOUBLE, 4, 5}, boxes.data(), scores.data(), nullptr, nullptr, 0.5});
  EXPECT_EQ(r.output, (Values{3, 1, 0, 0}));
  EXPECT_EQ(r.num, Values{3});
}

// ---- roi_align_rotated ----

Values aligned_rois(const Values& map, std::int64_t side, const Values& rois, double scale, int ratio, int shifted,
                    int clockwise = 0) {
  const mluopsRoiAlignRotatedShape s{
      MLUOP_DTYPE_DOUBLE,        1,     side,    side,     1, static_cast<std::int64_t>(rois.size() / 6), 2, 2,
      static_cast<float>(scale), ratio, shifted, clockwise};
  return reference::roi_align_rotated_forward({s, map.data(), rois.data(), nullptr, MLUOP_LAYOUT_NHWC, scale});
}

const Values kMap = {1, 2, 5, 6, 3, 4, 7, 8, 9, 10, 13, 14, 11, 12, 15, 16};

TEST(RoiAlignRotatedExample, OfMmcv) {
  expect_near(aligned_rois(kMap, 4, {0, 1.5, 1.5, 3, 3, 0}, 1, 2, 1), {1.9375, 4.75, 7.5625, 10.375}, 1e-12);
  expect_near(aligned_rois(kMap, 4, {0, 1.5, 1.5, 3, 3, kQuarterTurn}, 1, 2, 1), {7.5625, 1.9375, 10.375, 4.75}, 1e-12);
  expect_near(aligned_rois(kMap, 4, {0, 1.5, 1.5, 3, 3, -kQuarterTurn}, 1, 2, 1, 1), {7.5625, 1.9375, 10.375, 4.75},
              1e-12);
  expect_near(aligned_rois(Values(9, 1.0), 3, {0, 1, 1, 1, 1, 0}, 1, 2, 0), {1, 1, 1, 1}, 1e-12);  // the vendor's
}

TEST(RoiAlignRotatedGradient, IsThatOfDifferences) {
  const Values rois = {0, 1.3, 2.1, 2.5, 3.5, 0.7, 0, 3, 0, 4, 1, -2};
  const mluopsRoiAlignRotatedShape s{MLUOP_DTYPE_DOUBLE, 1, 4, 4, 1, 2, 2, 2, 1.0f, 0, 0, 0};
  const Values grads = {1, -2, 3, 0.5, -1, 2, 0.25, 4};
  const Values found =
      reference::roi_align_rotated_backward({s, grads.data(), rois.data(), nullptr, MLUOP_LAYOUT_NHWC, 1.0});
  Values map = kMap;
  const auto loss = [&]() {
    const Values output = aligned_rois(map, 4, rois, 1, 0, 0);
    double sum = 0;
    for (std::size_t i = 0; i < output.size(); ++i) sum += output[i] * grads[i];
    return sum;
  };
  for (std::size_t i = 0; i < map.size(); ++i) EXPECT_NEAR(found[i], central_difference(map[i], 1e-3, loss), 1e-9) << i;
}

}  // namespace
}  // namespace mluops
