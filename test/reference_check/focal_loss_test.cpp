// The focal losses: examples worked by hand and of mmcv's tests, and gradients against central differences.
#include "test/reference/focal_loss.h"

#include <gtest/gtest.h>

#include <cfloat>
#include <cmath>

#include "test/cases/base/random.h"
#include "test/reference_check/central_difference.h"

namespace mluops {
namespace {

using cases::Random;
using reference::Values;
using Targets = std::vector<std::int32_t>;
using test::central_difference;

mluopsFocalLossProblem problem(const Values& input, const Targets& target, double gamma = 2, double alpha = 0.25,
                               const Values& weight = {}) {
  const auto n = static_cast<std::int64_t>(target.size()), c = static_cast<std::int64_t>(input.size()) / n;
  return {{MLUOP_DTYPE_DOUBLE, n, c, static_cast<float>(alpha), static_cast<float>(gamma)},
          input.data(),
          target.data(),
          weight.empty() ? nullptr : weight.data(),
          nullptr,
          alpha,
          gamma};
}

double sum(const Values& values) {
  double total = 0;
  for (const double v : values) total += v;
  return total;
}

void expect_near(const Values& got, const Values& wanted, double distance) {
  ASSERT_EQ(got.size(), wanted.size());
  for (std::size_t i = 0; i < got.size(); ++i) EXPECT_NEAR(got[i], wanted[i], distance) << "element " << i;
}

// p = 1/2: 1/4 of log 2, weighted.
TEST(FocalLossExamples, LogitsOfZero) {
  const double ln2 = std::log(2.0);
  const Values zeros = {0, 0}, weight = {3, 5};
  expect_near(reference::focal_loss_sigmoid_forward(problem(zeros, {1})), {0.1875 * ln2, 0.0625 * ln2}, 1e-15);
  expect_near(reference::focal_loss_sigmoid_forward(problem(zeros, {2})), {0.1875 * ln2, 0.1875 * ln2}, 1e-15);
  expect_near(reference::focal_loss_sigmoid_forward(problem(zeros, {-1})), {0.1875 * ln2, 0.1875 * ln2}, 1e-15);
  expect_near(reference::focal_loss_sigmoid_forward(problem(zeros, {0}, 2, 0.25, weight)), {0.1875 * ln2, 0.5625 * ln2},
              1e-15);
  // -1/4 * 1/4 * (1/2 + ln 2) and -3/4 * 1/4 * (-ln 2 - 1/2)
  expect_near(reference::focal_loss_sigmoid_backward(problem(zeros, {0})),
              {-0.0625 * (0.5 + ln2), 0.1875 * (ln2 + 0.5)}, 1e-15);
  const Values halves = {0.5, 0.5};
  expect_near(reference::focal_loss_softmax_forward(problem(halves, {1}, 2, 0.25, weight)), {5 * 0.0625 * ln2}, 1e-15);
  expect_near(reference::focal_loss_softmax_forward(problem(halves, {-1}, 2, 0.25, weight)), {0}, 0);
  // 1/4 * (-1/4 - 2 * 1/2 * 1/2 * ln 2) * (-1/2, 1/2)
  expect_near(reference::focal_loss_softmax_backward(problem(halves, {1})),
              {0.03125 + 0.0625 * ln2, -0.03125 - 0.0625 * ln2}, 1e-15);
  expect_near(reference::focal_loss_softmax_backward(problem(halves, {-1})), {0, 0}, 0);
}

// q = 1 - p is far below what p could be told from 1 with: -alpha q (q - log p) = -2 alpha q^2.
TEST(FocalLossExamples, ProbabilitiesThatRoundToOne) {
  const Values input = {60};
  const double q = std::exp(-60.0);
  const Values gradient = reference::focal_loss_sigmoid_backward(problem(input, {0}, 1, 0.75));
  EXPECT_NEAR(gradient[0] / (-1.5 * q * q), 1, 1e-12);
  EXPECT_NEAR(reference::focal_loss_sigmoid_forward(problem(input, {0}, 1, 0.75))[0] / (0.75 * q * q), 1, 1e-12);
}

// The sums over rows, divided by their number, of mmcv's own tests.
TEST(FocalLossExamples, OfMmcv) {
  const Values two = {1, 0, 0, 1}, three = {1, 0, -1, 0, 1, 2};
  EXPECT_NEAR(sum(reference::focal_loss_sigmoid_forward(problem(two, {0, 1}))) / 2, 0.13562961, 1e-6);
  EXPECT_NEAR(sum(reference::focal_loss_sigmoid_forward(problem(three, {2, 1}))) / 2, 1.10251057, 1e-6);
  const Values gradient = reference::focal_loss_sigmoid_backward(problem(three, {2, 1}));
  const Values wanted = {0.28808805, 0.11185755, -0.09602935, 0.11185755, -0.00657264, 0.40376765};
  for (std::size_t i = 0; i < wanted.size(); ++i) EXPECT_NEAR(gradient[i] / 2, wanted[i], 1e-6) << i;
  Values softmax = three;
  for (std::size_t row = 0; row < 6; row += 3) {
    const double all = std::exp(three[row]) + std::exp(three[row + 1]) + std::exp(three[row + 2]);
    for (std::size_t i = row; i < row + 3; ++i) softmax[i] = std::exp(three[i]) / all;
  }
  EXPECT_NEAR(sum(reference::focal_loss_softmax_forward(problem(softmax, {2, 1}))) / 2, 0.34956908, 1e-6);
  const Values of_softmax = reference::focal_loss_softmax_backward(problem(softmax, {2, 1}));
  const Values wanted_too = {0.10165970, 0.03739851, -0.13905823, 0.01227554, -0.10298023, 0.09070466};
  for (std::size_t i = 0; i < wanted_too.size(); ++i) EXPECT_NEAR(of_softmax[i] / 2, wanted_too[i], 1e-6) << i;
}

TEST(FocalLossExamples, LogarithmsAreBounded) {
  const double least = -std::log(static_cast<double>(FLT_MIN)), infinity = std::numeric_limits<double>::infinity();
  const Values far = {-1000, infinity}, probabilities = {0, 1};
  expect_near(reference::focal_loss_sigmoid_forward(problem(far, {0})), {0.25 * least, 0.75 * least}, 1e-12);
  expect_near(reference::focal_loss_sigmoid_backward(problem(far, {0})), {-0.25, 0.75}, 1e-12);
  expect_near(reference::focal_loss_softmax_forward(problem(probabilities, {0})), {0.25 * least}, 1e-12);
  expect_near(reference::focal_loss_softmax_backward(problem(probabilities, {1}, 0.5)), {0, 0}, 0);
}

TEST(FocalLossGradient, Differences) {
  Random random(3);
  for (int round = 0; round < 20; ++round) {
    const std::int64_t n = random.integer(1, 4), c = random.integer(1, 6);
    const bool weighted = round % 2 == 0;
    Values x(static_cast<std::size_t>(n * c)), weight(weighted ? static_cast<std::size_t>(c) : 0);
    for (double& v : x) v = random.real(-4, 4);
    for (double& v : weight) v = random.real(0.5, 2);
    Targets target(static_cast<std::size_t>(n));
    for (std::int32_t& t : target)
      t = static_cast<std::int32_t>(random.integer(weighted ? 0 : -1, c - (weighted ? 1 : 0)));
    const double gamma = random.real(0, 4), alpha = random.real(0, 1);
    const Values gradient = reference::focal_loss_sigmoid_backward(problem(x, target, gamma, alpha, weight));
    const auto loss = [&] {
      return sum(reference::focal_loss_sigmoid_forward(problem(x, target, gamma, alpha, weight)));
    };
    for (std::size_t i = 0; i < x.size(); ++i) {
      const double slope = central_difference(x[i], 1e-6, loss);
      ASSERT_NEAR(slope, gradient[i], 1e-7) << "round " << round << ", element " << i;
    }
  }
}

Values softmax_of(const Values& logits, std::size_t c) {
  Values all = logits;
  for (std::size_t row = 0; row < all.size(); row += c) {
    double total = 0;
    for (std::size_t i = row; i < row + c; ++i) total += std::exp(logits[i]);
    for (std::size_t i = row; i < row + c; ++i) all[i] = std::exp(logits[i]) / total;
  }
  return all;
}

TEST(FocalLossGradient, DifferencesOfSoftmax) {
  Random random(4);
  for (int round = 0; round < 20; ++round) {
    const std::int64_t n = random.integer(1, 4), c = random.integer(2, 6);
    Values x(static_cast<std::size_t>(n * c)), weight(static_cast<std::size_t>(c));
    for (double& v : x) v = random.real(-3, 3);
    for (double& v : weight) v = random.real(0.5, 2);
    Targets target(static_cast<std::size_t>(n));
    for (std::int32_t& t : target) t = static_cast<std::int32_t>(random.integer(-1, c - 1));
    const double gamma = random.real(0, 4), alpha = random.real(0, 1);
    const auto loss = [&] {
      const Values p = softmax_of(x, static_cast<std::size_t>(c));
      return sum(reference::focal_loss_softmax_forward(problem(p, target, gamma, alpha, weight)));
    };
    const Values p = softmax_of(x, static_cast<std::size_t>(c));
    const Values gradient = reference::focal_loss_softmax_backward(problem(p, target, gamma, alpha, weight));
    for (std::size_t i = 0; i < x.size(); ++i) {
      const double slope = central_difference(x[i], 1e-6, loss);
      ASSERT_NEAR(slope, gradient[i], 1e-7) << "round " << round << ", element " << i;
    }
  }
}

}  // namespace
}  // namespace mluops
