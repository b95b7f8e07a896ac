// Upfirdn2d: examples worked out by hand, and the gradient as the operator itself against differences.
#include "test/reference/upfirdn2d.h"

#include <gtest/gtest.h>

#include "test/reference_check/central_difference.h"

namespace mluops {
namespace {

using reference::Values;
using Shape = mluopsUpfirdn2dShape;

Values run(const Shape& s, const Values& input, const Values& filter, double gain = 1) {
  return reference::upfirdn2d({s, input.data(), filter.data(), nullptr, MLUOP_LAYOUT_NHWC, gain});
}

/// One row of w pixels and a filter of fw.
Shape line(std::int64_t w, std::int64_t fw, int up, int down, int x0, int x1) {
  const std::int64_t out = (w * up + x0 + x1 - fw) / down + 1;
  return {MLUOP_DTYPE_DOUBLE, 1, 1, w, 1, 1, fw, 1, out, up, 1, down, 1, x0, x1, 0, 0, 0};
}

TEST(Upfirdn2dExample, AConvolutionAndWithFlipFilterACorrelation) {
  Shape s = line(4, 2, 1, 1, 0, 0);
  EXPECT_EQ(run(s, {1, 2, 3, 4}, {10, 1}), (Values{21, 32, 43}));
  s.flip_filter = 1;
  EXPECT_EQ(run(s, {1, 2, 3, 4}, {10, 1}), (Values{12, 23, 34}));
  EXPECT_EQ(run(s, {1, 2, 3, 4}, {10, 1}, -2), (Values{-24, -46, -68}));
}

TEST(Upfirdn2dExample, ZerosStandBehindEachPixel) {
  EXPECT_EQ(run(line(3, 1, 2, 1, 0, 0), {1, 2, 3}, {1}), (Values{1, 0, 2, 0, 3, 0}));
  EXPECT_EQ(run(line(2, 2, 3, 1, 1, 0), {1, 2}, {10, 1}), (Values{10, 1, 0, 20, 2, 0}));
}

TEST(Upfirdn2dExample, EveryThirdPixelAndPaddingThatCuts) {
  EXPECT_EQ(run(line(7, 1, 1, 3, 0, 0), {1, 2, 3, 4, 5, 6, 7}, {1}), (Values{1, 4, 7}));
  EXPECT_EQ(run(line(5, 1, 1, 1, -1, 2), {1, 2, 3, 4, 5}, {1}), (Values{2, 3, 4, 5, 0, 0}));
  EXPECT_EQ(run(line(3, 1, 2, 1, -3, 1), {1, 2, 3}, {1}), (Values{0, 3, 0, 0}));
}

TEST(Upfirdn2dExample, RowsAndChannelsByThemselves) {
  Shape s = {MLUOP_DTYPE_DOUBLE, 1, 2, 2, 2, 2, 1, 3, 2, 1, 1, 1, 1, 0, 0, 1, 1, 1};
  const Values input = {1, 5, 2, 6, 3, 7, 4, 8};  // rows (1 2) and (3 4) beside (5 6) and (7 8)
  EXPECT_EQ(run(s, input, {10, 1}), (Values{1, 5, 2, 6, 13, 57, 24, 68, 30, 70, 40, 80}));
}

TEST(Upfirdn2dGradient, IsTheOperatorItself) {
  const Shape s = {MLUOP_DTYPE_DOUBLE, 2, 4, 5, 2, 3, 4, 5, 4, 3, 2, 4, 1, 2, -1, -2, 1, 0};
  ASSERT_EQ((s.h * s.up_y + s.pad_y0 + s.pad_y1 - s.fh) / s.down_y + 1, s.out_h);
  ASSERT_EQ((s.w * s.up_x + s.pad_x0 + s.pad_x1 - s.fw) / s.down_x + 1, s.out_w);
  const auto counted = [](std::int64_t n, double step) {
    Values v;
    for (std::int64_t i = 0; i < n; ++i) v.push_back(static_cast<double>(i * i % 13) * step - 0.5);
    return v;
  };
  Values input = counted(s.n * s.h * s.w * s.c, 0.1);
  const Values filter = counted(s.fh * s.fw, 0.07), grad = counted(s.n * s.out_h * s.out_w * s.c, 0.2);
  const auto begin = [](std::int64_t f, int pad) { return static_cast<int>(f) - 1 - pad; };
  const auto end = [](std::int64_t size, std::int64_t out, int up, int down, int pad) {
    return static_cast<int>(size * up - out * down) + pad - up + 1;
  };
  const Shape back = {MLUOP_DTYPE_DOUBLE,
                      s.n,
                      s.out_h,
                      s.out_w,
                      s.c,
                      s.fh,
                      s.fw,
                      s.h,
                      s.w,
                      s.down_x,
                      s.down_y,
                      s.up_x,
                      s.up_y,
                      begin(s.fw, s.pad_x0),
                      end(s.w, s.out_w, s.up_x, s.down_x, s.pad_x0),
                      begin(s.fh, s.pad_y0),
                      end(s.h, s.out_h, s.up_y, s.down_y, s.pad_y0),
                      1};
  const Values found = run(back, grad, filter, 1.5);
  for (std::size_t i = 0; i < input.size(); ++i) {
    const double slope = test::central_difference(input[i], 1e-3, [&] {
      const Values all = run(s, input, filter, 1.5);
      double sum = 0;
      for (std::size_t k = 0; k < all.size(); ++k) sum += all[k] * grad[k];
      return sum;
    });
    EXPECT_NEAR(found[i], slope, 1e-9) << i;
  }
}

}  // namespace
}  // namespace mluops
