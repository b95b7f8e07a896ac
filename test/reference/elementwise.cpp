#include "test/reference/elementwise.h"

#include <cmath>

namespace mluops::reference {
namespace {

template <class F>
Values map(mluOpDataType_t dtype, const void* x, std::int64_t count, F f) {
  Values values = decode(dtype, x, count);
  for (double& v : values) v = f(v);
  return values;
}

template <class F>
Values map(mluOpDataType_t dtype, const void* x, const void* y, std::int64_t count, F f) {
  Values values = decode(dtype, x, count);
  const Values other = decode(dtype, y, count);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = f(values[i], other[i]);
  return values;
}

}  // namespace

Values absolute(const mluopsUnaryProblem& p) {
  return map(p.shape.dtype, p.x, p.shape.count, [](double x) { return std::fabs(x); });
}

Values logarithm(const mluopsLogProblem& p) {
  return map(p.shape.dtype, p.x, p.shape.count, [base = p.shape.base](double x) {
    return base == 0 ? std::log(x) : base == 1 ? std::log2(x) : std::log10(x);
  });
}

Values root(const mluopsUnaryProblem& p) {
  return map(p.shape.dtype, p.x, p.shape.count, [](double x) { return std::sqrt(x); });
}

Values root_backward(const mluopsSqrtBackwardProblem& p) {
  return map(p.shape.dtype, p.y, p.diff_y, p.shape.count, [](double y, double diff_y) { return diff_y / (2 * y); });
}

Values quotient(const mluopsDivProblem& p) {
  return map(p.shape.dtype, p.x, p.y, p.shape.count, [](double x, double y) { return x / y; });
}

Values log_gamma(const mluopsUnaryProblem& p) {
  return map(p.shape.dtype, p.x, p.shape.count, [](double x) { return std::lgamma(x); });
}

Values logspace(const mluopsLogspaceProblem& p) {
  const auto last = static_cast<double>(p.shape.steps - 1);
  Values values(static_cast<std::size_t>(p.shape.steps));
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double share = last > 0 ? static_cast<double>(i) / last : 0;
    values[i] = std::pow(p.exact_base, p.exact_start * (1 - share) + p.exact_end * share);
  }
  return values;
}

}  // namespace mluops::reference
