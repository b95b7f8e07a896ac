// Examples worked out by hand in the design documents, the API's documentation and mmcv's tests.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "test/cases/base/element.h"
#include "test/reference/reference.h"

namespace mluops {
namespace {

using reference::Values;

TEST(Decode, Half) {
  const std::uint16_t bits[] = {0x0000, 0x3c00, 0xc000, 0x0001, 0x03ff, 0x0400, 0x7bff, 0xfc00};
  const Values expected = {0, 1, -2, 0x1p-24, 1023 * 0x1p-24, 0x1p-14, 65504, -INFINITY};
  EXPECT_EQ(reference::decode(MLUOP_DTYPE_HALF, bits, 8), expected);
  const std::uint16_t nan = 0x7e00;
  EXPECT_TRUE(std::isnan(reference::decode(MLUOP_DTYPE_HALF, &nan, 1)[0]));
}

TEST(Decode, Bfloat16) {
  const std::uint16_t bits[] = {0x3f80, 0xbfc0, 0x0001, 0x7f7f, 0x7f80};
  const Values expected = {1, -1.5, 0x1p-133, 255 * 0x1p120, INFINITY};
  EXPECT_EQ(reference::decode(MLUOP_DTYPE_BFLOAT16, bits, 5), expected);
}

TEST(Decode, EncodingGivesBackEveryBitPattern) {
  for (mluOpDataType_t dtype : {MLUOP_DTYPE_HALF, MLUOP_DTYPE_BFLOAT16}) {
    for (int b = 0; b <= 0xffff; ++b) {
      const std::uint16_t bits = static_cast<std::uint16_t>(b);
      const Values value = reference::decode(dtype, &bits, 1);
      if (std::isnan(value[0])) continue;
      std::uint16_t back = 0;
      cases::encode(dtype, value, &back);
      ASSERT_EQ(back, bits);
    }
  }
}

TEST(Decode, RoundsToNearestEven) {
  EXPECT_EQ(cases::rounded(MLUOP_DTYPE_HALF, 1 + 0x1p-11), 1);
  EXPECT_EQ(cases::rounded(MLUOP_DTYPE_HALF, 1 + 3 * 0x1p-11), 1 + 0x1p-9);
  EXPECT_EQ(cases::rounded(MLUOP_DTYPE_HALF, 65519), 65504);
  EXPECT_EQ(cases::rounded(MLUOP_DTYPE_HALF, 65520), INFINITY);
  EXPECT_EQ(cases::rounded(MLUOP_DTYPE_BFLOAT16, 1 + 0x1p-8), 1);
}

// ---- carafe ----

struct Carafe {
  mluopsCarafeShape shape;
  Values input, mask, grad;
  Values forward() const { return reference::carafe_forward({shape, input.data(), mask.data(), nullptr}); }
  reference::CarafeGradients backward() const {
    return reference::carafe_backward({shape, input.data(), mask.data(), grad.data(), nullptr, nullptr});
  }
};

TEST(CarafeExample, OneTapScalesTheNearestPixel) {
  const Carafe c{{MLUOP_DTYPE_DOUBLE, 1, 1, 2, 1, 2, 4, 1, 1, 2}, {3, 5}, {1, 2, 3, 4, 5, 6, 7, 8}, {}};
  EXPECT_EQ(c.forward(), (Values{3, 6, 15, 20, 15, 18, 35, 40}));
}

TEST(CarafeExample, OnesSumTheNeighbourhood) {
  // 2x3 map 1 2 3 / 4 5 6, 3x3 kernel of ones
  const Carafe c{{MLUOP_DTYPE_DOUBLE, 1, 2, 3, 1, 2, 3, 3, 1, 1}, {1, 2, 3, 4, 5, 6}, Values(54, 1.0), Values(6, 1.0)};
  EXPECT_EQ(c.forward(), (Values{12, 21, 16, 12, 21, 16}));
  const reference::CarafeGradients g = c.backward();
  EXPECT_EQ(g.input, (Values{4, 6, 4, 4, 6, 4}));  // how many windows hold the pixel
  // pixel (0,0): taps of row -1 and column -1 are outside
  EXPECT_EQ(Values(g.mask.begin(), g.mask.begin() + 9), (Values{0, 0, 0, 0, 1, 2, 0, 4, 5}));
}

TEST(CarafeExample, GroupsAreContiguousChannels) {
  // one pixel, 4 channels, 2 groups, scale 1, kernel 1: masks 10 and 100
  const Carafe c{{MLUOP_DTYPE_DOUBLE, 1, 1, 1, 4, 1, 1, 1, 2, 1}, {1, 2, 3, 4}, {10, 100}, {1, 1, 2, 2}};
  EXPECT_EQ(c.forward(), (Values{10, 20, 300, 400}));
  EXPECT_EQ(c.backward().mask, (Values{3, 14}));
  EXPECT_EQ(c.backward().input, (Values{10, 10, 200, 200}));
}

TEST(CarafeExample, TapsOutsideAreSkippedNotMultiplied) {
  Carafe c{{MLUOP_DTYPE_DOUBLE, 1, 1, 1, 1, 1, 1, 3, 1, 1}, {2}, Values(9, NAN), {1}};
  c.mask[4] = 3;
  EXPECT_EQ(c.forward(), Values{6});
  EXPECT_EQ(c.backward().mask, (Values{0, 0, 0, 0, 2, 0, 0, 0, 0}));
}

// ---- psamask ----

Values psamask_example() {
  Values x;
  for (int pixel = 0; pixel < 4; ++pixel) {
    for (int k = 0; k < 9; ++k) x.push_back(10 * pixel + k);
  }
  return x;
}

TEST(PsamaskExample, Collect) {
  const Values x = psamask_example();
  EXPECT_EQ(reference::psamask_forward({{MLUOP_DTYPE_DOUBLE, 1, 2, 2, 3, 3, 0}, x.data(), nullptr}),
            (Values{4, 5, 7, 8, 13, 14, 16, 17, 21, 22, 24, 25, 30, 31, 33, 34}));
}

TEST(PsamaskExample, DistributeIsItsTranspose) {
  const Values x = psamask_example();
  EXPECT_EQ(reference::psamask_forward({{MLUOP_DTYPE_DOUBLE, 1, 2, 2, 3, 3, 1}, x.data(), nullptr}),
            (Values{4, 13, 21, 30, 5, 14, 22, 31, 7, 16, 24, 33, 8, 17, 25, 34}));
}

TEST(PsamaskExample, EvenMaskReachesFurtherDownAndRight) {
  // one row of two pixels, mask 1x2: half = 0, so a pixel sees itself and its right neighbour
  const Values x = {1, 2, 3, 4};
  EXPECT_EQ(reference::psamask_forward({{MLUOP_DTYPE_DOUBLE, 1, 1, 2, 1, 2, 0}, x.data(), nullptr}),
            (Values{1, 2, 0, 3}));
  const Values dy = {5, 6, 7, 8};
  EXPECT_EQ(reference::psamask_backward({{MLUOP_DTYPE_DOUBLE, 1, 1, 2, 1, 2, 0}, dy.data(), nullptr}),
            (Values{5, 6, 8, 0}));
}

// ---- three_interpolate ----

TEST(ThreeInterpolateExample, DropsOnlyTheNeighbourOutside) {
  const mluopsThreeInterpolateShape s = {MLUOP_DTYPE_DOUBLE, 1, 2, 3, 2};
  const Values features = {1, 2, 3, 10, 20, 30}, weights = {1, .5, .25, 2, 2, NAN}, grad = {1, 2, 3, 4};
  const std::int32_t indices[] = {0, 1, 2, 1, 1, 3};
  EXPECT_EQ(reference::three_interpolate_forward({s, features.data(), indices, weights.data(), nullptr}),
            (Values{2.75, 8, 27.5, 80}));
  EXPECT_EQ(reference::three_interpolate_backward({s, grad.data(), indices, weights.data(), nullptr}),
            (Values{1, .5 + 8, .25, 3, 1.5 + 16, .75}));
}

// ---- deform_roi_pool ----

struct DeformRoiPool {
  mluopsDeformRoiPoolShape shape;
  Values input, rois, offset;
  const double* offset_data() const { return offset.empty() ? nullptr : offset.data(); }
  Values forward() const {
    return reference::deform_roi_pool_forward({shape, input.data(), rois.data(), offset_data(), nullptr,
                                               MLUOP_LAYOUT_NHWC, shape.spatial_scale, shape.gamma});
  }
  reference::DeformRoiPoolGradients backward() const {
    const Values ones(static_cast<std::size_t>(shape.rois * shape.pooled_h * shape.pooled_w * shape.c), 1.0);
    return reference::deform_roi_pool_backward({shape, ones.data(), input.data(), rois.data(), offset_data(), nullptr,
                                                nullptr, MLUOP_LAYOUT_NHWC, shape.spatial_scale, shape.gamma});
  }
};

TEST(DeformRoiPoolExample, OffsetMovesTheBin) {
  const DeformRoiPool d{{MLUOP_DTYPE_DOUBLE, 1, 2, 2, 1, 1, 1, 1, 1, 1, 1}, {1, 2, 2, 4}, {0, 0, 0, 1, 1}, {.5, .5}};
  EXPECT_EQ(d.forward(), Values{2.25});
}

TEST(DeformRoiPoolExample, TwoByTwo) {
  const DeformRoiPool d{{MLUOP_DTYPE_DOUBLE, 1, 2, 2, 1, 1, 2, 2, 1, 0, 2}, {1, 2, 3, 4}, {0, 0, 0, 1, 1}, {}};
  EXPECT_EQ(d.forward(), (Values{1, 1.25, 1.5, 1.75}));
  EXPECT_EQ(d.backward().input, (Values{3.0625, .4375, .4375, .0625}));
}

TEST(DeformRoiPoolExample, TwoChannels) {
  const DeformRoiPool d{
      {MLUOP_DTYPE_DOUBLE, 1, 2, 2, 2, 1, 2, 2, 1, 0, 2}, {1, 4, 2, 3, 3, 2, 4, 1}, {0, 0, 0, 1, 1}, {}};
  EXPECT_EQ(d.forward(), (Values{1, 4, 1.25, 3.75, 1.5, 3.5, 1.75, 3.25}));
}

TEST(DeformRoiPoolExample, FourByFour) {
  const DeformRoiPool d{{MLUOP_DTYPE_DOUBLE, 1, 4, 4, 1, 1, 2, 2, 1, 0, 2},
                        {1, 2, 5, 6, 3, 4, 7, 8, 9, 10, 13, 14, 11, 12, 15, 16},
                        {0, 0, 0, 3, 3},
                        {}};
  EXPECT_EQ(d.forward(), (Values{1.9375, 4.75, 7.5625, 10.375}));
  const Values grad = d.backward().input;
  const Values first = {.47265625, .4296875, .4296875, .04296875}, middle = {.4296875, .390625, .390625, .0390625};
  const Values last = {.04296875, .0390625, .0390625, .00390625};
  EXPECT_EQ(Values(grad.begin(), grad.begin() + 4), first);
  EXPECT_EQ(Values(grad.begin() + 4, grad.begin() + 8), middle);
  EXPECT_EQ(Values(grad.begin() + 8, grad.begin() + 12), middle);
  EXPECT_EQ(Values(grad.begin() + 12, grad.end()), last);
}

// A single sample at (y, x) of the map 1 2 / 4 8, one bin of one pixel, gamma 1: grad of the offset is then the
// device's derivative at that point.
Values offset_gradient_at(double y, double x) {
  const DeformRoiPool d{
      {MLUOP_DTYPE_DOUBLE, 1, 2, 2, 1, 1, 1, 1, 1, 1, 1}, {1, 2, 4, 8}, {0, x, y, x + 1, y + 1}, {0, 0}};
  return d.backward().offset;
}

TEST(DeformRoiPoolExample, GradientOfOffsetUsesUnclampedCoordinates) {
  EXPECT_EQ(offset_gradient_at(.5, .5), (Values{2.5, 4.5}));   // inside: the derivative
  EXPECT_EQ(offset_gradient_at(-.5, .5), (Values{-.5, 4.5}));  // above the map: x extrapolates, y is not zero
  EXPECT_EQ(offset_gradient_at(.5, -.5), (Values{2.5, 1.5}));  // left of it: likewise
  EXPECT_EQ(offset_gradient_at(1.5, .5), (Values{0, 0}));      // on the last row both vanish
  EXPECT_EQ(offset_gradient_at(.5, 1), (Values{0, 0}));
  EXPECT_EQ(offset_gradient_at(-1.5, .5), (Values{0, 0}));  // outside
}

TEST(DeformRoiPoolExample, BoundaryBelongsToTheMap) {
  const auto value_at = [](double y, double x) {
    return DeformRoiPool{{MLUOP_DTYPE_DOUBLE, 1, 2, 2, 1, 1, 1, 1, 1, 1, 1}, {1, 2, 4, 8}, {0, x, y, x + 1, y + 1}, {}}
        .forward()[0];
  };
  EXPECT_EQ(value_at(-1, 0), 1);
  EXPECT_EQ(value_at(2, 2), 8);
  EXPECT_EQ(value_at(std::nextafter(-1.0, -2.0) - 1e-9, 0), 0);
  EXPECT_EQ(value_at(0, 2 + 1e-9), 0);
}

TEST(DeformRoiPoolExample, EmptyAndInvertedRois) {
  DeformRoiPool d{{MLUOP_DTYPE_DOUBLE, 1, 3, 3, 1, 1, 1, 1, 1, 0, 0}, Values(9, 1.0), {0, 1, 1, 1, 2}, {}};
  EXPECT_EQ(d.forward(), Values{0});  // no width, adaptive grid: no sample
  d.rois = {0, 2, 2, 1, 1};
  EXPECT_EQ(d.forward(), Values{0});
  d.shape.sampling_ratio = 1;
  EXPECT_EQ(d.forward(), Values{1});  // a fixed grid samples inverted RoIs
}

// ---- border_align ----

const int kTop[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}, kLeft[] = {6, 7, 5, 8, 2, 1, 3, 4, 12, 9, 11, 10},
          kBottom[] = {-2, -3, 2, 0, -4, -5, 1, -1, -1, -1, -1, -1},
          kRight[] = {0, -1, 2, 1, -4, -3, -2, -1, -1, -2, -3, -4};

Values border_map() {
  Values input;
  for (int pixel = 0; pixel < 12; ++pixel) {
    for (const int* border : {kTop, kLeft, kBottom, kRight}) input.push_back(border[pixel]);
  }
  return input;
}

const Values kBoxes = {0, 0, 2, 1, 1, 0, 3, 1, 1, 0, 2, 1, 0, 0, 3, 1, 0, 0, 1, 2, 0, 0, 2, 2,
                       1, 0, 2, 1, 1, 0, 3, 1, 0, 1, 1, 2, 0, 0, 3, 2, 1, 0, 3, 2, 2, 0, 3, 2};
const Values kPooled1 = {3, 6, 1, 2, 4, 7, -1, 1, 3, 7,  1,  2,  4, 6,  -1, 1, 2, 12, -1, -1, 3, 12, -1, 2,
                         3, 7, 1, 2, 4, 7, -1, 1, 6, 12, -1, -2, 4, 12, -1, 1, 4, 9,  -1, 1,  4, 11, -1, 1};
const std::vector<std::int32_t> kArgmax1 = {1, 0, 0, 1, 1, 0, 0, 1, 1, 0, 0, 1, 1, 0, 0, 1, 1, 1, 0, 1, 1, 1, 0, 1,
                                            1, 0, 0, 1, 1, 0, 0, 1, 1, 1, 0, 0, 1, 1, 0, 1, 1, 1, 0, 1, 1, 1, 0, 1};

mluopsBorderAlignShape border_shape(std::int64_t pool_size) {
  return {MLUOP_DTYPE_DOUBLE, 1, 3, 4, 1, 12, pool_size};
}

TEST(BorderAlignExample, TwelveBoxesPoolSize1) {
  const Values input = border_map();
  const auto r = reference::border_align_forward({border_shape(1), input.data(), kBoxes.data(), nullptr, nullptr});
  EXPECT_EQ(r.output, kPooled1);
  EXPECT_EQ(r.argmax, kArgmax1);
}

TEST(BorderAlignExample, TwelveBoxesPoolSize2) {
  const Values input = border_map();
  const auto r = reference::border_align_forward({border_shape(2), input.data(), kBoxes.data(), nullptr, nullptr});
  Values output = kPooled1;
  std::vector<std::int32_t> argmax = kArgmax1;
  for (std::int32_t& i : argmax) i *= 2;
  for (int box : {1, 7}) {  // the point in the middle of the bottom border is the greatest
    output[box * 4 + 2] = 1;
    argmax[box * 4 + 2] = 1;
  }
  EXPECT_EQ(r.output, output);
  EXPECT_EQ(r.argmax, argmax);
}

TEST(BorderAlignExample, BackwardAddsAtTheWinningCorners) {
  const Values grad_input =
      reference::border_align_backward({border_shape(1), kPooled1.data(), kBoxes.data(), kArgmax1.data(), nullptr});
  EXPECT_EQ(grad_input, (Values{0, 12, 0, 0, 2, 28, 0,  -1, 12, 0,  0, 8, 24, 0, 0,  6,  0, 0,  0,  0, 6, 0, 0,  0,
                                0, 0,  3, 0, 0, 0,  -3, 0,  0,  48, 0, 0, 0,  9, -2, -2, 0, 11, -1, 0, 0, 0, -3, 0}));
}

TEST(BorderAlignExample, FirstMaximumWinsAndOutsideCompetesWithZero) {
  const Values ones(4 * 9, 1.0), minus(4 * 9, -1.0);
  const mluopsBorderAlignShape s = {MLUOP_DTYPE_DOUBLE, 1, 3, 3, 1, 1, 4};
  const Values inside = {0, 0, 2, 2}, leaving = {0, 0, 8, 2};
  EXPECT_EQ(reference::border_align_forward({s, ones.data(), inside.data(), nullptr, nullptr}).argmax,
            (std::vector<std::int32_t>{0, 0, 0, 0}));
  const auto r = reference::border_align_forward({s, minus.data(), leaving.data(), nullptr, nullptr});
  EXPECT_EQ(r.output, (Values{0, -1, 0, 0}));  // top leaves the map at x = 4; bottom and right start outside
  EXPECT_EQ(r.argmax, (std::vector<std::int32_t>{2, 0, 0, 0}));
}

TEST(BorderAlignExample, IndicesOutOfRangeAndPointsOutsideContributeNothing) {
  const mluopsBorderAlignShape s = {MLUOP_DTYPE_DOUBLE, 1, 2, 2, 1, 1, 2};
  const Values grad = {1, 1, 1, 1}, box = {0, 0, 4, 1};
  const std::int32_t argmax[] = {2, 3, -1, 2};  // top: x = 4 is outside; left, bottom: no such sample; right: (4, 0)
  EXPECT_EQ(reference::border_align_backward({s, grad.data(), box.data(), argmax, nullptr}), Values(16, 0.0));
}

TEST(BorderAlignExample, NanSticksOnlyInFirstPlace) {
  Values input(4 * 3, 1.0);  // a row of three pixels
  const mluopsBorderAlignShape s = {MLUOP_DTYPE_DOUBLE, 1, 1, 3, 1, 1, 2};
  const Values box = {0, 0, 2, 0};
  input[0] = NAN;  // top starts there
  EXPECT_TRUE(std::isnan(reference::border_align_forward({s, input.data(), box.data(), nullptr, nullptr}).output[0]));
  input[0] = 1;
  input[8] = NAN;  // top ends there
  EXPECT_EQ(reference::border_align_forward({s, input.data(), box.data(), nullptr, nullptr}).output[0], 1);
}

}  // namespace
}  // namespace mluops
