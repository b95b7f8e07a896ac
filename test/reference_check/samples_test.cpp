// Samples of RoIs of any size: those that a map has room for are the ones that walking over all of them finds.
#include "test/reference/samples.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "test/cases/base/random.h"
#include "test/reference/bezier_align.h"
#include "test/reference/bilinear.h"
#include "test/reference/reference.h"
#include "test/reference/roi_align.h"
#include "test/reference/roi_align_rotated.h"

namespace mluops {
namespace {

using cases::Random;
using reference::Coordinates;
using reference::Rounding;
using reference::Samples;
using reference::Values;

constexpr double kInf = std::numeric_limits<double>::infinity();

TEST(Samples, AreThoseOnTheMapTheFirstAndTheNext) {
  Random random(5);
  for (int round = 0; round < 3000; ++round) {
    const Rounding r(round % 3 == 0 ? Coordinates::kDouble : round % 3 == 1 ? Coordinates::kFloat : Coordinates::kHalf);
    const double bin = random.real(-600, 600), start = random.real(-700, 700), size = random.real(0, 40);
    const std::int64_t count = reference::sample_count(std::fabs(bin), static_cast<int>(random.integer(0, 2)) * 37);
    const auto at = [&](std::int64_t i) {
      return r.add(start, r.div(r.mul(static_cast<double>(i) + 0.5, bin), static_cast<double>(count)));
    };
    const auto on_map = [&](double c) { return c >= -1 && c <= size; };
    Values all, kept;
    for (std::int64_t i = 0; i < count; ++i) {
      if (on_map(at(i))) all.push_back(at(i));
    }
    const Samples samples = reference::samples_between(count, -1, size, at);
    for (const double c : samples.at) {
      if (on_map(c)) kept.push_back(c);
    }
    ASSERT_EQ(kept, all) << "round " << round;
    ASSERT_EQ(samples.count, count);
    ASSERT_LE(samples.at.size(), all.size() + 2);
    ASSERT_EQ(samples.at.empty() ? at(0) : samples.at[0], at(0)) << "round " << round;
    ASSERT_TRUE(std::ssize(all) == count || samples.at.size() > all.size()) << "round " << round;
  }
}

TEST(Samples, CountsAreThoseOfAnInt32) {
  EXPECT_EQ(reference::sample_count(1e300, 0), 2147483647);
  EXPECT_EQ(reference::sample_count(2.25, 0), 3);
  for (const double none : {0.0, -3.0, kInf, std::nan("")}) EXPECT_EQ(reference::sample_count(none, 0), 0) << none;
  EXPECT_EQ(reference::sample_count(kInf, 4), 4);
}

/// Numbers of RoIs that ask for samples without end.
const Values& hostile() {
  static const Values numbers = {-3e38, -1e30, -1e9, -70000, -1,    0,    0.5,   3,
                                 70000, 1e9,   1e30, 3e38,   1e300, kInf, -kInf, std::nan("")};
  return numbers;
}

/// `rois` RoIs of `width` numbers, the first their image.
Values hostile_rois(std::int64_t rois, std::int64_t width, Random& random) {
  Values all;
  for (std::int64_t i = 0; i < rois * width; ++i) {
    const auto which = random.integer(0, std::ssize(hostile()) - 1);
    all.push_back(i % width == 0 ? 0 : hostile()[static_cast<std::size_t>(which)]);
  }
  return all;
}

const Values kMap = {1, 2, 3, 4, 5, 6};
constexpr std::int64_t kH = 2, kW = 3, kRois = 400, kBins = 2;
const Values kGrad(static_cast<std::size_t>(kRois* kBins* kBins), 1.0);

void expect_means_of_the_map(const Values& means) {
  for (const double v : means) ASSERT_TRUE(v >= 0 && v <= 6 + 1e-9) << v;
}

void expect_shares(const Values& grad_input) {
  for (const double v : grad_input) ASSERT_TRUE(v >= 0 && v <= static_cast<double>(kGrad.size())) << v;
}

// Each ends at once: a RoI of 1e9 pixels a side would have 1e18 samples.
TEST(Samples, HostileRoisOfRoiAlign) {
  Random random(6);
  for (int round = 0; round < 8; ++round) {
    const mluopsRoiAlignShape s = {MLUOP_DTYPE_DOUBLE, 1,         kH,           kW, 1, kRois, kBins, kBins, 1.0f,
                                   round / 4,          round % 2, round / 2 % 2};
    const Values rois = hostile_rois(kRois, 5, random);
    for (const Coordinates c : {Coordinates::kDouble, Coordinates::kFloat, Coordinates::kHalf}) {
      const auto forward = reference::roi_align_forward(
          {s, kMap.data(), rois.data(), nullptr, nullptr, nullptr, MLUOP_LAYOUT_NHWC, 1.0}, c);
      if (s.mean == 0) continue;
      expect_means_of_the_map(forward.output);
      expect_shares(reference::roi_align_backward(
          {s, kGrad.data(), rois.data(), nullptr, nullptr, nullptr, MLUOP_LAYOUT_NHWC, 1.0}, c));
    }
  }
}

TEST(Samples, HostileRoisOfBezierAlign) {
  Random random(7);
  for (int round = 0; round < 4; ++round) {
    const mluopsBezierAlignShape s = {MLUOP_DTYPE_DOUBLE, 1,        kH, kW, 1, kRois, kBins, kBins, 1.0f,
                                      round / 2,          round % 2};
    const Values rois = hostile_rois(kRois, 17, random);
    expect_means_of_the_map(
        reference::bezier_align_forward({s, kMap.data(), rois.data(), nullptr, MLUOP_LAYOUT_NHWC, 1.0}));
    expect_shares(reference::bezier_align_backward({s, kGrad.data(), rois.data(), nullptr, MLUOP_LAYOUT_NHWC, 1.0}));
  }
}

TEST(Samples, HostileRoisOfRoiAlignRotated) {
  Random random(8);
  for (int round = 0; round < 4; ++round) {
    const mluopsRoiAlignRotatedShape s = {MLUOP_DTYPE_DOUBLE, 1,         kH, kW, 1, kRois, kBins, kBins, 1.0f,
                                          round / 2,          round % 2, 0};
    const Values rois = hostile_rois(kRois, 6, random);
    expect_means_of_the_map(
        reference::roi_align_rotated_forward({s, kMap.data(), rois.data(), nullptr, MLUOP_LAYOUT_NHWC, 1.0}));
    expect_shares(
        reference::roi_align_rotated_backward({s, kGrad.data(), rois.data(), nullptr, MLUOP_LAYOUT_NHWC, 1.0}));
  }
}

TEST(Samples, HostileRoisOfDeformRoiPool) {
  Random random(9);
  for (int round = 0; round < 4; ++round) {
    const mluopsDeformRoiPoolShape s = {MLUOP_DTYPE_DOUBLE, 1, kH, kW, 1, kRois, kBins, kBins, 1.0f, 0.1f, round / 2};
    const Values rois = hostile_rois(kRois, 5, random), offset = hostile_rois(2 * kRois * kBins * kBins, 1, random);
    for (const Coordinates c : {Coordinates::kDouble, Coordinates::kFloat, Coordinates::kHalf}) {
      const bool shifted = round % 2 != 0;
      expect_means_of_the_map(reference::deform_roi_pool_forward(
          {s, kMap.data(), rois.data(), shifted ? offset.data() : nullptr, nullptr, MLUOP_LAYOUT_NHWC, 1.0, 0.1}, c));
      expect_shares(reference::deform_roi_pool_backward(
                        {s, kGrad.data(), kMap.data(), rois.data(), shifted ? offset.data() : nullptr, nullptr, nullptr,
                         MLUOP_LAYOUT_NHWC, 1.0, 0.1},
                        c)
                        .input);
    }
  }
}

}  // namespace
}  // namespace mluops
