// Correlation: examples worked out by hand, and gradients by differences.
#include "test/reference/correlation.h"

#include <gtest/gtest.h>

#include "test/reference_check/central_difference.h"

namespace mluops {
namespace {

using reference::Values;
using Shape = mluopsCorrelationShape;

Values products(const Shape& s, const Values& first, const Values& second) {
  return reference::correlation_forward({s, first.data(), second.data(), nullptr, MLUOP_LAYOUT_NHWC});
}

Shape line(std::int64_t w, std::int64_t c, int displacement) {
  return {MLUOP_DTYPE_DOUBLE, 1, 1, w, c, 1, w, displacement, 1, 1, 1, 1, 0, 0, 1, 1, 1, 1};
}

TEST(CorrelationExample, ProductsOfChannelsSummed) {
  EXPECT_EQ(products(line(2, 2, 0), {1, 2, 3, 4}, {5, 6, 7, 8}), (Values{17, 53}));
}

TEST(CorrelationExample, DisplacementsAcrossAndZerosBesideTheImage) {
  // p = -1 and 1 leave the one line; q = -1, 0, 1
  const Values none(9, 0);
  Values wanted = none;
  for (const double x : {0., 20., 60., 10., 40., 90., 20., 60., 0.}) wanted.push_back(x);
  wanted.insert(wanted.end(), none.begin(), none.end());
  EXPECT_EQ(products(line(3, 1, 1), {1, 2, 3}, {10, 20, 30}), wanted);
}

TEST(CorrelationExample, WindowsWithPaddingStrideAndDilation) {
  Shape s = line(4, 1, 0);
  s.kernel_w = 2, s.dilation_w = 2, s.pad_w = 1, s.stride_w = 2, s.out_w = 2;
  EXPECT_EQ(products(s, {1, 2, 3, 4}, {1, 1, 1, 1}), (Values{2, 6}));  // pixels -1 and 1, 1 and 3
  s.max_displacement = 1, s.dilation_patch_w = 3;
  const Values found = products(s, {1, 2, 3, 4}, {10, 20, 30, 40});
  EXPECT_EQ(Values(found.begin() + 6, found.begin() + 12), (Values{0, 40, 40, 200, 0, 0}));  // q = -3, 0, 3 pixels
}

TEST(CorrelationGradient, IsThatOfDifferences) {
  const Shape s = {MLUOP_DTYPE_DOUBLE, 2, 4, 3, 2, 3, 4, 1, 2, 1, 2, 1, 1, 1, 1, 2, 1, 2};
  const auto counted = [](std::size_t n, double step) {
    Values v;
    for (std::size_t i = 0; i < n; ++i) v.push_back(static_cast<double>(i * i % 13) * step - 0.5);
    return v;
  };
  Values first = counted(48, 0.1), second = counted(48, 0.07);
  const Values grad = counted(static_cast<std::size_t>(2 * 9 * s.out_h * s.out_w), 0.2);
  const auto found = reference::correlation_backward(
      {s, grad.data(), first.data(), second.data(), nullptr, nullptr, MLUOP_LAYOUT_NHWC});
  const auto loss = [&] {
    const Values all = products(s, first, second);
    double sum = 0;
    for (std::size_t i = 0; i < all.size(); ++i) sum += all[i] * grad[i];
    return sum;
  };
  for (std::size_t i = 0; i < first.size(); ++i) {
    EXPECT_NEAR(found.input1[i], test::central_difference(first[i], 0.5, loss), 1e-9) << i;
    EXPECT_NEAR(found.input2[i], test::central_difference(second[i], 0.5, loss), 1e-9) << i;
  }
}

}  // namespace
}  // namespace mluops
