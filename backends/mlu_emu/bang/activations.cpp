// Mathematical functions of lanes, computed in double and rounded once.
#include <cmath>

#include "backends/mlu_emu/bang/operands.h"
#include "backends/mlu_emu/bang/words.h"

namespace mluops::emu::bang {
namespace {

template <class T, class F>
void apply(const char* name, T* dst, const T* a, std::int64_t n, F f) {
  Word word(name);
  word.lanes(dst, a, n);
  map(dst, a, n, [=](float x) { return static_cast<float>(f(static_cast<double>(x))); });
}

double gelu(double x) {
  constexpr double kRootOfHalf = 0.70710678118654752440, kHalf = 0.5;
  return x * kHalf * std::erfc(-x * kRootOfHalf);
}

double relu(double x) {
  return x < 0 ? 0 : x;
}

double sign(double x) {
  if (x != x) return x;
  return (x > 0 ? 1 : 0) - (x < 0 ? 1 : 0);
}

}  // namespace

#define FUNCTION(name, expression)                                           \
  template <class T>                                                         \
  void __bang_##name(T* dst, const T* a, std::int64_t n) {                   \
    apply(__func__, dst, a, n, [](double x) { return expression; });         \
  }                                                                          \
  template void __bang_##name(half*, const half*, std::int64_t);             \
  template void __bang_##name(bfloat16_t*, const bfloat16_t*, std::int64_t); \
  template void __bang_##name(float*, const float*, std::int64_t)
template <class T>
void __bang_relun(T* dst, const T* a, std::int64_t n, ValueOf<T> bound) {
  const auto most = static_cast<double>(static_cast<float>(bound));
  apply(__func__, dst, a, n, [=](double x) { return x > most ? most : relu(x); });
}
template void __bang_relun(half*, const half*, std::int64_t, half);
template void __bang_relun(bfloat16_t*, const bfloat16_t*, std::int64_t, bfloat16_t);
template void __bang_relun(float*, const float*, std::int64_t, float);
FUNCTION(active_exp, std::exp(x));
FUNCTION(active_exphp, std::exp(x));
FUNCTION(active_exp_less_0, std::exp(x));
FUNCTION(active_log, std::log(x));
FUNCTION(active_loghp, std::log(x));
FUNCTION(active_sqrt, std::sqrt(x));
FUNCTION(active_sqrthp, std::sqrt(x));
FUNCTION(rsqrt, 1 / std::sqrt(x));
FUNCTION(active_rsqrt, 1 / std::sqrt(x));
FUNCTION(active_rsqrthp, 1 / std::sqrt(x));
FUNCTION(active_recip, 1 / x);
FUNCTION(active_reciphp, 1 / x);
FUNCTION(active_recip_greater_1, 1 / x);
FUNCTION(active_sigmoid, 1 / (1 + std::exp(-x)));
FUNCTION(active_tanh, std::tanh(x));
FUNCTION(active_gelu, gelu(x));
FUNCTION(active_gelup, gelu(x));
FUNCTION(relu, relu(x));
FUNCTION(active_relu, relu(x));
FUNCTION(active_sign, sign(x));
FUNCTION(active_pow2, std::exp2(x));
FUNCTION(active_sin, std::sin(x));
FUNCTION(active_cos, std::cos(x));

}  // namespace mluops::emu::bang
