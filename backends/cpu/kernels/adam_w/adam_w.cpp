// AdamW: one pass over the elements, each independent; a task owns those it writes. Seven numbers an element are moved:
// bound by memory. No fused operations: results are bitwise equal at every instruction-set level.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/kernels/adam_w/adam_w.cpp"
#include <hwy/foreach_target.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "backends/cpu/dispatch.h"
#include "backends/cpu/simd/simd-inl.h"
#include "mluops/problem/adam_w.h"

HWY_BEFORE_NAMESPACE();
namespace mluops::cpu::adam_w::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
using namespace cpu::HWY_NAMESPACE;
namespace {

/// The numbers of a call: rate = lr / bias1, and the reciprocals of bias2 and grad_scale. A vector of elements takes
/// one division instead of four, which would bound the loop.
struct Factors {
  float beta1, rest1, beta2, rest2, rate, per_bias2, epsilon, decay, per_grad_scale;
};

/// 1 - beta^step.
float bias_of(float beta, double step) {
  return static_cast<float>(1 - std::pow(static_cast<double>(beta), step));
}

Factors factors_of(const mluopsAdamWProblem& p) {
  const mluopsAdamWShape& s = p.shape;
  const auto rest = [](float beta) { return static_cast<float>(1 - static_cast<double>(beta)); };
  float bias1 = s.bias1, bias2 = s.bias2;
  if (s.remove_nan != 0) {
    const auto step = static_cast<double>(*static_cast<const float*>(p.param_h));
    bias1 = bias_of(s.beta1, step);
    bias2 = bias_of(s.beta2, step);
  }
  return {s.beta1,   rest(s.beta1),         s.beta2,         rest(s.beta2), s.lr / bias1, 1 / bias2,
          s.epsilon, s.weight_decay * s.lr, 1 / s.grad_scale};
}

template <class V>
struct State {
  V param, momentum, velocity;
};

template <class D, class V = hn::Vec<D>>
HWY_INLINE State<V> step(D d, const Factors& f, const State<V>& old, V grad) {
  const auto g = hn::Mul(grad, hn::Set(d, f.per_grad_scale));
  const auto momentum = hn::Add(hn::Mul(old.momentum, hn::Set(d, f.beta1)), hn::Mul(g, hn::Set(d, f.rest1)));
  const auto velocity =
      hn::Add(hn::Mul(old.velocity, hn::Set(d, f.beta2)), hn::Mul(hn::Mul(g, g), hn::Set(d, f.rest2)));
  const auto size = hn::Add(hn::Sqrt(hn::Mul(velocity, hn::Set(d, f.per_bias2))), hn::Set(d, f.epsilon));
  const auto move = hn::Div(hn::Mul(hn::Set(d, f.rate), momentum), size);
  return {hn::Sub(hn::Sub(old.param, move), hn::Mul(old.param, hn::Set(d, f.decay))), momentum, velocity};
}

/// The old numbers where all new ones are Inf or NaN.
template <class D, class V = hn::Vec<D>>
HWY_INLINE State<V> without_nan(D d, const State<V>& old, const State<V>& made) {
  const auto most = hn::Set(d, std::numeric_limits<float>::max());
  const auto fits = [&](V v) HWY_ATTR { return hn::Le(hn::Abs(v), most); };
  const auto any = hn::Or(hn::Or(fits(made.param), fits(made.momentum)), fits(made.velocity));
  return {hn::IfThenElse(any, made.param, old.param), hn::IfThenElse(any, made.momentum, old.momentum),
          hn::IfThenElse(any, made.velocity, old.velocity)};
}

template <class T>
mluOpStatus_t adam_w(Context& context, const mluopsCall& call, const mluopsAdamWProblem& p) {
  const Factors factors = factors_of(p);
  const bool remove_nan = p.shape.remove_nan != 0;
  float *const param = p.param, *const momentum = p.momentum, *const velocity = p.velocity;
  Bfloat16* const param_h = remove_nan ? nullptr : static_cast<Bfloat16*>(p.param_h);
  const T* const grad = static_cast<const T*>(p.grad);
  Loop(context, call, p.shape.count, 7 * cost::kMove).run([&](std::int64_t begin, std::int64_t end, int) HWY_ATTR {
    for_lanes<float>(end - begin, [&](auto d, std::int64_t at) HWY_ATTR {
      const std::int64_t i = begin + at;
      const State<hn::Vec<decltype(d)>> old{load(d, param + i), load(d, momentum + i), load(d, velocity + i)};
      auto made = step(d, factors, old, load(d, grad + i));
      if (remove_nan) made = without_nan(d, old, made);
      store(made.param, d, param + i);
      store(made.momentum, d, momentum + i);
      store(made.velocity, d, velocity + i);
      if (param_h != nullptr) store(made.param, d, param_h + i);
    });
  });
  if (remove_nan) {
    float& number = *static_cast<float*>(p.param_h);
    number = std::min(number + 1, std::numeric_limits<float>::max());
  }
  return MLUOP_STATUS_SUCCESS;
}

/// Gradients are FLOAT or BFLOAT16.
template <class F>
mluOpStatus_t with_gradient(const mluopsCall& call, mluOpDataType_t dtype, F&& f) {
  if (dtype == MLUOP_DTYPE_BFLOAT16) return f(TypeTag<Bfloat16>{});
  if (dtype == MLUOP_DTYPE_FLOAT) return f(TypeTag<float>{});
  return dtype_not_supported(call);
}

}  // namespace
}  // namespace mluops::cpu::adam_w::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

MLUOPS_CPU_ENTRY(adam_w, adam_w, adam_w, mluopsAdamWProblem, with_gradient)
