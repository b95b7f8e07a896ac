// abs, log, sqrt and its gradient, div, lgamma: one pass over the elements (map-inl.h), bound by memory but for the
// functions. Half and bfloat16 are computed in float; results are rounded once.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/kernels/elementwise/elementwise.cpp"
#include <hwy/foreach_target.h>

#include <limits>

#include "backends/cpu/kernels/elementwise/lgamma-inl.h"
#include "backends/cpu/kernels/elementwise/log-inl.h"
#include "backends/cpu/kernels/elementwise/map-inl.h"
#include "mluops/problem/elementwise.h"

HWY_BEFORE_NAMESPACE();
namespace mluops::cpu::elementwise::HWY_NAMESPACE {
namespace {

inline constexpr double kPassNs = 2 * cost::kMove;

struct Complex {
  float re, im;
};

// ---- abs ----

/// sqrt(re^2 + im^2) without leaving the range of float: the greater times sqrt(1 + (the less / the greater)^2).
template <class D>
HWY_INLINE hn::Vec<D> modulus(D d, hn::Vec<D> re, hn::Vec<D> im) {
  const auto a = hn::Abs(re), b = hn::Abs(im), infinity = hn::Set(d, std::numeric_limits<float>::infinity());
  const auto most = hn::IfThenElse(hn::Gt(a, b), a, b), least = hn::IfThenElse(hn::Gt(a, b), b, a);
  const auto ratio = hn::Div(least, most);
  const auto size = hn::Mul(most, hn::Sqrt(hn::Add(hn::Set(d, 1.0f), hn::Mul(ratio, ratio))));
  const auto finite = hn::IfThenElse(hn::Eq(hn::Add(a, b), hn::Zero(d)), hn::Zero(d), size);
  return hn::IfThenElse(hn::Or(hn::Eq(a, infinity), hn::Eq(b, infinity)), infinity, finite);
}

template <class T>
mluOpStatus_t absolute(Context& context, const mluopsCall& call, const mluopsUnaryProblem& p) {
  const T* const x = static_cast<const T*>(p.x);
  if constexpr (std::is_same_v<T, std::int32_t>) {
    const auto size = [x](std::int64_t i) {
      return x[i] < 0 ? static_cast<T>(0u - static_cast<unsigned>(x[i])) : x[i];
    };
    return map_scalars(context, call, static_cast<T*>(p.y), p.shape.count, kPassNs, size);
  } else if constexpr (std::is_same_v<T, Complex>) {
    return map(context, call, static_cast<float*>(p.y), p.shape.count, kPassNs, [x](auto d, std::int64_t i) HWY_ATTR {
      hn::Vec<decltype(d)> re, im;
      hn::LoadInterleaved2(d, &x[i].re, re, im);
      return modulus(d, re, im);
    });
  } else {
    return map(context, call, static_cast<T*>(p.y), p.shape.count, kPassNs,
               [x](auto d, std::int64_t i) HWY_ATTR { return hn::Abs(load(d, x + i)); });
  }
}

/// with_element, and INT32 and COMPLEX_FLOAT.
template <class F>
mluOpStatus_t with_abs_element(const mluopsCall& call, mluOpDataType_t dtype, F&& f) {
  if (dtype == MLUOP_DTYPE_INT32) return f(TypeTag<std::int32_t>{});
  if (dtype == MLUOP_DTYPE_COMPLEX_FLOAT) return f(TypeTag<Complex>{});
  return with_element(call, dtype, f);
}

// ---- log ----

/// mluOpLogBase_t.
enum LogBase : std::int32_t { kLogE, kLogTwo, kLogTen };

template <class T, class B>
mluOpStatus_t log_to(B, Context& context, const mluopsCall& call, const mluopsLogProblem& p) {
  const T* const x = static_cast<const T*>(p.x);
  return map(context, call, static_cast<T*>(p.y), p.shape.count, kPassNs + cost::kFunction,
             [x](auto d, std::int64_t i) HWY_ATTR { return log_of(d, load(d, x + i), B::value); });
}

template <class T>
mluOpStatus_t logarithm(Context& context, const mluopsCall& call, const mluopsLogProblem& p) {
  if (p.shape.base == kLogTwo) return log_to<T>(BaseTwo(), context, call, p);
  if (p.shape.base == kLogTen) return log_to<T>(BaseTen(), context, call, p);
  return log_to<T>(BaseE(), context, call, p);
}

// ---- sqrt, div, lgamma ----

template <class T>
mluOpStatus_t root(Context& context, const mluopsCall& call, const mluopsUnaryProblem& p) {
  const T* const x = static_cast<const T*>(p.x);
  return map(context, call, static_cast<T*>(p.y), p.shape.count, kPassNs,
             [x](auto d, std::int64_t i) HWY_ATTR { return hn::Sqrt(load(d, x + i)); });
}

template <class T>
mluOpStatus_t root_backward(Context& context, const mluopsCall& call, const mluopsSqrtBackwardProblem& p) {
  const T *const y = static_cast<const T*>(p.y), *const diff_y = static_cast<const T*>(p.diff_y);
  return map(context, call, static_cast<T*>(p.diff_x), p.shape.count, kPassNs,
             [y, diff_y](auto d, std::int64_t i) HWY_ATTR {
               const auto half = hn::Set(d, hn::TFromD<decltype(d)>(0.5));
               return hn::Div(hn::Mul(half, load(d, diff_y + i)), load(d, y + i));
             });
}

template <class T>
mluOpStatus_t quotient(Context& context, const mluopsCall& call, const mluopsDivProblem& p) {
  const T *const x = static_cast<const T*>(p.x), *const y = static_cast<const T*>(p.y);
  return map(context, call, static_cast<T*>(p.z), p.shape.count, kPassNs,
             [x, y](auto d, std::int64_t i) HWY_ATTR { return hn::Div(load(d, x + i), load(d, y + i)); });
}

/// By the table of all results, where it is worth computing.
template <class T>
mluOpStatus_t log_gamma(Context& context, const mluopsCall& call, const mluopsUnaryProblem& p) {
  const T* const x = static_cast<const T*>(p.x);
  T* const y = static_cast<T*>(p.y);
  if constexpr (sizeof(T) == sizeof(std::uint16_t)) {
    if (p.shape.count >= LgammaOfAll<T>::kCount) {
      return map(context, call, y, p.shape.count, kPassNs + cost::kGather,
                 [x, &of = LgammaOfAll<T>::once()](auto d, std::int64_t i) HWY_ATTR { return of(d, x + i); });
    }
  }
  return map_blocks(context, call, y, p.shape.count, kPassNs + 2 * cost::kFunction,
                    [x](std::int64_t first, std::int64_t n, Acc<T>* results)
                        HWY_ATTR { lgamma_elements(x + first, n, results); });
}

}  // namespace
}  // namespace mluops::cpu::elementwise::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

MLUOPS_CPU_ENTRY(abs, elementwise, absolute, mluopsUnaryProblem, with_abs_element)
MLUOPS_CPU_ENTRY(log, elementwise, logarithm, mluopsLogProblem, with_element)
MLUOPS_CPU_ENTRY(sqrt, elementwise, root, mluopsUnaryProblem, with_element)
MLUOPS_CPU_ENTRY(sqrt_backward, elementwise, root_backward, mluopsSqrtBackwardProblem, with_element)
MLUOPS_CPU_ENTRY(div, elementwise, quotient, mluopsDivProblem, with_element)
MLUOPS_CPU_ENTRY(lgamma, elementwise, log_gamma, mluopsUnaryProblem, with_element)
