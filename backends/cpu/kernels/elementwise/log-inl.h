// Logarithms of vectors: log x = exponent * log 2 + log m, x = m * 2^exponent. Errors below 2 units in the last place.
#include <cstdint>
#include <limits>

#if defined(MLUOPS_CPU_KERNELS_ELEMENTWISE_LOG_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HWY_TARGET_TOGGLE
#undef MLUOPS_CPU_KERNELS_ELEMENTWISE_LOG_INL_H_
#else
#define MLUOPS_CPU_KERNELS_ELEMENTWISE_LOG_INL_H_
#endif

#include <hwy/contrib/math/math-inl.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace mluops::cpu::elementwise::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
namespace {

/// The polynomial with these coefficients, highest power first.
template <class D, class A, std::size_t N>
HWY_INLINE hn::Vec<D> polynomial(D d, hn::Vec<D> x, const A (&coefficients)[N]) {
  auto sum = hn::Set(d, coefficients[0]);
  for (std::size_t i = 1; i < N; ++i) sum = hn::MulAdd(sum, x, hn::Set(d, coefficients[i]));
  return sum;
}

/// x = fraction * 2^exponent, 1/sqrt(2) <= fraction < sqrt(2); x is positive and no subnormal number.
template <class V>
struct Split {
  V fraction, exponent;
};

template <class D>
HWY_INLINE Split<hn::Vec<D>> split(D d, hn::Vec<D> x) {
  using A = hn::TFromD<D>;
  constexpr int kFraction = std::numeric_limits<A>::digits - 1;
  const hn::RebindToSigned<D> di;
  const auto least = hn::BitCast(di, hn::Set(d, static_cast<A>(0.70710678118654752440)));
  const auto past = hn::Sub(hn::BitCast(di, x), least);
  const auto exponent = hn::ShiftRight<kFraction>(past);
  return {hn::BitCast(d, hn::Sub(hn::BitCast(di, x), hn::ShiftLeft<kFraction>(exponent))), hn::ConvertTo(d, exponent)};
}

/// log m, 1/sqrt(2) <= m < sqrt(2), z = m - 1. In float: z - z^2 / 2 + z^3 R(z). In double, s = z / (2 + z):
/// 2 s + s^3 R(s^2), written so that only z and z^2 / 2 are large. Both R are minimax polynomials.
template <class D>
HWY_INLINE hn::Vec<D> log_of_fraction(D d, hn::Vec<D> m) {
  using A = hn::TFromD<D>;
  const auto z = hn::Sub(m, hn::Set(d, A{1})), square = hn::Mul(z, z), half = hn::Set(d, A{0.5});
  if constexpr (sizeof(A) == sizeof(double)) {
    static constexpr double kRest[] = {0.14616449685043406, 0.15331721600556041, 0.18182889125261722,
                                       0.2222221113479508,  0.28571428625975485, 0.39999999999899504,
                                       0.66666666666666697};
    const auto s = hn::Div(z, hn::Add(hn::Set(d, 2.0), z)), s2 = hn::Mul(s, s), less = hn::Mul(half, square);
    return hn::Sub(z, hn::Sub(less, hn::Mul(s, hn::MulAdd(s2, polynomial(d, s2, kRest), less))));
  } else {
    static constexpr float kRest[] = {-0.07859571563f, 0.1288163468f, -0.1312876405f, 0.1418119456f,
                                      -0.1662455348f,  0.2000228616f, -0.2500081041f, 0.3333331673f};
    const auto rest = hn::Mul(hn::Mul(z, square), polynomial(d, z, kRest));
    return hn::Add(z, hn::NegMulAdd(half, square, rest));
  }
}

/// The logarithms of 2 and e to a base, the former in two parts: products of `two` and an exponent are exact.
struct Base {
  double two, two_rest, e;
};
struct BaseE {
  static constexpr Base value = {0.693359375, -2.12194440054690583e-4, 1};
};
struct BaseTwo {
  static constexpr Base value = {1, 0, 1.44269504088896340736};
};
struct BaseTen {
  static constexpr Base value = {0.301025390625, 4.60503898119521374e-6, 0.43429448190325182765};
};

/// The logarithm of x, given its parts, and `more`, a small integer.
template <class D>
HWY_INLINE hn::Vec<D> log_of_parts(D d, const Split<hn::Vec<D>>& x, const Base& base, hn::Vec<D> more) {
  using A = hn::TFromD<D>;
  auto rest = log_of_fraction(d, x.fraction);
  if (base.e != 1) rest = hn::Mul(rest, hn::Set(d, static_cast<A>(base.e)));
  if (base.two_rest != 0) rest = hn::MulAdd(x.exponent, hn::Set(d, static_cast<A>(base.two_rest)), rest);
  return hn::Add(hn::MulAdd(x.exponent, hn::Set(d, static_cast<A>(base.two)), more), rest);
}

/// The logarithm of any number.
template <class D>
HWY_INLINE hn::Vec<D> log_of(D d, hn::Vec<D> x, const Base& base) {
  using A = hn::TFromD<D>;
  constexpr int kFraction = std::numeric_limits<A>::digits - 1;
  const auto least = hn::Set(d, std::numeric_limits<A>::min()), infinity = hn::Inf(d), zero = hn::Zero(d);
  const auto normal = hn::And(hn::Ge(x, least), hn::Lt(x, infinity));
  if (HWY_LIKELY(hn::AllTrue(d, normal))) return log_of_parts(d, split(d, x), base, zero);
  const auto subnormal = hn::Lt(x, least);
  const auto scale = hn::Set(d, static_cast<A>(std::int64_t{1} << kFraction));
  auto parts = split(d, hn::IfThenElse(subnormal, hn::Mul(x, scale), x));
  parts.exponent = hn::Sub(parts.exponent, hn::IfThenElseZero(subnormal, hn::Set(d, static_cast<A>(kFraction))));
  auto result = log_of_parts(d, parts, base, zero);
  result = hn::IfThenElse(hn::Eq(x, infinity), infinity, result);
  result = hn::IfThenElse(hn::Eq(x, zero), hn::Neg(infinity), result);
  return hn::IfThenElse(hn::Ge(x, zero), result, hn::NaN(d));
}

}  // namespace
}  // namespace mluops::cpu::elementwise::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
