// Every gradient of the reference against central differences of its forward function.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "test/cases/base/random.h"
#include "test/reference/reference.h"
#include "test/reference_check/central_difference.h"
#include "test/support/problem.h"

namespace mluops {
namespace {

using cases::Random;
using reference::Values;
using test::central_difference;

Values numbers(Random& random, std::size_t count, double low = -1, double high = 1) {
  Values values(count);
  for (double& v : values) v = random.real(low, high);
  return values;
}

double weighted_sum(const Values& values, const Values& weights) {
  double sum = 0;
  for (std::size_t i = 0; i < values.size(); ++i) sum += values[i] * weights[i];
  return sum;
}

// loss changes by gradient[i] per unit of x[i].
void expect_gradient(Values& x, const Values& gradient, const std::function<double()>& loss, double step = 1e-5) {
  ASSERT_EQ(x.size(), gradient.size());
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double slope = central_difference(x[i], step, loss);
    ASSERT_NEAR(slope, gradient[i], 1e-8 * (1 + std::fabs(gradient[i]))) << "element " << i;
  }
}

TEST(Gradient, Carafe) {
  Random random(1);
  for (int round = 0; round < 12; ++round) {
    const std::int64_t g = random.integer(1, 2), k = 2 * random.integer(0, 2) + 1, s = random.integer(1, 3);
    const std::int64_t h = random.integer(1, 4), w = random.integer(1, 4), c = g * random.integer(1, 3);
    const mluopsCarafeShape shape = {MLUOP_DTYPE_DOUBLE, 2, h, w, c, s * h, s * w, k, g, s};
    const std::size_t pixels = static_cast<std::size_t>(2 * s * h * s * w);
    Values input = numbers(random, static_cast<std::size_t>(2 * h * w * c));
    Values mask = numbers(random, pixels * static_cast<std::size_t>(g * k * k));
    const Values grad = numbers(random, pixels * static_cast<std::size_t>(c));
    const auto loss = [&] {
      return weighted_sum(reference::carafe_forward({shape, input.data(), mask.data(), nullptr}), grad);
    };
    const auto result = reference::carafe_backward({shape, input.data(), mask.data(), grad.data(), nullptr, nullptr});
    expect_gradient(input, result.input, loss);
    expect_gradient(mask, result.mask, loss);
  }
}

TEST(Gradient, Psamask) {
  Random random(2);
  for (int round = 0; round < 12; ++round) {
    const std::int64_t h = random.integer(1, 4), w = random.integer(1, 4);
    const std::int64_t hm = random.integer(1, 8), wm = random.integer(1, 8);
    const mluopsPsamaskShape s = {MLUOP_DTYPE_DOUBLE, 2, h, w, hm, wm, round % 2};
    Values x = numbers(random, static_cast<std::size_t>(2 * h * w * hm * wm));
    const Values dy = numbers(random, static_cast<std::size_t>(2 * h * w * h * w));
    const auto loss = [&] { return weighted_sum(reference::psamask_forward({s, x.data(), nullptr}), dy); };
    expect_gradient(x, reference::psamask_backward({s, dy.data(), nullptr}), loss, 1);
  }
}

TEST(Gradient, ThreeInterpolate) {
  Random random(3);
  for (int round = 0; round < 12; ++round) {
    const mluopsThreeInterpolateShape s = {MLUOP_DTYPE_DOUBLE, 2, random.integer(1, 4), random.integer(1, 9),
                                           random.integer(1, 9)};
    Values features = numbers(random, static_cast<std::size_t>(s.b * s.c * s.m));
    Values weights = numbers(random, static_cast<std::size_t>(s.b * s.n * 3));
    const Values grad = numbers(random, static_cast<std::size_t>(s.b * s.c * s.n));
    std::vector<std::int32_t> indices(weights.size());
    for (std::int32_t& i : indices) i = static_cast<std::int32_t>(random.integer(-1, s.m));
    const auto loss = [&] {
      return weighted_sum(
          reference::three_interpolate_forward({s, features.data(), indices.data(), weights.data(), nullptr}), grad);
    };
    const Values result =
        reference::three_interpolate_backward({s, grad.data(), indices.data(), weights.data(), nullptr});
    expect_gradient(features, result, loss);
    const Values of_weights =
        reference::three_interpolate_backward_weight({s, grad.data(), features.data(), indices.data(), nullptr});
    expect_gradient(weights, of_weights, loss);
  }
}

struct DeformRoiPool {
  mluopsDeformRoiPoolShape shape;
  Values input, rois, offset, grad;
  double loss() const {
    const Values output = reference::deform_roi_pool_forward({shape, input.data(), rois.data(), offset.data(), nullptr,
                                                              MLUOP_LAYOUT_NHWC, shape.spatial_scale, shape.gamma});
    return weighted_sum(output, grad);
  }
  reference::DeformRoiPoolGradients backward() const {
    return reference::deform_roi_pool_backward({shape, grad.data(), input.data(), rois.data(), offset.data(), nullptr,
                                                nullptr, MLUOP_LAYOUT_NHWC, shape.spatial_scale, shape.gamma});
  }
};

DeformRoiPool make_pool(Random& random, int ratio) {
  DeformRoiPool d{{MLUOP_DTYPE_DOUBLE, 2, 9, 8, 3, 3, 2, 3, 0.5f, 0.25f, ratio}, {}, {}, {}, {}};
  d.input = numbers(random, 2 * 9 * 8 * 3);
  d.offset = numbers(random, 3 * 2 * 2 * 3);
  d.grad = numbers(random, 3 * 2 * 3 * 3);
  for (int r = 0; r < 3; ++r) {
    const double x = random.real(3, 6), y = random.real(3, 6);  // on the map: 1 to 2.5
    const Values roi = {static_cast<double>(random.integer(0, 1)), x, y, x + random.real(1, 7), y + random.real(1, 8)};
    d.rois.insert(d.rois.end(), roi.begin(), roi.end());
  }
  return d;
}

TEST(Gradient, DeformRoiPoolInput) {
  Random random(4);
  for (int ratio : {0, 1, 2, 3, -1}) {
    DeformRoiPool d = make_pool(random, ratio);
    for (double& corner : d.rois) corner *= ratio == 1 ? 1.4 : 1;  // one RoI leaves the map
    for (int r = 0; r < 3; ++r) d.rois[r * 5] = r % 2;
    const auto loss = [&] { return d.loss(); };
    expect_gradient(d.input, d.backward().input, loss);
  }
}

// All samples inside the map, where the device's rule is the derivative. The step is small enough not to cross a pixel.
TEST(Gradient, DeformRoiPoolOffset) {
  Random random(5);
  for (int ratio : {0, 1, 2, 3}) {
    for (int round = 0; round < 4; ++round) {
      DeformRoiPool d = make_pool(random, ratio);
      const auto loss = [&] { return d.loss(); };
      expect_gradient(d.offset, d.backward().offset, loss, 1e-6);
    }
  }
}

TEST(Gradient, BorderAlignInput) {
  Random random(6);
  for (int round = 0; round < 8; ++round) {
    const mluopsBorderAlignShape s = {MLUOP_DTYPE_DOUBLE,  2, random.integer(1, 5), random.integer(1, 5), 2, 4,
                                      random.integer(1, 5)};
    Values input = numbers(random, static_cast<std::size_t>(2 * s.h * s.w * 4 * 2));
    const Values boxes = numbers(random, 2 * 4 * 4, -2, 6), grad = numbers(random, 2 * 4 * 4 * 2);
    const auto forward = [&] {
      return reference::border_align_forward({s, input.data(), boxes.data(), nullptr, nullptr});
    };
    const auto loss = [&] { return weighted_sum(forward().output, grad); };
    const Values result =
        reference::border_align_backward({s, grad.data(), boxes.data(), forward().argmax.data(), nullptr});
    expect_gradient(input, result, loss, 1e-7);  // too small to change which sample wins
  }
}

}  // namespace
}  // namespace mluops
