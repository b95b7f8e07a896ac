#include "test/reference/mutual_information.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace mluops::reference {
namespace {

/// Places of elements in px, py and p.
struct Places {
  mluopsMutualInformationShape s;

  std::size_t px(std::int64_t b, std::int64_t i, std::int64_t t) const {
    return static_cast<std::size_t>((b * s.s + i) * (s.t + 1) + t);
  }
  std::size_t py(std::int64_t b, std::int64_t i, std::int64_t t) const {
    return static_cast<std::size_t>((b * (s.s + 1) + i) * s.t + t);
  }
  std::size_t p(std::int64_t b, std::int64_t i, std::int64_t t) const {
    return static_cast<std::size_t>((b * (s.s + 1) + i) * (s.t + 1) + t);
  }
};

std::array<std::int64_t, 4> boundary(const mluopsMutualInformationShape& s, const void* rows, std::int64_t b) {
  if (rows == nullptr) return {0, 0, s.s, s.t};
  const std::int64_t* const row = static_cast<const std::int64_t*>(rows) + 4 * b;
  return {row[0], row[1], row[2], row[3]};
}

double log_of_sum(double x, double y) {
  const double most = std::max(x, y);
  return std::isinf(most) ? most : most + std::log(std::exp(x - most) + std::exp(y - most));
}

}  // namespace

PathSums mutual_information_forward(const mluopsMutualInformationForwardProblem& problem, Values before) {
  const Places at{problem.shape};
  const mluopsMutualInformationShape& n = problem.shape;
  const Values px = decode(n.dtype, problem.px, n.b * n.s * (n.t + 1)),
               py = decode(n.dtype, problem.py, n.b * (n.s + 1) * n.t);
  PathSums r{std::move(before), Values(static_cast<std::size_t>(n.b))};
  constexpr double kNothing = -std::numeric_limits<double>::infinity();
  for (std::int64_t b = 0; b < n.b; ++b) {
    const auto [s0, t0, s1, t1] = boundary(n, problem.opt_boundary, b);
    for (std::int64_t s = s0; s <= s1; ++s) {
      for (std::int64_t t = t0; t <= t1; ++t) {
        const double above = s == s0 ? kNothing : r.p[at.p(b, s - 1, t)] + px[at.px(b, s - 1, t)];
        const double left = t == t0 ? kNothing : r.p[at.p(b, s, t - 1)] + py[at.py(b, s, t - 1)];
        r.p[at.p(b, s, t)] = s == s0 && t == t0 ? 0 : log_of_sum(above, left);
      }
    }
    r.ans[static_cast<std::size_t>(b)] = r.p[at.p(b, s1, t1)];
  }
  return r;
}

PathGradients mutual_information_backward(const mluopsMutualInformationBackwardProblem& problem) {
  const Places at{problem.shape};
  const mluopsMutualInformationShape& n = problem.shape;
  const Values px = decode(n.dtype, problem.px, n.b * n.s * (n.t + 1)),
               py = decode(n.dtype, problem.py, n.b * (n.s + 1) * n.t);
  Values p = decode(n.dtype, problem.p, n.b * (n.s + 1) * (n.t + 1)), p_grad(p.size(), 0.0);
  for (double& v : p) v = std::max(v, -1e30);
  const double most = n.dtype == MLUOP_DTYPE_DOUBLE ? std::numeric_limits<double>::max()
                                                    : static_cast<double>(std::numeric_limits<float>::max());
  const auto share = [most](double x) { return std::isfinite(x) && std::exp(x) <= most ? std::exp(x) : 0.0; };
  PathGradients r{decode(n.dtype, problem.ans_grad, n.b), Values(px.size(), 0.0), Values(py.size(), 0.0)};
  for (std::int64_t b = 0; b < n.b; ++b) {
    const auto [s0, t0, s1, t1] = boundary(n, problem.opt_boundary, b);
    double& ans_grad = r.ans_grad[static_cast<std::size_t>(b)];
    p_grad[at.p(b, s1, t1)] = ans_grad;
    // Each cell hands its gradient on to the two it came from.
    for (std::int64_t s = s1; s >= s0; --s) {
      for (std::int64_t t = t1; t >= t0; --t) {
        const std::size_t here = at.p(b, s, t);
        if (s > s0) {
          const std::size_t from = at.p(b, s - 1, t), edge = at.px(b, s - 1, t);
          r.px_grad[edge] = p_grad[here] * share(p[from] + px[edge] - p[here]);
          p_grad[from] += r.px_grad[edge];
        }
        if (t > t0) {
          const std::size_t from = at.p(b, s, t - 1), edge = at.py(b, s, t - 1);
          r.py_grad[edge] = p_grad[here] * share(p[from] + py[edge] - p[here]);
          p_grad[from] += r.py_grad[edge];
        }
      }
    }
    if (problem.overwrite_ans_grad != 0) ans_grad = p_grad[at.p(b, s0, t0)];
  }
  return r;
}

}  // namespace mluops::reference
