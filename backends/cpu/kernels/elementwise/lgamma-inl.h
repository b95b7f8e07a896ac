// log |gamma(x)| of vectors of double, for elements of half, bfloat16 and float: errors of 1e-13 leave all digits of a
// float, beside the zeros of the function too. Elements of double take the C library's.
#include <cmath>
#include <limits>

#if defined(MLUOPS_CPU_KERNELS_ELEMENTWISE_LGAMMA_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HWY_TARGET_TOGGLE
#undef MLUOPS_CPU_KERNELS_ELEMENTWISE_LGAMMA_INL_H_
#else
#define MLUOPS_CPU_KERNELS_ELEMENTWISE_LGAMMA_INL_H_
#endif

#include <hwy/contrib/math/math-inl.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace mluops::cpu::elementwise::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
namespace {

/// The polynomial with these coefficients, highest power first.
template <class D, std::size_t N>
HWY_INLINE hn::Vec<D> polynomial(D d, hn::Vec<D> x, const double (&coefficients)[N]) {
  auto sum = hn::Set(d, coefficients[0]);
  for (std::size_t i = 1; i < N; ++i) sum = hn::MulAdd(sum, x, hn::Set(d, coefficients[i]));
  return sum;
}

/// log gamma(2 + z), |z| <= 1/2: (1 - gamma) z + sum over k >= 2 of (zeta(k) - 1) (-z)^k / k (Abramowitz and Stegun,
/// 6.1.33); the terms from k = 21 on are below 1e-13.
template <class D>
HWY_INLINE hn::Vec<D> lgamma_around_two(D d, hn::Vec<D> z) {
  static constexpr double kSeries[] = {4.7698101693639806e-8,  -1.00432248239681e-7,   2.1207184805554666e-7,
                                       -4.492469198764566e-7,  9.5514121304074198e-7,  -2.0392157538013662e-6,
                                       4.3748667899074878e-6,  -9.4394882752683959e-6, 2.0507212775670692e-5,
                                       -4.4926236738133142e-5, 9.9457512781808534e-5,  -0.00022315475845357938,
                                       0.00050966952474304242, -0.001192753911703261,  0.0028905103307415233,
                                       -0.0073855510286739853, 0.020580808427784548,   -0.067352301053198095,
                                       0.32246703342411322,    0.42278433509846714,    0};
  return polynomial(d, z, kSeries);
}

/// 0 < x < 5/2: x + n lies around two, and gamma(x) = gamma(x + n) / (x ... (x + n - 1)).
template <class D>
HWY_INLINE hn::Vec<D> lgamma_small(D d, hn::Vec<D> x) {
  const auto one = hn::Set(d, 1.0);
  const auto two_steps = hn::Lt(x, hn::Set(d, 0.5)), some_steps = hn::Lt(x, hn::Set(d, 1.5));
  const auto past = hn::IfThenElse(two_steps, hn::Zero(d), hn::IfThenElse(some_steps, one, hn::Set(d, 2.0)));
  const auto product = hn::IfThenElse(two_steps, hn::MulAdd(x, x, x), hn::IfThenElse(some_steps, x, one));
  return hn::Sub(lgamma_around_two(d, hn::Sub(x, past)), hn::Log(d, product));
}

/// x >= 5/2: Stirling's series from 8 on, which six steps reach.
template <class D>
HWY_INLINE hn::Vec<D> lgamma_large(D d, hn::Vec<D> x) {
  static constexpr double kStirling[] = {1.0 / 156,  -691.0 / 360360, 1.0 / 1188, -1.0 / 1680,
                                         1.0 / 1260, -1.0 / 360,      1.0 / 12};
  const auto steps = hn::Lt(x, hn::Set(d, 8.0));
  auto product = x;
  for (int i = 1; i < 6; ++i) product = hn::Mul(product, hn::Add(x, hn::Set(d, static_cast<double>(i))));
  product = hn::IfThenElse(steps, product, hn::Set(d, 1.0));
  const auto y = hn::IfThenElse(steps, hn::Add(x, hn::Set(d, 6.0)), x);
  const auto inverse = hn::Div(hn::Set(d, 1.0), y);
  const auto series = hn::Mul(inverse, polynomial(d, hn::Mul(inverse, inverse), kStirling));
  const auto half_log_two_pi = hn::Set(d, 0.91893853320467274);
  const auto main = hn::MulAdd(hn::Sub(y, hn::Set(d, 0.5)), hn::Log(d, y), hn::Sub(half_log_two_pi, y));
  return hn::Sub(hn::Add(main, series), hn::Log(d, product));
}

template <class D>
HWY_INLINE hn::Vec<D> lgamma_positive(D d, hn::Vec<D> x) {
  const auto small = hn::Lt(x, hn::Set(d, 2.5));
  if (hn::AllTrue(d, small)) return lgamma_small(d, x);
  if (hn::AllFalse(d, small)) return lgamma_large(d, x);
  return hn::IfThenElse(small, lgamma_small(d, x), lgamma_large(d, x));
}

/// x is a half, bfloat16 or float. Below 0: gamma(x) gamma(-x) = -pi / (x sin(pi x)).
template <class D>
HWY_INLINE hn::Vec<D> lgamma_of(D d, hn::Vec<D> x) {
  const auto size = hn::Abs(x), infinity = hn::Set(d, std::numeric_limits<double>::infinity());
  auto result = lgamma_positive(d, size);
  const auto below = hn::Lt(x, hn::Zero(d));
  if (!hn::AllFalse(d, below)) {
    const auto pi = hn::Set(d, 3.14159265358979323846);
    const auto rest = hn::IfThenElseZero(hn::IsFinite(size), hn::Abs(hn::Sub(size, hn::Round(size))));
    const auto reflected = hn::Div(pi, hn::Mul(size, hn::Sin(d, hn::Mul(pi, rest))));
    const auto finite = hn::And(below, hn::Gt(rest, hn::Zero(d)));
    result = hn::IfThenElse(below, infinity, result);
    result = hn::IfThenElse(finite, hn::Sub(hn::Log(d, reflected), lgamma_positive(d, size)), result);
  }
  result = hn::IfThenElse(hn::Or(hn::Eq(x, hn::Zero(d)), hn::Eq(size, infinity)), infinity, result);
  return hn::IfThenElse(hn::IsNaN(x), x, result);
}

/// The C library's function without the sign it keeps in a global variable.
inline double lgamma_of(double x) {
  int sign = 0;
  return lgamma_r(x, &sign);
}

}  // namespace
}  // namespace mluops::cpu::elementwise::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
