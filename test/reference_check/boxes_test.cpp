// Operators on upright boxes: examples worked out by hand.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "test/reference/iou3d.h"
#include "test/reference/points_in_boxes.h"
#include "test/reference/roiaware_pool3d.h"
#include "test/reference/roipoint_pool3d.h"
#include "test/reference_check/central_difference.h"

namespace mluops {
namespace {

using reference::Values;
using test::central_difference;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
const double kQuarterTurn = std::acos(0.0);

mluopsPointsInBoxesShape shape_of(const Values& points, const Values& boxes, int centred) {
  return {MLUOP_DTYPE_DOUBLE, 1, static_cast<std::int64_t>(points.size() / 3),
          static_cast<std::int64_t>(boxes.size() / 7), centred};
}
Values part(const Values& points, const Values& boxes, int centred = 0) {
  return reference::points_in_boxes_part({shape_of(points, boxes, centred), points.data(), boxes.data(), nullptr});
}
Values all(const Values& points, const Values& boxes) {
  return reference::points_in_boxes_all({shape_of(points, boxes, 0), points.data(), boxes.data(), nullptr});
}

TEST(PointsInBoxesExample, FirstOrAllOfTwoBoxes) {
  const Values boxes = {0, 0, 0, 2, 1, 4, 0, 0, 0, 0, 2, 1, 4, kQuarterTurn};
  const Values points = {0.75, 0, 1, 0, 0.75, 4, 0, 0, 2, 1, 0, 1};
  EXPECT_EQ(part(points, boxes), (Values{0, 1, 0, -1}));
  EXPECT_EQ(all(points, boxes), (Values{1, 0, 0, 1, 1, 1, 0, 0}));
}

TEST(PointsInBoxesExample, OfMmcv) {
  const Values boxes = {1, 2, 3, 4, 5, 6, 0.3, -10, 23, 16, 10, 20, 20, 0.5};
  const Values points = {1,    2,   3.3,  1.2,   2.5, 3,   0.8, 2.1, 3.5,   1.6, 2.6, 3.6, 0.8,   1.2,   3.9,
                         -9.2, 21,  18.2, 3.8,   7.9, 6.3, 4.7, 3.5, -12.2, 3.8, 7.6, -2,  -10.6, -12.9, -20,
                         -16,  -18, 9,    -21.3, -52, -5,  0,   0,   0,     6,   7,   8,   -2,    -3,    -4};
  EXPECT_EQ(part(points, boxes), (Values{0, 0, 0, 0, 0, 1, -1, -1, -1, -1, -1, -1, -1, -1, -1}));
}

TEST(PointsInBoxesExample, ZIsTheBottomOrTheCentreAndTheMarginIsOfTheSidesOnly) {
  const Values box = {0, 0, 0, 2, 2, 2, 0};
  const Values points = {0, 0, 2, 0, 0, -1, 1, 0, 0.5, 1.00002, 0, 0.5, 0, 0, 1.000001};
  EXPECT_EQ(part(points, box, 0), (Values{0, -1, -1, -1, 0}));
  EXPECT_EQ(part(points, box, 1), (Values{-1, 0, 0, -1, -1}));
}

TEST(PointsInBoxesExample, NanCountsAsNoHeightAndAsNoPlace) {
  const Values box = {0, 0, 0, 2, 2, 2, 0};
  EXPECT_EQ(part({0, 0, kNan, kNan, 0, 1, 0, kNan, 1}, box), (Values{0, -1, -1}));
  EXPECT_EQ(part({0, 0, 1}, {0, 0, 0, 2, kNan, 2, 0}), Values{-1});
  EXPECT_EQ(part({0, 0, 1}, {0, 0, 0, -2, 2, 2, 0}), Values{-1});
  EXPECT_EQ(part({0, 0, 1}, {0, 0, kNan, 2, 2, 2, 0}), Values{0});
}

// ---- roipoint_pool3d ----

TEST(RoiPointPool3dExample, FirstPointsThenTheFirstAgainThenZeros) {
  const Values points = {5, 0, 0, 0.5, 0, 0, 0, 0, 0, -0.5, 0, 0}, features = {10, 11, 12, 13};
  const Values boxes = {0, 0, 0, 2, 2, 2, 0, 50, 0, 0, 2, 2, 2, 0};
  const auto pool = [&](std::int64_t samples) {
    return reference::roipoint_pool3d(
        {{MLUOP_DTYPE_DOUBLE, 1, 4, 2, 1, samples}, points.data(), features.data(), boxes.data(), nullptr, nullptr});
  };
  EXPECT_EQ(pool(2).features, (Values{0.5, 0, 0, 11, 0, 0, 0, 12, 0, 0, 0, 0, 0, 0, 0, 0}));
  Values four = {0.5, 0, 0, 11, 0, 0, 0, 12, -0.5, 0, 0, 13, 0.5, 0, 0, 11};
  four.resize(32, 0);
  EXPECT_EQ(pool(4).features, four);
  EXPECT_EQ(pool(4).empty, (Values{0, 1}));
}

// ---- iou3d ----

Values overlaps(const Values& a, const Values& b) {
  const auto count = [](const Values& v) { return static_cast<std::int64_t>(v.size() / 7); };
  return reference::boxes_overlap_bev({{MLUOP_DTYPE_DOUBLE, count(a), count(b)}, a.data(), b.data(), nullptr});
}
Values kept(const Values& boxes, float threshold, int rotated) {
  const auto count = static_cast<std::int64_t>(boxes.size() / 7);
  const auto r =
      reference::nms3d({{MLUOP_DTYPE_DOUBLE, count, threshold, rotated}, boxes.data(), nullptr, nullptr, threshold});
  return Values(r.keep.begin(), r.keep.begin() + static_cast<std::ptrdiff_t>(r.num[0]));
}

TEST(BoxesOverlapBevExample, ShiftedTurnedFarAndNan) {
  const Values a = {0, 0, 0, 2, 2, 1, 0};
  const Values b = {1, 0, 9, 2, 2, 1, 0, 0,    0, 0, 2, 2, 1, kQuarterTurn / 2,
                    9, 9, 0, 2, 2, 1, 1, kNan, 0, 0, 2, 2, 1, 0};
  const Values found = overlaps(a, b), wanted = {2, 8 * (std::sqrt(2.0) - 1), 0, 0};
  ASSERT_EQ(found.size(), 4);
  for (std::size_t i = 0; i < 4; ++i) EXPECT_NEAR(found[i], wanted[i], 1e-12) << i;
}

TEST(BoxesOverlapBevExample, OfMmcv) {
  const Values a = {1.0, 1.0, 1.0, 2.0, 2.0, 2.0, 0.0, 2.0, 2.0, 2.0, 2.0,
                    2.0, 2.0, 0.0, 3.0, 3.0, 3.0, 3.0, 2.0, 2.0, 0.0};
  const Values b = {1.0, 1.0, 1.0, 2.0, 2.0, 2.0, 0.0,
                    1.0, 1.0, 1.0, 2.0, 2.0, 2.0, kQuarterTurn,
                    1.0, 1.0, 1.0, 2.0, 2.0, 2.0, kQuarterTurn / 2};
  const Values found = overlaps(a, b), wanted = {4, 4, 8 * (std::sqrt(2.0) - 1), 1, 1, 1, 0, 0, 0};
  for (std::size_t i = 0; i < 9; ++i) EXPECT_NEAR(found[i], wanted[i], 1e-4) << i;
}

TEST(Nms3dExample, KeepsWhatSharesNoMoreThanTheThreshold) {
  const Values boxes = {0, 0, 0, 2, 2, 1, 0, 1, 0, 0, 2, 2, 1, 0,
                        9, 9, 9, 1, 1, 1, 0, 0, 0, 0, 2, 2, 1, kQuarterTurn / 2};
  EXPECT_EQ(kept(boxes, 0.33f, 1), (Values{0, 2}));
  EXPECT_EQ(kept(boxes, 0.34f, 1), (Values{0, 1, 2}));
  EXPECT_EQ(kept(boxes, 0.99f, 1), (Values{0, 1, 2, 3}));
  EXPECT_EQ(kept(boxes, 0.99f, 0), (Values{0, 1, 2}));
}

// ---- roiaware_pool3d ----

const Values kRoi = {0, 0, 0, 2, 2, 2, 0}, kInRoi = {-0.5, 0, 1, 0.5, 0, 1, 0.25, 0, 1};

mluopsRoiAwarePool3dShape halves(int mean) {
  return {MLUOP_DTYPE_DOUBLE, 1, 3, 1, 3, 2, 1, 1, mean};
}
reference::RoiAwarePool3dResult pooled(const Values& features, int mean) {
  return reference::roiaware_pool3d_forward(
      {halves(mean), kRoi.data(), kInRoi.data(), features.data(), nullptr, nullptr, nullptr});
}

TEST(RoiAwarePool3dExample, PointsOfEachVoxelTheirMaximumAndMean) {
  const Values features = {3, 5, 7};
  EXPECT_EQ(pooled(features, 0).points, (Values{1, 0, 0, 2, 1, 2}));
  EXPECT_EQ(pooled(features, 0).pooled, (Values{3, 7}));
  EXPECT_EQ(pooled(features, 0).argmax, (Values{0, 2}));
  EXPECT_EQ(pooled(features, 1).pooled, (Values{3, 6}));
  EXPECT_EQ(pooled({3, 5, 5}, 0).argmax, (Values{0, 1}));
}

TEST(RoiAwarePool3dGradient, IsTheDifferenceOfTheForwardFunction) {
  const Values weights = {2, 3};
  const std::int32_t noted[] = {1, 0, 0, 2, 1, 2}, argmax[] = {0, 2};
  for (const int mean : {0, 1}) {
    Values features = {3, 5, 7};
    const Values found = reference::roiaware_pool3d_backward({halves(mean), noted, argmax, weights.data(), nullptr});
    const auto loss = [&] {
      const Values output = pooled(features, mean).pooled;
      return weights[0] * output[0] + weights[1] * output[1];
    };
    for (std::size_t i = 0; i < 3; ++i) {
      EXPECT_NEAR(central_difference(features[i], 0.5, loss), found[i], 1e-12) << "mean " << mean << ", point " << i;
    }
  }
}

}  // namespace
}  // namespace mluops
