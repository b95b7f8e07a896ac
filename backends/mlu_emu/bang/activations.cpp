// Mathematical functions of lanes, computed in double and rounded once, within the domains that the guide states.
#include <cmath>
#include <limits>
#include <string>

#include "backends/mlu_emu/bang/operands.h"
#include "backends/mlu_emu/bang/words.h"

namespace mluops::emu::bang {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kLeastHalf = 5.96e-8;  // the smallest one, 2^-24, as the guide writes it

/// What the guide promises something for. Both ends belong to it, unless `open` says that they do not.
struct Domain {
  double low = -kInfinity, high = kInfinity;
  bool open = false;

  bool holds(double x) const { return open ? low < x && x < high : low <= x && x <= high; }
};
template <class T>
Domain domain(Domain of_half, Domain of_float) {
  return std::is_same_v<T, float> ? of_float : of_half;
}
constexpr Domain kAny, kAngle{-6.2831855, 6.2831855}, kSeries{-7.75, 7.75, true};

/// Tells of the first lane beyond the domain; a NaN is nobody's mistake here.
template <class T>
void look(Word& word, const T* a, std::int64_t n, const Domain& d) {
  if (d.low == -kInfinity && d.high == kInfinity) return;
  for (std::int64_t i = 0; i < n; ++i) {
    const double x = static_cast<double>(static_cast<Wide<T>>(a[i]));
    if (d.holds(x) || x != x || word.is_undefined(i)) continue;
    const auto text = [](double y) { return std::to_string(y); };
    return word.note("lane " + std::to_string(i) + " is " + text(x) + ": the guide promises something from " +
                     text(d.low) + " to " + text(d.high));
  }
}

template <class T, class F>
void apply(const char* name, T* dst, const T* a, std::int64_t n, const Domain& d, F f) {
  Word word(name);
  word.lanes(dst, a, n);
  look(word, a, n, d);
  map(dst, a, n, [=](Wide<T> x) { return static_cast<Wide<T>>(f(static_cast<double>(x))); });
}

double gelu(double x) {
  constexpr double kRootOfHalf = 0.70710678118654752440, kHalf = 0.5, kTable = -3.875;
  return x < kTable ? -kLeastHalf : x * kHalf * std::erfc(-x * kRootOfHalf);
}

double relu(double x) {
  return x < 0 ? 0 : x;
}

double sign(double x) {
  if (x != x) return x;
  return x < 0 ? -1 : 1;
}

double sigmoid(double x) {
  constexpr double kTable = 7.75;
  return x < -kTable ? 0 : x > kTable ? 1 : 1 / (1 + std::exp(-x));
}

double exp_above(double x, double least, double below) {
  return x < least ? below : std::exp(x);
}

template <class T>
double exp_more_precise(double x) {
  constexpr double kOfFloat = 3e-7, kFloatTable = -15.5, kHalfTable = -7.75;
  return std::is_same_v<T, float> ? exp_above(x, kFloatTable, kOfFloat) : exp_above(x, kHalfTable, kLeastHalf);
}

}  // namespace

#define FUNCTION(name, of_domain, expression)                                   \
  template <class T>                                                            \
  void __bang_##name(T* dst, const T* a, std::int64_t n) {                      \
    apply(__func__, dst, a, n, of_domain, [](double x) { return expression; }); \
  }                                                                             \
  template void __bang_##name(half*, const half*, std::int64_t);                \
  template void __bang_##name(bfloat16_t*, const bfloat16_t*, std::int64_t);    \
  template void __bang_##name(float*, const float*, std::int64_t)
#define OF_HALF_AND_FLOAT(low, high, float_low, float_high) (domain<T>({low, high}, {float_low, float_high}))
#define BETWEEN(low, high) (Domain{low, high})
FUNCTION(active_exp, BETWEEN(-kInfinity, 11), exp_above(x, -7.75, kLeastHalf));
FUNCTION(active_exphp, OF_HALF_AND_FLOAT(-kInfinity, 11, -kInfinity, 16), exp_more_precise<T>(x));
FUNCTION(active_exp_less_0, BETWEEN(-kInfinity, 0), exp_above(x, -15.5, kLeastHalf));
FUNCTION(active_log, BETWEEN(6.1e-5, 63484), std::log(x));
FUNCTION(active_loghp, OF_HALF_AND_FLOAT(6.1e-5, 65504, 7.2e-9, 507903), std::log(x));
FUNCTION(active_sqrt, BETWEEN(0, 63487), std::sqrt(x));
FUNCTION(active_sqrthp, OF_HALF_AND_FLOAT(0, 65504, 0, 677268), std::sqrt(x));
FUNCTION(rsqrt, kAny, 1 / std::sqrt(x));
FUNCTION(active_rsqrt, BETWEEN(0.005, 63487), 1 / std::sqrt(x));
FUNCTION(active_rsqrthp, OF_HALF_AND_FLOAT(0.000366, 65504, 0.000367, 1e6), 1 / std::sqrt(x));
FUNCTION(active_recip, BETWEEN(0.0078125, 65472), 1 / x);
FUNCTION(active_reciphp, OF_HALF_AND_FLOAT(0.0039, 65504, 2.2205e-16, 2e6), 1 / x);
FUNCTION(active_recip_greater_1, BETWEEN(1, 63487), 1 / x);
FUNCTION(active_sigmoid, kAny, sigmoid(x));
FUNCTION(active_tanh, kAny, std::tanh(x));
FUNCTION(active_gelu, kAny, gelu(x));
FUNCTION(active_gelup, kAny, gelu(x));
FUNCTION(relu, kAny, relu(x));
FUNCTION(active_relu, kAny, relu(x));
FUNCTION(active_sign, kAny, sign(x));
FUNCTION(active_pow2, OF_HALF_AND_FLOAT(-24, 15, -31, 31), std::exp2(x));
FUNCTION(active_sin, kAngle, std::sin(x));
FUNCTION(active_cos, kAngle, std::cos(x));

template <class T>
void __bang_relun(T* dst, const T* a, std::int64_t n, ValueOf<T> bound) {
  const auto most = static_cast<double>(static_cast<Wide<T>>(bound));
  apply(__func__, dst, a, n, kAny, [=](double x) { return x > most ? most : relu(x); });
}
template void __bang_relun(half*, const half*, std::int64_t, half);
template void __bang_relun(bfloat16_t*, const bfloat16_t*, std::int64_t, bfloat16_t);
template void __bang_relun(float*, const float*, std::int64_t, float);
#define RELU(T)                                          \
  template void __bang_relu(T*, const T*, std::int64_t); \
  template void __bang_relun(T*, const T*, std::int64_t, T)
RELU(char);
RELU(std::int8_t);
RELU(std::int16_t);
RELU(std::int32_t);

// ---- series
// ------------------------------------------------------------------------------------------------------------

#define SERIES_OF(terms, name, expression)                                                                       \
  template <class T>                                                                                             \
  void __bang_taylor##terms##_##name(T* dst, const T* a, const T* scratch1, const T* scratch2, std::int64_t n) { \
    {                                                                                                            \
      Word word(__func__);                                                                                       \
      word.scratch(scratch1, n);                                                                                 \
      word.scratch(scratch2, n);                                                                                 \
    }                                                                                                            \
    apply(__func__, dst, a, n, kSeries, [](double x) { return expression; });                                    \
  }                                                                                                              \
  template void __bang_taylor##terms##_##name(half*, const half*, const half*, const half*, std::int64_t);       \
  template void __bang_taylor##terms##_##name(float*, const float*, const float*, const float*, std::int64_t);
#define SERIES(name, expression) \
  SERIES_OF(3, name, expression) \
  SERIES_OF(4, name, expression)
SERIES(sin, std::sin(x))
SERIES(cos, std::cos(x))
SERIES(tanh, std::tanh(x))
SERIES(sigmoid, 1 / (1 + std::exp(-x)))
SERIES(softplus, std::log1p(std::exp(x)))

}  // namespace mluops::emu::bang
