#include "test/reference/adam_w.h"

#include <cmath>

namespace mluops::reference {

AdamWState adam_w(const mluopsAdamWProblem& p) {
  const mluopsAdamWShape& s = p.shape;
  const auto real = [](float x) { return static_cast<double>(x); };
  AdamWState r{decode(MLUOP_DTYPE_FLOAT, p.param, s.count),
               {},
               decode(MLUOP_DTYPE_FLOAT, p.momentum, s.count),
               decode(MLUOP_DTYPE_FLOAT, p.velocity, s.count)};
  const Values grad = decode(s.dtype, p.grad, s.count);
  double bias1 = real(s.bias1), bias2 = real(s.bias2);
  if (s.remove_nan != 0) {
    const double step = decode(MLUOP_DTYPE_FLOAT, p.param_h, 1)[0];
    bias1 = 1 - std::pow(real(s.beta1), step);
    bias2 = 1 - std::pow(real(s.beta2), step);
    r.param_h = {step + 1};
  }
  for (std::size_t i = 0; i < grad.size(); ++i) {
    const double g = grad[i] / real(s.grad_scale);
    const double m = real(s.beta1) * r.momentum[i] + (1 - real(s.beta1)) * g;
    const double v = real(s.beta2) * r.velocity[i] + (1 - real(s.beta2)) * g * g;
    const double move = real(s.lr) * (m / bias1) / (std::sqrt(v / bias2) + real(s.epsilon));
    const double param = r.param[i] - move - real(s.lr) * real(s.weight_decay) * r.param[i];
    if (s.remove_nan != 0 && !std::isfinite(m) && !std::isfinite(v) && !std::isfinite(param)) continue;
    r.momentum[i] = m, r.velocity[i] = v, r.param[i] = param;
  }
  if (s.remove_nan == 0 && p.param_h != nullptr) r.param_h = r.param;
  return r;
}

}  // namespace mluops::reference
