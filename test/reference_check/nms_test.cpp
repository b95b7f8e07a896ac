// Non-maximum suppression: examples worked by hand.
#include "test/reference/nms.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace mluops {
namespace {

using reference::Values;

constexpr float kThird = 1.0f / 3.0f;

// Two boxes that share 2 of 6, and one apart.
const Values kBoxes = {0, 0, 2, 2, 1, 0, 3, 2, 5, 5, 6, 6};
const Values kScores = {0.9, 0.8, 0.7};

mluopsNmsProblem hard(const Values& boxes, const Values& scores, float threshold) {
  const auto n = static_cast<std::int64_t>(scores.size());
  return {{MLUOP_DTYPE_DOUBLE, MLUOP_DTYPE_INT32, n, threshold, 0},
          MLUOP_DTYPE_DOUBLE,
          MLUOP_NMS_BOX_DIAGONAL,
          MLUOP_NMS_OUTPUT_TARGET_INDICES,
          0,
          std::numeric_limits<float>::quiet_NaN(),
          n,
          n,
          1,
          boxes.data(),
          scores.data(),
          nullptr,
          nullptr};
}

TEST(NmsExamples, SuppressesWhatIsGreaterThanTheThreshold) {
  const auto kept = reference::nms(hard(kBoxes, kScores, 0.3f));
  EXPECT_EQ(kept.output, (Values{0, 2, 0}));
  EXPECT_EQ(kept.output_size, 2);
  const auto all = reference::nms(hard(kBoxes, kScores, kThird), reference::Coordinates::kFloat);
  EXPECT_EQ(all.output, (Values{0, 1, 2}));
}

TEST(NmsExamples, OffsetMakesBoxesWider) {
  mluopsNmsProblem p = hard(kBoxes, kScores, 0.45f);
  EXPECT_EQ(reference::nms(p).output_size, 3);
  p.shape.offset = 1;  // 2 x 3 of 3 x 3 + 3 x 3 - 6: a half
  EXPECT_EQ(reference::nms(p).output_size, 2);
}

TEST(NmsExamples, EmptyAndNanBoxesStay) {
  const double nan = std::nan("");
  const Values boxes = {1, 1, 1, 1, 1, 1, 1, 1, nan, 0, 9, 9, 0, 0, 9, 9}, scores = {0.5, 0.5, 0.5, 0.5};
  EXPECT_EQ(reference::nms(hard(boxes, scores, 0)).output, (Values{0, 1, 2, 3}));
}

TEST(NmsExamples, NanScoresComeFirst) {
  EXPECT_EQ(reference::nms(hard(kBoxes, {0.9, std::nan(""), 0.7}, 0.9f)).output, (Values{1, 0, 2}));
}

TEST(NmsExamples, CentresAndColumns) {
  const Values columns = {1, 2, 5.5, 1, 1, 5.5, 2, 2, 1, 2, 2, 1};
  mluopsNmsProblem p = hard(columns, kScores, 0.3f);
  p.box_mode = MLUOP_NMS_BOX_CENTER;
  p.transposed = 1;
  p.output_mode = MLUOP_NMS_OUTPUT_TARGET_CONFIDENCE_AND_POS_2;
  EXPECT_EQ(reference::nms(p).output, (Values{0.9, 0.7, 0, 1, 5.5, 0, 1, 5.5, 0, 2, 1, 0, 2, 1, 0}));
}

// The example of mmcv's documentation.
TEST(NmsExamples, OfMmcv) {
  const Values boxes = {49.1, 32.4, 51.0, 35.9, 49.3, 32.9, 51.0, 35.3, 49.2, 31.8, 51.0, 35.4, 35.1, 11.5,
                        39.1, 15.7, 35.6, 11.8, 39.3, 14.2, 35.3, 11.5, 39.9, 14.5, 35.2, 11.7, 39.7, 15.7};
  EXPECT_EQ(reference::nms(hard(boxes, {0.9, 0.9, 0.5, 0.5, 0.5, 0.4, 0.3}, 0.6f)).output_size, 3);
}

mluopsSoftNmsProblem soft(const Values& boxes, const Values& scores, mluOpExtSoftNmsMethod_t method) {
  const auto n = static_cast<std::int64_t>(scores.size());
  return {{MLUOP_DTYPE_DOUBLE, MLUOP_DTYPE_INT32, n, 0.3f, 0},
          0.5f,
          0.001f,
          method,
          boxes.data(),
          scores.data(),
          nullptr,
          nullptr,
          nullptr,
          0.5,
          0.001};
}

TEST(SoftNmsExamples, Methods) {
  const auto linear = reference::soft_nms(soft(kBoxes, kScores, MLUOP_EXT_SOFT_NMS_LINEAR));
  EXPECT_EQ(linear.indices, (Values{0, 2, 1}));
  EXPECT_NEAR(linear.dets[14], 0.8 * 2 / 3, 1e-12);
  const auto gaussian = reference::soft_nms(soft(kBoxes, kScores, MLUOP_EXT_SOFT_NMS_GAUSSIAN));
  EXPECT_NEAR(gaussian.dets[14], 0.8 * std::exp(-1.0 / 9 / 0.5), 1e-12);
  const auto naive = reference::soft_nms(soft(kBoxes, kScores, MLUOP_EXT_SOFT_NMS_NAIVE));
  EXPECT_EQ(naive.indices, (Values{0, 2, 0}));
  EXPECT_EQ(naive.output_size, 2);
}

// The example of mmcv's documentation: boxes of no area, one score that is 0.
TEST(SoftNmsExamples, OfMmcv) {
  const Values boxes = {4, 3, 5, 3, 4, 3, 5, 4, 3, 1, 3, 1, 3, 1, 3, 1, 3, 1, 3, 1, 3, 1, 3, 1};
  const Values scores = {0.9, 0.9, 0.5, 0.5, 0.4, 0.0};
  EXPECT_EQ(reference::soft_nms(soft(boxes, scores, MLUOP_EXT_SOFT_NMS_LINEAR)).output_size, 5);
}

TEST(NmsMatchExamples, Groups) {
  const Values dets = {5, 5, 6, 6, 0.7, 1, 0, 3, 2, 0.8, 0, 0, 2, 2, 0.9};
  const mluopsNmsMatchProblem p = {
      {MLUOP_DTYPE_DOUBLE, MLUOP_DTYPE_INT32, 3, kThird, 0}, dets.data(), nullptr, nullptr, nullptr};
  const auto groups = reference::nms_match(p, reference::Coordinates::kFloat);
  EXPECT_EQ(groups.indices, (Values{2, 1, 0}));
  EXPECT_EQ(groups.group_sizes, (Values{2, 1, 0}));
  EXPECT_EQ(groups.group_count, 2);
}

}  // namespace
}  // namespace mluops
