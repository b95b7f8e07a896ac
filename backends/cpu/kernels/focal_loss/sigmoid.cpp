// FocalLossSigmoid, both directions: logits [n,c] to losses, or to the derivative of each loss in its logit.
//
// A task owns rows of the result. All logits of a row are first taken for those of other classes than the target's, in
// whole vectors that run over row ends where there is no weight; then the target's own element is written again. An
// exponential, a logarithm and a quotient per logit (and, unless gamma is 2, another exponential): bound by arithmetic.
//
// With e = exp(-|x|), sigmoid(|x|) = 1 / (1 + e) and sigmoid(-|x|) = e / (1 + e), and their logarithms are -log(1 + e)
// and -|x| - log(1 + e): no difference cancels, however large the logit.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/kernels/focal_loss/sigmoid.cpp"
#include <hwy/foreach_target.h>

#include <cfloat>
#include <cmath>
#include <cstdint>

#include "backends/cpu/dispatch.h"
#include "backends/cpu/simd/simd-inl.h"
#include "mluops/problem/focal_loss.h"

#include <hwy/contrib/math/math-inl.h>

HWY_BEFORE_NAMESPACE();
namespace mluops::cpu::focal_loss::HWY_NAMESPACE {
using namespace cpu::HWY_NAMESPACE;
namespace {

/// Logarithms of probabilities are bounded as in mmcv, log(FLT_MIN), and where they are multiplied by gamma, so that
/// gamma 0 makes 0 of all of them.
constexpr double kLeastLog = -87.33654475055310898657;
constexpr double kFiniteLog = -1e30;
/// exp(-kMostLogit) is 0 in every type.
constexpr double kMostLogit = 1e4;

/// The loss, or derivative, of the target's own logit, without its weight.
template <class A, bool backward>
A of_target(A x, A alpha, A gamma) {
  const A size = std::fabs(x), e = std::exp(-size), rest = std::log1p(e);
  const A near = 1 / (1 + e), far = e / (1 + e);
  const A p = x >= 0 ? near : far, q = x >= 0 ? far : near;
  const A log_p = x >= 0 ? -rest : -(size + rest), log_q = x >= 0 ? -(size + rest) : -rest;
  if (std::isnan(x)) return x;
  const A power = std::exp(gamma * std::max(log_q, static_cast<A>(kFiniteLog)));
  const A log = std::max(log_p, static_cast<A>(kLeastLog));
  return -alpha * power * (backward ? q - gamma * p * log : log);
}

/// log(1 + e) and 1 / (1 + e) for e from 0 to 1, out of one quotient: with s = e / (2 + e), at most 1/3, log(1 + e) is
/// 2 atanh(s), a series in the square of s.
template <class D>
HWY_INLINE void log_and_inverse(D d, hn::Vec<D> e, hn::Vec<D>& log, hn::Vec<D>& inverse) {
  using A = hn::TFromD<D>;
  constexpr int kTerms = sizeof(A) == 4 ? 7 : 17;  // 9^-kTerms is less than half the spacing of numbers
  const auto one_more = hn::Add(e, hn::Set(d, A{1})), two_more = hn::Add(e, hn::Set(d, A{2}));
  const auto both = hn::Div(hn::Set(d, A{1}), hn::Mul(one_more, two_more));
  inverse = hn::Mul(two_more, both);
  const auto s = hn::Mul(e, hn::Mul(one_more, both)), square = hn::Mul(s, s);
  auto sum = hn::Set(d, A{2} / (2 * kTerms - 1));
  HWY_UNROLL(16)
  for (int term = kTerms - 2; term >= 0; --term) {
    sum = hn::MulAdd(sum, square, hn::Set(d, A{2} / static_cast<A>(2 * term + 1)));
  }
  log = hn::Mul(s, sum);
}

/// What the logits of other classes than the target's become, times `factor`.
template <class D, bool backward, bool squared>
HWY_INLINE hn::Vec<D> of_others(D d, hn::Vec<D> x, hn::Vec<D> factor, hn::Vec<D> gamma) {
  using A = hn::TFromD<D>;
  const auto constant = [&](double v) HWY_ATTR { return hn::Set(d, static_cast<A>(v)); };
  const auto size = hn::Abs(x);
  const auto e = hn::Exp(d, hn::Neg(hn::Min(size, constant(kMostLogit))));
  hn::Vec<D> rest, near;
  log_and_inverse(d, e, rest, near);
  const auto far = hn::Mul(e, near);
  const auto positive = hn::Ge(x, hn::Zero(d));
  const auto log_near = hn::Neg(rest), log_far = hn::Sub(log_near, size);
  const auto p = hn::IfThenElse(positive, near, far);
  const auto log = hn::Max(hn::IfThenElse(positive, log_far, log_near), constant(kLeastLog));
  auto power = hn::Mul(p, p);
  if constexpr (!squared) {
    const auto log_p = hn::Max(hn::IfThenElse(positive, log_near, log_far), constant(kFiniteLog));
    power = hn::Exp(d, hn::Mul(gamma, log_p));
  }
  auto value = log;
  if constexpr (backward) {
    const auto q = hn::IfThenElse(positive, far, near);
    value = hn::MulSub(hn::Mul(gamma, q), log, p);
  }
  return hn::IfThenElse(hn::Eq(x, x), hn::Mul(factor, hn::Mul(power, value)), x);
}

template <class T, bool backward, bool squared>
HWY_INLINE void of_others(const T* logits, Acc<T> factor, Acc<T> gamma, T* result, std::int64_t n) {
  for_lanes<Acc<T>>(n, [&](auto d, std::int64_t i) HWY_ATTR {
    using D = decltype(d);
    const auto value = of_others<D, backward, squared>(d, load(d, logits + i), hn::Set(d, factor), hn::Set(d, gamma));
    store(value, d, result + i);
  });
}

template <class T, bool backward, bool squared>
mluOpStatus_t by_rows(Context& context, const mluopsCall& call, const mluopsFocalLossProblem& p) {
  using A = Acc<T>;
  const mluopsFocalLossShape& s = p.shape;
  const auto alpha = static_cast<A>(p.exact_alpha), gamma = static_cast<A>(p.exact_gamma), others = alpha - 1;
  const auto* const logits = static_cast<const T*>(p.input);
  const auto* const weight = static_cast<const T*>(p.weight);
  T* const result = static_cast<T*>(p.result);
  const double row_ns = 2 * cost::kFunction * static_cast<double>(s.c);
  Loop(context, call, s.n, row_ns).run([&](std::int64_t begin, std::int64_t end, int) HWY_ATTR {
    if (weight == nullptr) {
      of_others<T, backward, squared>(logits + begin * s.c, others, gamma, result + begin * s.c, (end - begin) * s.c);
    }
    for (std::int64_t n = begin; n < end; ++n) {
      const std::int64_t target = p.target[n], at = n * s.c + target;
      const A w = weight == nullptr ? A{1} : to_acc(weight[target]);
      if (weight != nullptr) {
        of_others<T, backward, squared>(logits + n * s.c, w * others, gamma, result + n * s.c, s.c);
      }
      if (target < 0 || target >= s.c) continue;
      result[at] = from_acc<T>(w * of_target<A, backward>(to_acc(logits[at]), alpha, gamma));
    }
  });
  return MLUOP_STATUS_SUCCESS;
}

template <class T, bool backward>
mluOpStatus_t either(Context& context, const mluopsCall& call, const mluopsFocalLossProblem& p) {
  const auto run = p.exact_gamma == 2 ? by_rows<T, backward, true> : by_rows<T, backward, false>;
  return run(context, call, p);
}

template <class T>
mluOpStatus_t sigmoid_forward(Context& context, const mluopsCall& call, const mluopsFocalLossProblem& p) {
  return either<T, false>(context, call, p);
}

template <class T>
mluOpStatus_t sigmoid_backward(Context& context, const mluopsCall& call, const mluopsFocalLossProblem& p) {
  return either<T, true>(context, call, p);
}

}  // namespace
}  // namespace mluops::cpu::focal_loss::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

MLUOPS_CPU_ENTRY(focal_loss_sigmoid_forward, focal_loss, sigmoid_forward, mluopsFocalLossProblem, with_element)
MLUOPS_CPU_ENTRY(focal_loss_sigmoid_backward, focal_loss, sigmoid_backward, mluopsFocalLossProblem, with_element)
