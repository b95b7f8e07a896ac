// FocalLossSoftmax: probabilities [n,c] to losses [n], and to the gradient in the logits [n,c].
//
// A task owns rows. Forward reads one probability of a row; backward reads and writes the row, a product per element:
// bound by memory.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/kernels/focal_loss/softmax.cpp"
#include <hwy/foreach_target.h>

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <cstdint>

#include "backends/cpu/dispatch.h"
#include "backends/cpu/runtime/machine.h"
#include "backends/cpu/runtime/parallel.h"
#include "backends/cpu/runtime/path.h"
#include "backends/cpu/simd/simd-inl.h"

#ifndef MLUOPS_CPU_FOCAL_LOSS_SOFTMAX_ONCE_
#define MLUOPS_CPU_FOCAL_LOSS_SOFTMAX_ONCE_
namespace mluops::cpu::focal_loss {

template <class A>
A bounded_log(A p) {
  return std::log(p < static_cast<A>(FLT_MIN) ? static_cast<A>(FLT_MIN) : p);
}

/// (1-p)^gamma, without the rounding of 1-p. A bound instead of log(0): gamma 0 makes 0 of it.
template <class A>
A power(A p, A gamma) {
  return std::exp(gamma * std::max(std::log1p(-p), A{-1e30F}));
}

/// The loss of a row whose target has the probability p, without its weight.
template <class A>
A loss(A p, A alpha, A gamma) {
  return -alpha * power(p, gamma) * bounded_log(p);
}

/// Its derivative in p, times p; without its weight.
template <class A>
A derivative(A p, A alpha, A gamma) {
  const A second = p == 1 ? A{0} : gamma * power(p, gamma - 1) * p * bounded_log(p);
  return alpha * (second - power(p, gamma));
}

}  // namespace mluops::cpu::focal_loss
#endif

HWY_BEFORE_NAMESPACE();
namespace mluops::cpu::focal_loss::HWY_NAMESPACE {
using namespace cpu::HWY_NAMESPACE;
namespace {

using Problem = mluopsFocalLossProblem;

/// f(row, target, the target's probability, the row's weight) for rows that have a target, none(row) for the others.
template <class T, class F, class None>
HWY_INLINE void for_rows(const Problem& p, std::int64_t begin, std::int64_t end, F&& f, None&& none) {
  const auto* const softmax = static_cast<const T*>(p.input);
  const auto* const weight = static_cast<const T*>(p.weight);
  for (std::int64_t n = begin; n < end; ++n) {
    const std::int64_t target = p.target[n];
    if (target < 0) {
      none(n);
      continue;
    }
    f(n, target, to_acc(softmax[n * p.shape.c + target]), weight == nullptr ? Acc<T>{1} : to_acc(weight[target]));
  }
}

template <class T>
mluOpStatus_t forward_by_rows(Context& context, const mluopsCall& call, const Problem& p) {
  using A = Acc<T>;
  const auto alpha = static_cast<A>(p.exact_alpha), gamma = static_cast<A>(p.exact_gamma);
  T* const output = static_cast<T*>(p.result);
  Loop(context, call, p.shape.n, 20 * cost::kStep).run([&](std::int64_t begin, std::int64_t end, int) HWY_ATTR {
    for_rows<T>(
        p, begin, end,
        [&](std::int64_t n, std::int64_t, A probability, A weight) {
          output[n] = from_acc<T>(weight * loss(probability, alpha, gamma));
        },
        [&](std::int64_t n) { output[n] = T{}; });
  });
  return MLUOP_STATUS_SUCCESS;
}

template <class T>
mluOpStatus_t backward_by_rows(Context& context, const mluopsCall& call, const Problem& p) {
  using A = Acc<T>;
  const std::int64_t c = p.shape.c;
  const auto alpha = static_cast<A>(p.exact_alpha), gamma = static_cast<A>(p.exact_gamma);
  const auto* const softmax = static_cast<const T*>(p.input);
  T* const gradient = static_cast<T*>(p.result);
  const double row_ns = 20 * cost::kStep + cost::kMove * static_cast<double>(c);
  Loop(context, call, p.shape.n, row_ns).run([&](std::int64_t begin, std::int64_t end, int) HWY_ATTR {
    for_rows<T>(
        p, begin, end,
        [&](std::int64_t n, std::int64_t target, A probability, A weight) HWY_ATTR {
          const A b = weight * derivative(probability, alpha, gamma);
          for_lanes<A>(c, [&](auto d, std::int64_t i) HWY_ATTR {
            store(hn::Mul(hn::Set(d, -b), load(d, softmax + n * c + i)), d, gradient + n * c + i);
          });
          gradient[n * c + target] = from_acc<T>(b * (1 - probability));
        },
        [&](std::int64_t n) { std::fill_n(gradient + n * c, c, T{}); });
  });
  return MLUOP_STATUS_SUCCESS;
}

template <class T>
mluOpStatus_t softmax_forward(Context& context, const mluopsCall& call, const Problem& problem) {
  static constexpr Path<Problem> kPaths[] = {{"rows", always<Problem>, forward_by_rows<T>}};
  return run_path(context, call, problem, kPaths);
}

template <class T>
mluOpStatus_t softmax_backward(Context& context, const mluopsCall& call, const Problem& problem) {
  static constexpr Path<Problem> kPaths[] = {{"rows", always<Problem>, backward_by_rows<T>}};
  return run_path(context, call, problem, kPaths);
}

MLUOPS_CPU_KERNEL(softmax_forward, mluopsFocalLossProblem, with_element)
MLUOPS_CPU_KERNEL(softmax_backward, mluopsFocalLossProblem, with_element)

}  // namespace
}  // namespace mluops::cpu::focal_loss::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mluops::cpu {

MLUOPS_CPU_ENTRY(focal_loss_softmax_forward, focal_loss, softmax_forward, mluopsFocalLossProblem)
MLUOPS_CPU_ENTRY(focal_loss_softmax_backward, focal_loss, softmax_backward, mluopsFocalLossProblem)

}  // namespace mluops::cpu
#endif
