// log |gamma(x)| of vectors, for elements of half, bfloat16 and float.
//
// `lgamma_of` computes in double: its errors of 1e-13 leave all digits of a float, beside the zeros of the function
// too. `lgamma_positive` and `lgamma_negative` compute in float, within 4 units in the last place, and tell which
// lanes they cannot serve: numbers that are not normal, and negative ones where the terms of the reflection cancel.
// `lgamma_block` gives those to `lgamma_of`. Elements of double take the C library's.
#include <cmath>
#include <cstdint>
#include <limits>

#include "backends/cpu/kernels/elementwise/log-inl.h"
#include "backends/cpu/kernels/elementwise/map-inl.h"
#include "backends/cpu/simd/simd-inl.h"

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
using namespace cpu::HWY_NAMESPACE;
namespace {

/// sin(pi r) / pi, 0 <= r <= 1/2: r + r^3 P(r^2), P a minimax polynomial.
template <class D>
HWY_INLINE hn::Vec<D> sin_pi_over_pi(D d, hn::Vec<D> r) {
  static constexpr float kFloat[] = {0.02472501819f, -0.1904473752f, 0.8117164075f, -1.644933364f};
  static constexpr double kDouble[] = {2.4499336078236026e-7,   -6.97206758704722094e-6, 0.00014842783053782603,
                                       -0.00234608089378857285, 0.0261478478054616513,   -0.190751824121501262,
                                       0.811742425283340096,    -1.64493406684822633};
  const auto square = hn::Mul(r, r), cube = hn::Mul(r, square);
  if constexpr (sizeof(hn::TFromD<D>) == sizeof(double)) {
    return hn::MulAdd(cube, polynomial(d, square, kDouble), r);
  } else {
    return hn::MulAdd(cube, polynomial(d, square, kFloat), r);
  }
}

// ---- in double ----

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

/// log gamma = sum - log(product).
template <class V>
struct Parts {
  V sum, product;
};

/// 0 < x < 5/2: x + n lies around two, and gamma(x) = gamma(x + n) / (x ... (x + n - 1)).
template <class D>
HWY_INLINE Parts<hn::Vec<D>> lgamma_small(D d, hn::Vec<D> x) {
  const auto one = hn::Set(d, 1.0);
  const auto two_steps = hn::Lt(x, hn::Set(d, 0.5)), some_steps = hn::Lt(x, hn::Set(d, 1.5));
  const auto past = hn::IfThenElse(two_steps, hn::Zero(d), hn::IfThenElse(some_steps, one, hn::Set(d, 2.0)));
  const auto product = hn::IfThenElse(two_steps, hn::MulAdd(x, x, x), hn::IfThenElse(some_steps, x, one));
  return {lgamma_around_two(d, hn::Sub(x, past)), product};
}

/// x >= 5/2: Stirling's series from 8 on, which six steps reach.
template <class D>
HWY_INLINE Parts<hn::Vec<D>> lgamma_large(D d, hn::Vec<D> x) {
  static constexpr double kStirling[] = {1.0 / 156,  -691.0 / 360360, 1.0 / 1188, -1.0 / 1680,
                                         1.0 / 1260, -1.0 / 360,      1.0 / 12};
  const auto steps = hn::Lt(x, hn::Set(d, 8.0));
  auto product = x;
  for (int i = 1; i < 6; ++i) product = hn::Mul(product, hn::Add(x, hn::Set(d, static_cast<double>(i))));
  const auto y = hn::IfThenElse(steps, hn::Add(x, hn::Set(d, 6.0)), x);
  const auto inverse = hn::Div(hn::Set(d, 1.0), y);
  const auto series = hn::Mul(inverse, polynomial(d, hn::Mul(inverse, inverse), kStirling));
  const auto half_log_two_pi = hn::Set(d, 0.91893853320467274);
  const auto main = hn::MulAdd(hn::Sub(y, hn::Set(d, 0.5)), hn::Log(d, y), hn::Sub(half_log_two_pi, y));
  return {hn::Add(main, series), hn::IfThenElse(steps, product, hn::Set(d, 1.0))};
}

template <class D>
HWY_INLINE Parts<hn::Vec<D>> lgamma_parts(D d, hn::Vec<D> x) {
  const auto is_small = hn::Lt(x, hn::Set(d, 2.5));
  if (hn::AllTrue(d, is_small)) return lgamma_small(d, x);
  const auto large = lgamma_large(d, x);
  if (hn::AllFalse(d, is_small)) return large;
  const auto small = lgamma_small(d, x);
  return {hn::IfThenElse(is_small, small.sum, large.sum), hn::IfThenElse(is_small, small.product, large.product)};
}

/// x is a half, bfloat16 or float. Below 0: gamma(x) gamma(-x) = -pi / (x sin(pi x)).
template <class D>
HWY_INLINE hn::Vec<D> lgamma_of(D d, hn::Vec<D> x) {
  const auto size = hn::Abs(x), infinity = hn::Inf(d);
  const auto parts = lgamma_parts(d, size);
  const auto below = hn::Lt(x, hn::Zero(d));
  const auto rest = hn::IfThenElseZero(hn::IsFinite(size), hn::Abs(hn::Sub(size, hn::Round(size))));
  const auto reflected = hn::Div(parts.product, hn::Mul(size, sin_pi_over_pi(d, rest)));
  const auto log = hn::Log(d, hn::IfThenElse(below, reflected, parts.product));
  auto result = hn::Sub(parts.sum, log);
  result = hn::IfThenElse(below, hn::Neg(result), result);
  const auto pole = hn::And(hn::Eq(rest, hn::Zero(d)), hn::Le(x, hn::Zero(d)));
  result = hn::IfThenElse(hn::Or(pole, hn::Eq(size, infinity)), infinity, result);
  return hn::IfThenElse(hn::IsNaN(x), x, result);
}

/// The C library's function without the sign it keeps in a global variable.
inline double lgamma_of(double x) {
#ifdef _WIN32  // has no such variable
  return std::lgamma(x);
#else
  int sign = 0;
  return lgamma_r(x, &sign);
#endif
}

// ---- in float ----

/// table[index] of each lane.
template <class D>
HWY_INLINE hn::Vec<D> pick(D d, const float (&table)[16], hn::Vec<hn::RebindToSigned<D>> index) {
  const hn::RebindToSigned<D> di;
  if constexpr (hn::MaxLanes(d) >= 8) {
    return hn::TableLookupLanes(hn::Load(d, table), hn::IndicesFromVec(d, index));
  } else if constexpr (hn::MaxLanes(d) == 4) {
    const auto of_four = hn::IndicesFromVec(d, hn::And(index, hn::Set(di, 3)));
    const auto low = hn::TableLookupLanes(hn::Load(d, table), of_four);
    const auto high = hn::TableLookupLanes(hn::Load(d, table + 4), of_four);
    return hn::IfThenElse(hn::RebindMask(d, hn::Gt(index, hn::Set(di, 3))), high, low);
  } else {
    return hn::GatherIndex(d, table, index);
  }
}

/// log gamma(y), 1/2 <= y < 8: (y - 1) (y - 2) G(y). G has no zero. Each half of an octave has a minimax polynomial of
/// the distance to its middle; twice, for vectors of 16 lanes.
template <class D>
HWY_INLINE hn::Vec<D> lgamma_by_tables(D d, hn::Vec<D> y) {
#define MLUOPS_TWICE(...) {__VA_ARGS__, __VA_ARGS__}
  // [2, 3), [3, 4), [4, 6), [6, 8), [1/2, 3/4), [3/4, 1), [1, 3/2), [3/2, 2); highest power first.
  HWY_ALIGN static constexpr float kTables[7][16] = {
      MLUOPS_TWICE(0.0002442458715f, 2.922158854e-5f, 3.27359629e-6f, 3.88702861e-7f, 1.278866928f, 0.1569379908f,
                   0.0179481136f, 0.002165007372f),
      MLUOPS_TWICE(-0.0006957722969f, -0.0001168966912f, -1.858204494e-5f, -3.089657855e-6f, -0.9224884834f,
                   -0.1585502014f, -0.02566568675f, -0.004344732998f),
      MLUOPS_TWICE(0.001946684392f, 0.0004694068643f, 0.0001031233248f, 2.453262073e-5f, 0.6560707966f, 0.1612944284f,
                   0.03611418405f, 0.008773651293f),
      MLUOPS_TWICE(-0.006014060608f, -0.002018106336f, -0.0006284182513f, -0.0002072556368f, -0.5160239968f,
                   -0.1765304181f, -0.0562304011f, -0.01905022679f),
      MLUOPS_TWICE(0.01990527101f, 0.009242649661f, 0.004056366189f, 0.001844014688f, 0.4397159956f, 0.2090605198f,
                   0.09456630297f, 0.04452048102f),
      MLUOPS_TWICE(-0.07466372232f, -0.04743517762f, -0.02897898594f, -0.01798693129f, -0.4423286502f, -0.2903365129f,
                   -0.1845587228f, -0.1194816159f),
      MLUOPS_TWICE(0.3795771598f, 0.3202596272f, 0.2648378185f, 0.2193083737f, 0.6997905354f, 0.6105508069f,
                   0.5241164598f, 0.450139312f)};
#undef MLUOPS_TWICE
  const hn::RebindToSigned<D> di;
  const auto bits = hn::BitCast(di, y);
  const auto index = hn::And(hn::ShiftRight<22>(bits), hn::Set(di, 7));
  const auto middle = hn::Or(hn::And(bits, hn::Set(di, ~0x3fffff)), hn::Set(di, 0x200000));
  const auto past = hn::Sub(y, hn::BitCast(d, middle));
  auto g = pick(d, kTables[0], index);
  for (int i = 1; i < 7; ++i) g = hn::MulAdd(g, past, pick(d, kTables[i], index));
  return hn::Mul(hn::Mul(hn::Sub(y, hn::Set(d, 1.0f)), hn::Sub(y, hn::Set(d, 2.0f))), g);
}

/// log gamma(x), x >= 8, by Stirling's series, given log x - 1.
template <class D>
HWY_INLINE hn::Vec<D> lgamma_by_stirling(D d, hn::Vec<D> x, hn::Vec<D> log_less_one) {
  const auto inverse = hn::Div(hn::Set(d, 1.0f), x);
  const auto factor = hn::NegMulAdd(hn::Mul(inverse, inverse), hn::Set(d, 1.0f / 360), hn::Set(d, 1.0f / 12));
  const auto rest = hn::MulAdd(inverse, factor, hn::Set(d, 0.41893853320467274f));
  return hn::MulAdd(hn::Sub(x, hn::Set(d, 0.5f)), log_less_one, rest);
}

template <class V, class M>
struct Fast {
  V value;
  M good;  ///< lanes whose value is within 4 units
};

/// log gamma(size) of normal numbers. Below 1/2 it is log gamma(size + 1) less `log`, else `log` is 0.
template <class D>
HWY_INLINE hn::Vec<D> lgamma_terms(D d, hn::Vec<D> size, hn::Vec<D>& log) {
  const auto one = hn::Set(d, 1.0f), zero = hn::Zero(d);
  const auto large = hn::Ge(size, hn::Set(d, 8.0f)), small = hn::Lt(size, hn::Set(d, 0.5f));
  log = log_of_parts(d, split(d, size), BaseE::value, hn::IfThenElse(large, hn::Neg(one), zero));
  auto sum = zero;
  if (!hn::AllFalse(d, large)) sum = lgamma_by_stirling(d, size, log);
  log = hn::IfThenElseZero(small, log);
  if (hn::AllTrue(d, large)) return sum;
  return hn::IfThenElse(large, sum, lgamma_by_tables(d, hn::Add(size, hn::IfThenElseZero(small, one))));
}

template <class D>
HWY_INLINE Fast<hn::Vec<D>, hn::Mask<D>> lgamma_positive(D d, hn::Vec<D> x) {
  auto log = hn::Zero(d);
  const auto sum = lgamma_terms(d, x, log);
  return {hn::Sub(sum, log), hn::And(hn::Ge(x, hn::Set(d, std::numeric_limits<float>::min())), hn::Lt(x, hn::Inf(d)))};
}

/// By the reflection; below 1/2, gamma(x) gamma(1 - x) = pi / sin(pi x).
template <class D>
HWY_INLINE Fast<hn::Vec<D>, hn::Mask<D>> lgamma_negative(D d, hn::Vec<D> x) {
  const auto size = hn::Abs(x), least = hn::Set(d, std::numeric_limits<float>::min());
  auto unused = hn::Zero(d);
  const auto sum = lgamma_terms(d, size, unused);
  const auto rest = hn::Abs(hn::Sub(size, hn::Round(size))), sine = sin_pi_over_pi(d, rest);
  const auto product = hn::IfThenElse(hn::Lt(size, hn::Set(d, 0.5f)), sine, hn::Mul(size, sine));
  const auto log = log_of_parts(d, split(d, product), BaseE::value, hn::Zero(d));
  const auto value = hn::Neg(hn::Add(log, sum));
  // Errors of the product, of its logarithm and of `sum`, together below 4 units of a value above this.
  const auto least_good =
      hn::MulAdd(hn::Abs(sum), hn::Set(d, 0.75f), hn::MulAdd(hn::Abs(log), hn::Set(d, 0.2f), hn::Set(d, 0.5f)));
  const auto kept = hn::Gt(hn::Abs(value), least_good);
  const auto ordinary =
      hn::And(hn::Lt(x, hn::Zero(d)), hn::And(hn::Ge(rest, least), hn::Lt(size, hn::Set(d, 0x1p22f))));
  return {value, hn::And(kept, ordinary)};
}

/// Some elements next to each other, their places in a row, and results for them.
struct Gathered {
  HWY_ALIGN std::int32_t places[kBlock + kLanes<float>];
  HWY_ALIGN float x[kBlock + kLanes<float>], values[kBlock];
  std::int64_t n = 0;

  void give(float* HWY_RESTRICT to) const {
    for (std::int64_t i = 0; i < n; ++i) to[places[i]] = values[i];
  }
};

/// values[i] = f(x[i]), n <= kBlock; gathers what is not good into `left`.
template <class T, class F>
HWY_INLINE void try_fast(const T* x, std::int64_t n, float* values, Gathered& left, F f) {
  for_lanes<float>(n, [&](auto d, std::int64_t i) HWY_ATTR {
    const hn::RebindToSigned<decltype(d)> di;
    const auto v = load(d, x + i);
    const auto fast = f(d, v);
    hn::StoreU(fast.value, d, values + i);
    if (HWY_LIKELY(hn::AllTrue(d, fast.good))) return;
    const auto bad = hn::Not(fast.good);
    hn::CompressStore(v, bad, d, left.x + left.n);
    const auto here = hn::Iota(di, static_cast<std::int32_t>(i));
    left.n += static_cast<std::int64_t>(hn::CompressStore(here, hn::RebindMask(di, bad), di, left.places + left.n));
  });
}

/// values[i] = log |gamma(x[i])| in double.
inline void lgamma_row(const float* x, std::int64_t n, float* values) {
  for_lanes<double>(n, [&](auto d, std::int64_t i) HWY_ATTR {
    const hn::Rebind<float, decltype(d)> narrow;
    // Highway's DemoteTo may saturate: twice the greatest float is Inf.
    const auto half = hn::Mul(lgamma_of(d, hn::PromoteTo(d, hn::LoadU(narrow, x + i))), hn::Set(d, 0.5));
    hn::StoreU(hn::Mul(hn::DemoteTo(narrow, half), hn::Set(narrow, 2.0f)), narrow, values + i);
  });
}

/// results[i] = log |gamma(x[i])|, n <= kBlock: for positive numbers, then for negative ones, then for the rest.
template <class T>
void lgamma_block(const T* x, std::int64_t n, float* results) {
  Gathered negative, rest;
  try_fast(x, n, results, negative, [](auto d, auto v) HWY_ATTR { return lgamma_positive(d, v); });
  if (negative.n == 0) return;
  try_fast(negative.x, negative.n, negative.values, rest,
           [](auto d, auto v) HWY_ATTR { return lgamma_negative(d, v); });
  lgamma_row(rest.x, rest.n, rest.values);
  rest.give(negative.values);
  negative.give(results);
}

}  // namespace
}  // namespace mluops::cpu::elementwise::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
