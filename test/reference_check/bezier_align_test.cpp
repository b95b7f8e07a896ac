// BezierAlign: the example of mmcv's tests, one worked out by hand, finite differences.
#include "test/reference/bezier_align.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "test/reference_check/central_difference.h"

namespace mluops {
namespace {

using reference::Values;
using test::central_difference;

constexpr std::int64_t kSide = 4;
const Values kMapOfSixteen = {1, 2, 5, 6, 3, 4, 7, 8, 9, 10, 13, 14, 11, 12, 15, 16};
// A square: x and y of the upper line's points, (0, 0) to (3, 0), and of the lower one's, (3, 3) to (0, 3).
const Values kSquare = {0, 0, 0, 1, 0, 2, 0, 3, 0, 3, 3, 2, 3, 1, 3, 0, 3};

mluopsBezierAlignShape shape(const Values& beziers, std::int64_t bins, int ratio, int aligned) {
  const auto rois = static_cast<std::int64_t>(beziers.size() / 17);
  return {MLUOP_DTYPE_DOUBLE, 1, kSide, kSide, 1, rois, bins, bins, 1.0f, ratio, aligned};
}
Values aligned_beziers(const Values& map, const Values& beziers, std::int64_t bins, int ratio, int aligned,
                       double scale = 1) {
  return reference::bezier_align_forward(
      {shape(beziers, bins, ratio, aligned), map.data(), beziers.data(), nullptr, MLUOP_LAYOUT_NHWC, scale});
}

void expect_values(const Values& found, const Values& wanted) {
  ASSERT_EQ(found.size(), wanted.size());
  for (std::size_t i = 0; i < found.size(); ++i) EXPECT_NEAR(found[i], wanted[i], 1e-12) << i;
}

TEST(BezierAlignExample, OfMmcv) {
  expect_values(aligned_beziers(kMapOfSixteen, kSquare, 4, 1, 0),
                {1, 1.75, 3.5, 5.25, 2.5, 3.25, 5, 6.75, 6, 6.75, 8.5, 10.25, 9.5, 10.25, 12, 13.75});
}

TEST(BezierAlignExample, BinsAreAboutTheirStarts) {
  // The ends of both lines are 3 apart in x and 0, made 1, in y: samples at y = 0 and x = -1, 0, 1.
  expect_values(aligned_beziers(kMapOfSixteen, kSquare, 1, 0, 0), {(1.0 + 1 + 2) / 3});
  EXPECT_EQ(aligned_beziers(kMapOfSixteen, kSquare, 1, 0, 1), Values{0});  // 0 high
}

TEST(BezierAlignExample, RegionsWithoutSizeOrNumbers) {
  Values none = kSquare;
  for (std::size_t i = 1; i < none.size(); ++i) none[i] = 1.5;
  EXPECT_EQ(aligned_beziers(kMapOfSixteen, none, 1, 0, 1), Values{0});
  expect_values(aligned_beziers(kMapOfSixteen, none, 1, 0, 0), {8.5});
  none[5] = std::numeric_limits<double>::infinity();
  EXPECT_EQ(aligned_beziers(kMapOfSixteen, none, 1, 2, 0), Values{0});
}

TEST(BezierAlignGradient, IsThatOfDifferences) {
  Values beziers = kSquare;
  const Values bent = {0, 0.3, 1, 1.2, 0, 2, 1.4, 3.1, 0.7, 2.9, 3.2, 2, 2, 1.1, 3.5, 0.2, 2.6};
  beziers.insert(beziers.end(), bent.begin(), bent.end());
  const Values grads = {1, -2, 3, 0.5, -1, 2, 0.25, 4};
  const Values found = reference::bezier_align_backward(
      {shape(beziers, 2, 0, 1), grads.data(), beziers.data(), nullptr, MLUOP_LAYOUT_NHWC, 1.0});
  Values map = kMapOfSixteen;
  const auto loss = [&]() {
    const Values output = aligned_beziers(map, beziers, 2, 0, 1);
    double sum = 0;
    for (std::size_t i = 0; i < output.size(); ++i) sum += output[i] * grads[i];
    return sum;
  };
  for (std::size_t i = 0; i < map.size(); ++i) EXPECT_NEAR(found[i], central_difference(map[i], 1e-3, loss), 1e-9) << i;
}

}  // namespace
}  // namespace mluops
