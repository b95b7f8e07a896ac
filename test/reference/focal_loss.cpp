#include "test/reference/focal_loss.h"

#include <cfloat>
#include <cmath>

namespace mluops::reference {
namespace {

double sigmoid(double x) {
  return 1 / (1 + std::exp(-x));
}

double bounded_log(double p) {
  return std::log(p < static_cast<double>(FLT_MIN) ? static_cast<double>(FLT_MIN) : p);
}

// The logarithm of p = 1 - q, also if q is so small that p rounds to 1.
double bounded_log(double p, double q) {
  return q < 0.5 ? std::log1p(-q) : bounded_log(p);
}

// [n]; 1 where there is none.
Values weights_of_rows(const mluopsFocalLossProblem& p) {
  const mluopsFocalLossShape& s = p.shape;
  Values of_rows(static_cast<std::size_t>(s.n), 1.0);
  if (p.weight == nullptr) return of_rows;
  const Values weight = decode(s.dtype, p.weight, s.c);
  for (std::int64_t n = 0; n < s.n; ++n) {
    if (p.target[n] >= 0) of_rows[static_cast<std::size_t>(n)] = weight[static_cast<std::size_t>(p.target[n])];
  }
  return of_rows;
}

// value(probability, 1 - probability, whether it is the target's class) for each logit, times the weight.
template <class Value>
Values of_logits(const mluopsFocalLossProblem& p, Value value) {
  const mluopsFocalLossShape& s = p.shape;
  const Values weights = weights_of_rows(p);
  Values result = decode(s.dtype, p.input, s.n * s.c);
  for (std::int64_t c = 0; c < s.c; ++c) {
    for (std::int64_t n = 0; n < s.n; ++n) {
      double& x = result[static_cast<std::size_t>(n * s.c + c)];
      x = value(sigmoid(x), sigmoid(-x), p.target[n] == c) * weights[static_cast<std::size_t>(n)];
    }
  }
  return result;
}

}  // namespace

Values focal_loss_sigmoid_forward(const mluopsFocalLossProblem& problem) {
  const double alpha = problem.exact_alpha, gamma = problem.exact_gamma;
  return of_logits(problem, [&](double p, double q, bool positive) {
    return positive ? -alpha * std::pow(q, gamma) * bounded_log(p, q)
                    : -(1 - alpha) * std::pow(p, gamma) * bounded_log(q, p);
  });
}

Values focal_loss_sigmoid_backward(const mluopsFocalLossProblem& problem) {
  const double alpha = problem.exact_alpha, gamma = problem.exact_gamma;
  return of_logits(problem, [&](double p, double q, bool positive) {
    return positive ? -alpha * std::pow(q, gamma) * (q - gamma * p * bounded_log(p, q))
                    : -(1 - alpha) * std::pow(p, gamma) * (gamma * q * bounded_log(q, p) - p);
  });
}

Values focal_loss_softmax_forward(const mluopsFocalLossProblem& problem) {
  const mluopsFocalLossShape& s = problem.shape;
  const Values softmax = decode(s.dtype, problem.input, s.n * s.c), weights = weights_of_rows(problem);
  Values output(static_cast<std::size_t>(s.n), 0.0);
  for (std::int64_t n = 0; n < s.n; ++n) {
    if (problem.target[n] < 0) continue;
    const double p = softmax[static_cast<std::size_t>(n * s.c + problem.target[n])];
    const double gamma = problem.exact_gamma, scale = -problem.exact_alpha * weights[static_cast<std::size_t>(n)];
    output[static_cast<std::size_t>(n)] = scale * std::pow(1 - p, gamma) * bounded_log(p);
  }
  return output;
}

Values focal_loss_softmax_backward(const mluopsFocalLossProblem& problem) {
  const mluopsFocalLossShape& s = problem.shape;
  const Values softmax = decode(s.dtype, problem.input, s.n * s.c), weights = weights_of_rows(problem);
  Values gradient(softmax.size(), 0.0);
  const double alpha = problem.exact_alpha, gamma = problem.exact_gamma;
  for (std::size_t i = 0; i < softmax.size(); ++i) {
    const auto n = i / static_cast<std::size_t>(s.c), c = i % static_cast<std::size_t>(s.c);
    if (problem.target[n] < 0) continue;
    const auto target = static_cast<std::size_t>(problem.target[n]);
    const double p = softmax[n * static_cast<std::size_t>(s.c) + target];
    const double second = p == 1 ? 0 : gamma * std::pow(1 - p, gamma - 1) * p * bounded_log(p);
    const double b = alpha * (second - std::pow(1 - p, gamma)) * weights[n];
    gradient[i] = b * ((c == target ? 1.0 : 0.0) - softmax[i]);
  }
  return gradient;
}

}  // namespace mluops::reference
