// MsDeformAttn: examples worked by hand, and gradients against central differences.
#include "test/reference/ms_deform_attn.h"

#include <gtest/gtest.h>

#include <cmath>

#include "test/cases/base/random.h"
#include "test/reference_check/central_difference.h"

namespace mluops {
namespace {

using cases::Random;
using reference::Values;
using Ints = std::vector<std::int32_t>;
using test::central_difference;

struct Inputs {
  mluopsMsDeformAttnShape shape;
  Ints shapes, starts;
  Values value, loc, weight;

  Values forward() const {
    return reference::ms_deform_attn_forward(
        {shape, value.data(), shapes.data(), starts.data(), loc.data(), weight.data(), nullptr});
  }
  reference::MsDeformAttnGradients backward(const Values& grad) const {
    return reference::ms_deform_attn_backward({shape, value.data(), shapes.data(), starts.data(), loc.data(),
                                               weight.data(), grad.data(), nullptr, nullptr, nullptr});
  }
};

// A map 1 2 / 3 4, one query with one sample.
Inputs four_pixels(double x, double y, double weight = 1) {
  return {{MLUOP_DTYPE_DOUBLE, 1, 4, 1, 1, 1, 1, 1}, {2, 2}, {0}, {1, 2, 3, 4}, {x, y}, {weight}};
}

TEST(MsDeformAttnExamples, TheMiddle) {
  const Inputs middle = four_pixels(0.5, 0.5, 3);
  EXPECT_EQ(middle.forward(), (Values{7.5}));
  const auto g = middle.backward({2});
  EXPECT_EQ(g.value, (Values{1.5, 1.5, 1.5, 1.5}));
  EXPECT_EQ(g.sampling_loc, (Values{12, 24}));  // 2 * 3 * 2 * (1, 2)
  EXPECT_EQ(g.attn_weight, (Values{5}));
}

TEST(MsDeformAttnExamples, BeyondTheMapIsZero) {
  const Inputs corner = four_pixels(0, 0);  // at (-1/2, -1/2)
  EXPECT_EQ(corner.forward(), (Values{0.25}));
  const auto g = corner.backward({1});
  EXPECT_EQ(g.value, (Values{0.25, 0, 0, 0}));
  EXPECT_EQ(g.sampling_loc, (Values{1, 1}));
  for (const double x : {-0.25, 1.25, std::nan("")}) {  // at -1, at 2
    EXPECT_EQ(four_pixels(x, 0.5).forward(), (Values{0}));
    EXPECT_EQ(four_pixels(x, 0.5).backward({1}).value, (Values{0, 0, 0, 0}));
  }
}

// Two levels, of which the second starts later than the first ends; two heads.
TEST(MsDeformAttnExamples, LevelsAndHeads) {
  const Inputs two = {{MLUOP_DTYPE_DOUBLE, 1, 4, 2, 1, 2, 1, 1},
                      {1, 1, 1, 2},
                      {0, 2},
                      {1, 10, 5, 50, 2, 20, 4, 40},  // the pixels of both heads; the second belongs to no level
                      {0.5, 0.5, 0.25, 0.5, 0.5, 0.5, 0.75, 0.5},
                      {1, 1, 1, 2}};
  EXPECT_EQ(two.forward(), (Values{1 + 2, 10 + 2 * 40}));
  EXPECT_EQ(two.backward({1, 1}).value, (Values{1, 1, 0, 0, 1, 0, 0, 2}));
}

Inputs random_inputs(Random& random) {
  Inputs in;
  in.shape = {
      MLUOP_DTYPE_DOUBLE,  2, 0, random.integer(1, 2), random.integer(1, 3), random.integer(1, 3), random.integer(1, 3),
      random.integer(1, 2)};
  auto& s = in.shape;
  for (std::int64_t level = 0; level < s.levels; ++level) {
    const auto h = static_cast<std::int32_t>(random.integer(1, 4)), w = static_cast<std::int32_t>(random.integer(1, 4));
    in.shapes.insert(in.shapes.end(), {h, w});
    in.starts.push_back(static_cast<std::int32_t>(s.keys));
    s.keys += h * w;
  }
  const auto samples = static_cast<std::size_t>(s.batch * s.queries * s.heads * s.levels * s.points);
  in.value.resize(static_cast<std::size_t>(s.batch * s.keys * s.heads * s.channels));
  in.loc.resize(2 * samples);
  in.weight.resize(samples);
  for (double& v : in.value) v = random.real(-1, 1);
  for (double& v : in.loc) v = random.real(-0.3, 1.3);
  for (double& v : in.weight) v = random.real(0, 1);
  return in;
}

TEST(MsDeformAttnGradient, Differences) {
  Random random(11);
  for (int round = 0; round < 20; ++round) {
    Inputs in = random_inputs(random);
    Values grad(static_cast<std::size_t>(in.shape.batch * in.shape.queries * in.shape.heads * in.shape.channels));
    for (double& v : grad) v = random.real(-1, 1);
    const auto g = in.backward(grad);
    const auto loss = [&] {
      const Values out = in.forward();
      double sum = 0;
      for (std::size_t i = 0; i < out.size(); ++i) sum += out[i] * grad[i];
      return sum;
    };
    const std::pair<Values*, const Values*> pairs[] = {
        {&in.value, &g.value}, {&in.loc, &g.sampling_loc}, {&in.weight, &g.attn_weight}};
    for (const auto& [values, gradient] : pairs) {
      for (std::size_t i = 0; i < values->size(); ++i) {
        const double slope = central_difference((*values)[i], 1e-7, loss);
        ASSERT_NEAR(slope, (*gradient)[i], 1e-6) << "round " << round << ", element " << i;
      }
    }
  }
}

}  // namespace
}  // namespace mluops
