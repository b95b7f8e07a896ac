// FocalLossSoftmax: probabilities [n,c] to losses [n], and to the gradient in the logits [n,c].
//
// A task owns rows, and takes the logarithms and exponentials of some of them together, a row in a lane. Forward reads
// one probability of a row; backward reads and writes the row, a product per element: bound by memory.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/kernels/focal_loss/softmax.cpp"
#include <hwy/foreach_target.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "backends/cpu/dispatch.h"
#include "backends/cpu/simd/simd-inl.h"
#include "mluops/problem/focal_loss.h"

#include <hwy/contrib/math/math-inl.h>

HWY_BEFORE_NAMESPACE();
namespace mluops::cpu::focal_loss::HWY_NAMESPACE {
using namespace cpu::HWY_NAMESPACE;
namespace {

constexpr float kLeastProbability = std::numeric_limits<float>::min();

template <class A>
A bounded_log(A p) {
  return std::log(p < static_cast<A>(kLeastProbability) ? static_cast<A>(kLeastProbability) : p);
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

using Problem = mluopsFocalLossProblem;

/// e^x, x no greater than 0 or so. Beyond integers Exp is not defined at every level.
template <class D>
HWY_INLINE hn::Vec<D> exponential(D d, hn::Vec<D> x) {
  return hn::Exp(d, hn::Max(x, hn::Set(d, hn::TFromD<D>{-1e4F})));
}

/// loss(), or derivative(), of probabilities from 0 to below 1.
template <class D, bool backward>
HWY_INLINE hn::Vec<D> inside(D d, hn::Vec<D> p, hn::Vec<D> alpha, hn::Vec<D> gamma) {
  using A = hn::TFromD<D>;
  const auto one = hn::Set(d, A{1}), log_rest = hn::Log1p(d, hn::Neg(p));
  const auto log = hn::Log(d, hn::Max(p, hn::Set(d, static_cast<A>(kLeastProbability))));
  if constexpr (backward) {
    const auto power = exponential(d, hn::Mul(hn::Sub(gamma, one), log_rest));
    const auto second = hn::MulSub(hn::Mul(gamma, p), log, hn::Sub(one, p));
    return hn::Mul(hn::Mul(alpha, power), second);
  }
  return hn::Neg(hn::Mul(hn::Mul(alpha, exponential(d, hn::Mul(gamma, log_rest))), log));
}

/// Rows whose functions are taken together.
constexpr std::int64_t kTogether = 256;

/// What some rows have at their targets.
template <class T>
struct Targets {
  using A = Acc<T>;
  HWY_ALIGN A probability[kTogether], weight[kTogether], value[kTogether];

  /// value[i]: the loss of row first + i, or the derivative times the probability; 0 where there is no target.
  template <bool backward>
  void find(const Problem& p, std::int64_t first, std::int64_t count) {
    read(p, first, count);
    const auto alpha = static_cast<A>(p.exact_alpha), gamma = static_cast<A>(p.exact_gamma);
    for_lanes<A>(count, [&](auto d, std::int64_t i) HWY_ATTR {
      using D = decltype(d);
      const auto given = hn::LoadU(d, probability + i);
      const auto is_inside = hn::And(hn::Ge(given, hn::Zero(d)), hn::Lt(given, hn::Set(d, A{1})));
      const auto of_row =
          inside<D, backward>(d, hn::IfThenElseZero(is_inside, given), hn::Set(d, alpha), hn::Set(d, gamma));
      hn::StoreU(hn::Mul(hn::LoadU(d, weight + i), of_row), d, value + i);
    });
    for (std::int64_t i = 0; i < count; ++i) {
      const A at = probability[i];
      if (p.target[first + i] < 0) {
        value[i] = 0;
      } else if (!(at >= 0 && at < 1)) {  // 1, NaN, and what is no probability
        value[i] = weight[i] * (backward ? derivative(at, alpha, gamma) : loss(at, alpha, gamma));
      }
    }
  }

 private:
  void read(const Problem& p, std::int64_t first, std::int64_t count) {
    const auto* const softmax = static_cast<const T*>(p.input) + first * p.shape.c;
    const auto* const weights = static_cast<const T*>(p.weight);
    for (std::int64_t i = 0; i < count; ++i) {
      const std::int64_t target = p.target[first + i];
      probability[i] = target < 0 ? A{0} : to_acc(softmax[i * p.shape.c + target]);
      weight[i] = target < 0 || weights == nullptr ? A{1} : to_acc(weights[target]);
    }
  }
};

/// f(first, count) for rows [begin, end), so many at once.
template <class F>
void for_some_rows(std::int64_t begin, std::int64_t end, F&& f) {
  for (std::int64_t n = begin; n < end; n += kTogether) f(n, std::min(kTogether, end - n));
}

template <class T>
mluOpStatus_t softmax_forward(Context& context, const mluopsCall& call, const Problem& p) {
  T* const output = static_cast<T*>(p.result);
  const double row_ns = cost::kStep + cost::kGather + 4 * cost::kFunction;
  Loop(context, call, p.shape.n, row_ns).run([&](std::int64_t begin, std::int64_t end, int) HWY_ATTR {
    Targets<T> targets;
    for_some_rows(begin, end, [&](std::int64_t first, std::int64_t count) HWY_ATTR {
      targets.template find<false>(p, first, count);
      store_row(targets.value, output + first, count);
    });
  });
  return MLUOP_STATUS_SUCCESS;
}

/// The gradient of a row whose target has the derivative b.
template <class T>
HWY_INLINE void write_gradient(const Problem& p, std::int64_t n, Acc<T> probability, Acc<T> b) {
  const std::int64_t c = p.shape.c, target = p.target[n];
  const T* const softmax = static_cast<const T*>(p.input) + n * c;
  T* const gradient = static_cast<T*>(p.result) + n * c;
  if (target < 0) {
    std::fill_n(gradient, c, T{});
    return;
  }
  for_lanes<Acc<T>>(c, [&](auto d, std::int64_t i)
                           HWY_ATTR { store(hn::Mul(hn::Set(d, -b), load(d, softmax + i)), d, gradient + i); });
  gradient[target] = from_acc<T>(b * (1 - probability));
}

template <class T>
mluOpStatus_t softmax_backward(Context& context, const mluopsCall& call, const Problem& p) {
  const double row_ns =
      cost::kStep + cost::kGather + 4 * cost::kFunction + cost::kMove * static_cast<double>(p.shape.c);
  Loop(context, call, p.shape.n, row_ns).run([&](std::int64_t begin, std::int64_t end, int) HWY_ATTR {
    Targets<T> targets;
    for_some_rows(begin, end, [&](std::int64_t first, std::int64_t count) HWY_ATTR {
      targets.template find<true>(p, first, count);
      for (std::int64_t i = 0; i < count; ++i) {
        write_gradient<T>(p, first + i, targets.probability[i], targets.value[i]);
      }
    });
  });
  return MLUOP_STATUS_SUCCESS;
}

}  // namespace
}  // namespace mluops::cpu::focal_loss::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

MLUOPS_CPU_ENTRY(focal_loss_softmax_forward, focal_loss, softmax_forward, mluopsFocalLossProblem, with_element)
MLUOPS_CPU_ENTRY(focal_loss_softmax_backward, focal_loss, softmax_backward, mluopsFocalLossProblem, with_element)
