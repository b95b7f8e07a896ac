// abs, log, sqrt and its gradient, div, lgamma: one pass over the elements (map-inl.h), bound by memory but for the
// functions. Half and bfloat16 are computed in float, lgamma in double; results are rounded once.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/kernels/elementwise/elementwise.cpp"
#include <hwy/foreach_target.h>

#include <limits>

#include "backends/cpu/kernels/elementwise/lgamma-inl.h"
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
enum Base : std::int32_t { kBaseE, kBaseTwo, kBaseTen };

/// x = power * 2^exponent, 1/sqrt(2) <= power < sqrt(2); x > 0 and finite.
template <class V>
struct Split {
  V power, exponent;
};

template <class D>
HWY_INLINE Split<hn::Vec<D>> split(D d, hn::Vec<D> x) {
  using A = hn::TFromD<D>;
  constexpr int kFraction = std::numeric_limits<A>::digits - 1;
  const hn::RebindToSigned<D> di;
  const auto subnormal = hn::Lt(x, hn::Set(d, std::numeric_limits<A>::min()));
  const auto scale = hn::Set(d, static_cast<A>(std::int64_t{1} << kFraction));
  const auto least = hn::BitCast(di, hn::Set(d, static_cast<A>(0.70710678118654752440)));
  const auto past = hn::Sub(hn::BitCast(di, hn::IfThenElse(subnormal, hn::Mul(x, scale), x)), least);
  const auto exponent = hn::ShiftRight<kFraction>(past);
  const auto lost = hn::IfThenElseZero(subnormal, hn::Set(d, static_cast<A>(kFraction)));
  return {hn::BitCast(d, hn::Sub(hn::Add(past, least), hn::ShiftLeft<kFraction>(exponent))),
          hn::Sub(hn::ConvertTo(d, exponent), lost)};
}

/// To the base 2: exact for powers of two.
template <class D>
HWY_INLINE hn::Vec<D> log2_of(D d, hn::Vec<D> x) {
  const auto parts = split(d, x);
  const auto log2_e = hn::Set(d, static_cast<hn::TFromD<D>>(1.44269504088896340736));
  return hn::MulAdd(hn::Log(d, parts.power), log2_e, parts.exponent);
}

template <class D>
HWY_INLINE hn::Vec<D> log_of(D d, hn::Vec<D> x, Base base) {
  const auto infinity = hn::Inf(d), zero = hn::Zero(d);
  auto result = base == kBaseE ? hn::Log(d, x) : base == kBaseTwo ? log2_of(d, x) : hn::Log10(d, x);
  result = hn::IfThenElse(hn::Eq(x, infinity), infinity, result);
  result = hn::IfThenElse(hn::Eq(x, zero), hn::Neg(infinity), result);
  return hn::IfThenElse(hn::Ge(x, zero), result, hn::NaN(d));
}

template <class T, Base kBase>
mluOpStatus_t log_to(Context& context, const mluopsCall& call, const mluopsLogProblem& p) {
  const T* const x = static_cast<const T*>(p.x);
  return map(context, call, static_cast<T*>(p.y), p.shape.count, kPassNs + cost::kFunction,
             [x](auto d, std::int64_t i) HWY_ATTR { return log_of(d, load(d, x + i), kBase); });
}

template <class T>
mluOpStatus_t logarithm(Context& context, const mluopsCall& call, const mluopsLogProblem& p) {
  if (p.shape.base == kBaseTwo) return log_to<T, kBaseTwo>(context, call, p);
  if (p.shape.base == kBaseTen) return log_to<T, kBaseTen>(context, call, p);
  return log_to<T, kBaseE>(context, call, p);
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

template <class T>
mluOpStatus_t log_gamma(Context& context, const mluopsCall& call, const mluopsUnaryProblem& p) {
  const T* const x = static_cast<const T*>(p.x);
  T* const y = static_cast<T*>(p.y);
  if constexpr (std::is_same_v<T, double>) {
    return map_scalars(context, call, y, p.shape.count, 30 * cost::kStep,
                       [x](std::int64_t i) { return lgamma_of(x[i]); });
  } else {
    return map<T, double>(context, call, y, p.shape.count, 12 * cost::kFunction, [x](auto d, std::int64_t i) HWY_ATTR {
      const hn::Rebind<float, decltype(d)> narrow;
      const auto half = hn::Mul(lgamma_of(d, hn::PromoteTo(d, load(narrow, x + i))), hn::Set(d, 0.5));
      // Highway's DemoteTo may saturate: twice the greatest float is Inf.
      return hn::Mul(hn::DemoteTo(narrow, half), hn::Set(narrow, 2.0f));
    });
  }
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
