// Deformable convolution: examples worked by hand, the vendor's, and gradients against central differences.
#include "test/reference/dcn.h"

#include <gtest/gtest.h>

#include <cmath>

#include "test/cases/base/random.h"
#include "test/reference_check/central_difference.h"

namespace mluops {
namespace {

using cases::Random;
using reference::Values;
using test::central_difference;

struct Inputs {
  mluopsDcnShape shape;
  Values input, offset, mask, filter, bias;

  const double* mask_data() const { return mask.empty() ? nullptr : mask.data(); }
  Values forward() const {
    return reference::dcn_forward({shape, input.data(), offset.data(), mask_data(), filter.data(),
                                   bias.empty() ? nullptr : bias.data(), nullptr, MLUOP_LAYOUT_NHWC});
  }
  reference::DcnDataGradients backward_data(const Values& grad) const {
    return reference::dcn_backward_data({shape, input.data(), offset.data(), mask_data(), filter.data(), grad.data(),
                                         nullptr, nullptr, nullptr, MLUOP_LAYOUT_NHWC});
  }
  reference::DcnWeightGradients backward_weight(const Values& grad) const {
    return reference::dcn_backward_weight(
        {shape, input.data(), offset.data(), mask_data(), grad.data(), nullptr, nullptr, MLUOP_LAYOUT_NHWC});
  }
};

// A filter of one tap on a map 1 2 / 3 4 that gives one pixel.
Inputs one_tap(double dy, double dx) {
  return {
      {MLUOP_DTYPE_DOUBLE, 1, 2, 2, 1, 1, 1, 1, 1, 1, 0, 0, 2, 2, 1, 1, 1, 1}, {1, 2, 3, 4}, {dy, dx}, {}, {10}, {}};
}

TEST(DcnExamples, OneTap) {
  EXPECT_EQ(one_tap(0, 0).forward(), (Values{10}));
  EXPECT_EQ(one_tap(0.5, 0.5).forward(), (Values{25}));
  EXPECT_EQ(one_tap(-0.5, 0).forward(), (Values{5}));  // half of it beyond the map
  for (const double off : {-1.0, 2.0, std::nan("")}) EXPECT_EQ(one_tap(off, 0).forward(), (Values{0}));
  Inputs weighted = one_tap(0, 1);
  weighted.mask = {0.5};
  weighted.bias = {7};
  EXPECT_EQ(weighted.forward(), (Values{17}));
}

TEST(DcnExamples, GradientsOfOneTap) {
  const Inputs in = one_tap(0.5, 0.25);
  const auto g = in.backward_data({2});
  EXPECT_EQ(g.input, (Values{7.5, 2.5, 7.5, 2.5}));
  EXPECT_EQ(g.offset, (Values{40, 20}));  // 2 * 10 * (2, 1)
  EXPECT_EQ(in.backward_weight({2}).filter, (Values{4.5}));
  EXPECT_EQ(in.backward_weight({2}).bias, (Values{2}));
}

// Without offsets it is the convolution that everyone knows: here with strides, padding and dilation.
TEST(DcnExamples, NoOffsetsIsAConvolution) {
  const Inputs in = {{MLUOP_DTYPE_DOUBLE, 1, 3, 3, 1, 1, 2, 2, 2, 2, 1, 1, 2, 2, 2, 2, 1, 1},
                     {1, 2, 3, 4, 5, 6, 7, 8, 9},
                     Values(32, 0.0),
                     {},
                     {1, 10, 100, 1000},
                     {}};
  EXPECT_EQ(in.forward(), (Values{5000, 100 * 5, 10 * 5, 5}));
}

// Two convolution groups and two deformable ones, of which the second looks a column further.
TEST(DcnExamples, Groups) {
  const Inputs in = {{MLUOP_DTYPE_DOUBLE, 1, 1, 2, 2, 2, 1, 1, 1, 1, 0, 0, 2, 2, 1, 1, 2, 2},
                     {1, 2, 3, 4},
                     {0, 0, 0, 1},
                     {},
                     {5, 7},
                     {}};
  EXPECT_EQ(in.forward(), (Values{5 * 1, 7 * 4}));
}

// The example of the vendor's documentation, whose numbers have four digits.
TEST(DcnExamples, OfMluOps) {
  const Inputs in = {{MLUOP_DTYPE_DOUBLE, 1, 3, 3, 2, 2, 1, 1, 3, 3, 0, 0, 1, 1, 1, 1, 1, 1},
                     {0.7944, 0.4922, 0.2008, 0.2081, 0.9998, 0.3053, 0.1815, 0.9210, 0.8463, 0.1819, 0.9159, 0.4917,
                      0.6668, 0.2843, 0.8364, 0.2765, 0.7150, 0.6780},
                     {-0.6317, -1.4928, -0.0696, 1.1910, 0.8778, 0.5145, -0.9248, -0.9889, 0.6157, 0.2157, -1.1540,
                      -0.1283, -0.5704, 1.0237, 0.7956, 1.1203, -0.0129, -0.2686},
                     {0.4581, -1.1605, 0.5951, 0.4313, 0.1070, 0.0225, 0.7484, 0.6262, 1.1908},
                     {0.8928, 0.9682, 0.9301, 0.6817},
                     {0.4356, 0.0840}};
  const Values wanted = {0.4356, 0.0840, -0.6024, -0.9101, 0.8056, 0.4252, 0.4412, 0.0890, 0.5478,
                         0.1898, 0.4562, 0.1037,  1.1652,  0.7876, 0.5814, 0.2109, 1.8874, 1.3752};
  const Values got = in.forward();
  ASSERT_EQ(got.size(), wanted.size());
  for (std::size_t i = 0; i < got.size(); ++i) EXPECT_NEAR(got[i], wanted[i], 2e-4) << "element " << i;
}

Inputs random_inputs(Random& random, bool masked) {
  Inputs in;
  const std::int64_t groups = random.integer(1, 2), deform_groups = random.integer(1, 2);
  const auto one_or_two = [&] { return random.integer(1, 2); };
  in.shape = {MLUOP_DTYPE_DOUBLE,
              2,
              random.integer(2, 4),
              random.integer(2, 4),
              2 * one_or_two(),
              groups * one_or_two(),
              one_or_two(),
              random.integer(1, 3),
              one_or_two(),
              random.integer(1, 3),
              random.integer(0, 1),
              random.integer(0, 1),
              one_or_two(),
              one_or_two(),
              one_or_two(),
              one_or_two(),
              groups,
              deform_groups};
  const auto& s = in.shape;
  const std::int64_t places = s.batch * s.out_h * s.out_w * deform_groups * s.kernel_h * s.kernel_w;
  const auto fill = [&](Values& values, std::int64_t count) {
    values.resize(static_cast<std::size_t>(count));
    for (double& v : values) v = random.real(-1.4, 1.4);
  };
  fill(in.input, s.batch * s.h * s.w * s.ci);
  fill(in.offset, 2 * places);
  if (masked) fill(in.mask, places);
  fill(in.filter, s.co * s.kernel_h * s.kernel_w * s.ci / groups);
  fill(in.bias, s.co);
  return in;
}

TEST(DcnGradient, Differences) {
  Random random(5);
  for (int round = 0; round < 16; ++round) {
    Inputs in = random_inputs(random, round % 2 == 0);
    Values grad(static_cast<std::size_t>(in.shape.batch * in.shape.out_h * in.shape.out_w * in.shape.co));
    for (double& v : grad) v = random.real(-1, 1);
    const auto data = in.backward_data(grad);
    const auto weight = in.backward_weight(grad);
    const auto loss = [&] {
      const Values out = in.forward();
      double sum = 0;
      for (std::size_t i = 0; i < out.size(); ++i) sum += out[i] * grad[i];
      return sum;
    };
    const std::pair<Values*, const Values*> pairs[] = {{&in.input, &data.input},
                                                       {&in.offset, &data.offset},
                                                       {&in.mask, &data.mask},
                                                       {&in.filter, &weight.filter},
                                                       {&in.bias, &weight.bias}};
    for (const auto& [values, gradient] : pairs) {
      ASSERT_EQ(values->size(), gradient->size());
      for (std::size_t i = 0; i < values->size(); ++i) {
        const double slope = central_difference((*values)[i], 1e-7, loss);
        ASSERT_NEAR(slope, (*gradient)[i], 1e-5) << "round " << round << ", element " << i;
      }
    }
  }
}

}  // namespace
}  // namespace mluops
