// Lane-wise functions of one operand, quotients, and the words that only differ from those in name.
#include <cmath>
#include <cstdint>

#include "backends/mlu_emu/bang/forms.h"
#include "backends/mlu_emu/bang/words.h"

namespace mluops::emu::bang {
namespace {

/// The larger (smaller) of two lanes, where a NaN loses, or wins.
template <bool kLarger>
constexpr auto kNumberWins = [](auto a, auto b) {
  if (a != a) return b;
  if (b != b) return a;
  return (kLarger ? a < b : b < a) ? b : a;
};
template <bool kLarger>
constexpr auto kNanWins = [](auto a, auto b) {
  if (a != a) return a;
  if (b != b) return b;
  return (kLarger ? a < b : b < a) ? b : a;
};

template <class T>
T magnitude(T x) {
  if constexpr (std::is_unsigned_v<T>) {
    return x;
  } else if constexpr (std::is_integral_v<T>) {
    return x < 0 ? static_cast<T>(0u - static_cast<std::uint32_t>(x)) : x;
  } else {
    return std::fabs(x);
  }
}

/// The device's answer to an integer divided by 0 is not documented.
template <class T>
T quotient(const Word& word, T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    if (b == 0) word.fault("an integer was divided by 0");
    return static_cast<T>(static_cast<std::int64_t>(a) / b);
  } else {
    return a / b;
  }
}

}  // namespace

template <class T>
void __bang_abs(T* dst, const T* a, std::int64_t n) {
  of_each(__func__, dst, a, n, [](Wide<T> x) { return magnitude(x); });
}
template <class T>
void __bang_neg(T* dst, const T* a, std::int64_t n) {
  of_each(__func__, dst, a, n, [](Wide<T> x) { return static_cast<Wide<T>>(-x); });
}
template <class T>
void __bang_active_abs(T* dst, const T* a, std::int64_t n) {
  of_each(__func__, dst, a, n, [](Wide<T> x) { return magnitude(x); });
}
template <class T>
void __bang_square(T* dst, const T* a, std::int64_t n) {
  of_each(__func__, dst, a, n, [](Wide<T> x) { return x * x; });
}
template <class T>
void __bang_sqrt(T* dst, const T* a, std::int64_t n) {
  of_each(__func__, dst, a, n, [](Wide<T> x) { return std::sqrt(x); });
}
template <class T>
void __bang_recip(T* dst, const T* a, std::int64_t n) {
  of_each(__func__, dst, a, n, [](Wide<T> x) { return 1.0f / x; });
}
template <class T>
void __bang_log2(T* dst, const T* a, std::int64_t n) {
  of_each(__func__, dst, a, n, [](Wide<T> x) { return static_cast<float>(std::log2(static_cast<double>(x))); });
}
template <class T>
void __bang_pow2(T* dst, const T* a, std::int64_t n) {
  of_each(__func__, dst, a, n, [](Wide<T> x) { return static_cast<float>(std::exp2(static_cast<double>(x))); });
}
template <class T>
void __bang_sin(T* dst, const T* a, std::int64_t n) {
  of_each(__func__, dst, a, n, [](Wide<T> x) { return static_cast<float>(std::sin(static_cast<double>(x))); });
}
template <class T>
void __bang_cos(T* dst, const T* a, std::int64_t n) {
  of_each(__func__, dst, a, n, [](Wide<T> x) { return static_cast<float>(std::cos(static_cast<double>(x))); });
}
template <class T>
void __bang_floor(T* dst, const T* a, std::int64_t n) {
  of_each(__func__, dst, a, n, [](Wide<T> x) { return std::floor(x); });
}
template <class T>
void __bang_div(T* dst, const T* a, const T* b, std::int64_t n) {
  Word word(__func__);
  word.lanes(dst, a, b, n);
  map(dst, a, b, n, [&](auto x, auto y) { return quotient(word, x, y); });
}
template <class T>
void __bang_div(T* dst, const T* a, ValueOf<T> value, std::int64_t n) {
  Word word(__func__);
  word.lanes(dst, a, n);
  const Wide<T> wide = value;
  map(dst, a, n, [&](auto x) { return quotient(word, x, wide); });
}
template <class T>
void __bang_div_scalar(T* dst, const T* a, ValueOf<T> value, std::int64_t n) {
  __bang_div(dst, a, value, n);
}
template <class T>
void __bang_div(T* dst, const T* a, const T* b, T* scratch, std::int64_t n) {
  Word(__func__).scratch(scratch, n);
  __bang_div(dst, a, b, n);
}
template <class T>
void __bang_maximum(T* dst, const T* a, const T* b, std::int64_t n) {
  of_vectors(__func__, dst, a, b, n, kNumberWins<true>);
}
template <class T>
void __bang_minimum(T* dst, const T* a, const T* b, std::int64_t n) {
  of_vectors(__func__, dst, a, b, n, kNumberWins<false>);
}
template <class T>
void __bang_nan_maximum(T* dst, const T* a, const T* b, std::int64_t n) {
  of_vectors(__func__, dst, a, b, n, kNanWins<true>);
}
template <class T>
void __bang_nan_minimum(T* dst, const T* a, const T* b, std::int64_t n) {
  of_vectors(__func__, dst, a, b, n, kNanWins<false>);
}
template <class T>
void __bang_maxeq_scalar(T* dst, const T* a, ValueOf<T> value, std::int64_t n) {
  of_value<T>(__func__, dst, a, value, n, [](auto x, auto y) { return x < y ? y : x; });
}
template <class T>
void __bang_mineq_scalar(T* dst, const T* a, ValueOf<T> value, std::int64_t n) {
  of_value<T>(__func__, dst, a, value, n, [](auto x, auto y) { return y < x ? y : x; });
}

template <class T>
void __bang_maximum_scalar(T* dst, const T* a, ValueOf<T> value, std::int64_t n) {
  of_value<T>(__func__, dst, a, value, n, kNumberWins<true>);
}
template <class T>
void __bang_minimum_scalar(T* dst, const T* a, ValueOf<T> value, std::int64_t n) {
  of_value<T>(__func__, dst, a, value, n, kNumberWins<false>);
}

template <class T>
void __bang_nan_maximum_scalar(T* dst, const T* a, ValueOf<T> value, std::int64_t n) {
  of_value<T>(__func__, dst, a, value, n, kNanWins<true>);
}
template <class T>
void __bang_nan_minimum_scalar(T* dst, const T* a, ValueOf<T> value, std::int64_t n) {
  of_value<T>(__func__, dst, a, value, n, kNanWins<false>);
}

#define CYCLE(name, expression)                                                                               \
  template <class T>                                                                                          \
  void __bang_cycle_##name(T* dst, const T* a, const T* b, std::int64_t n, std::int64_t cycle) {              \
    of_cycle(__func__, dst, a, b, n, cycle, [](auto x, auto y) { return static_cast<Wide<T>>(expression); }); \
  }
CYCLE(and, (x != 0) & (y != 0))
CYCLE(or, (x != 0) | (y != 0))
CYCLE(xor, (x != 0) != (y != 0))
CYCLE(eq, x == y)
CYCLE(ne, x != y)
CYCLE(lt, x < y)
CYCLE(le, x <= y)
CYCLE(gt, x > y)
CYCLE(ge, x >= y)
CYCLE(maxequal, x < y ? y : x)
CYCLE(minequal, y < x ? y : x)
CYCLE(maximum, kNumberWins<true>(x, y))
CYCLE(minimum, kNumberWins<false>(x, y))
CYCLE(nan_maximum, kNanWins<true>(x, y))
CYCLE(nan_minimum, kNanWins<false>(x, y))
#undef CYCLE

#define CYCLE_BITS_OP(name, op)                                                                        \
  template <class T>                                                                                   \
  void __bang_cycle_##name(T* dst, const T* a, const T* b, std::int64_t n, std::int64_t cycle) {       \
    of_cycle(__func__, reinterpret_cast<std::uint8_t*>(dst), reinterpret_cast<const std::uint8_t*>(a), \
             reinterpret_cast<const std::uint8_t*>(b), bytes_of_lanes<T>(n), bytes_of_lanes<T>(cycle), \
             [](auto x, auto y) { return static_cast<std::uint8_t>(x op y); });                        \
  }
CYCLE_BITS_OP(band, &)
CYCLE_BITS_OP(bor, |)
CYCLE_BITS_OP(bxor, ^)
#undef CYCLE_BITS_OP
#define CYCLE_BITS(T)                                                                  \
  template void __bang_cycle_band(T*, const T*, const T*, std::int64_t, std::int64_t); \
  template void __bang_cycle_bor(T*, const T*, const T*, std::int64_t, std::int64_t);  \
  template void __bang_cycle_bxor(T*, const T*, const T*, std::int64_t, std::int64_t)
CYCLE_BITS(char);
CYCLE_BITS(half);
CYCLE_BITS(bfloat16_t);
CYCLE_BITS(float);
CYCLE_BITS(std::int8_t);
CYCLE_BITS(std::uint8_t);
CYCLE_BITS(std::int16_t);
CYCLE_BITS(std::uint16_t);
CYCLE_BITS(std::int32_t);
CYCLE_BITS(std::uint32_t);

#define NUMBERS(T)                                                                         \
  template void __bang_abs(T*, const T*, std::int64_t);                                    \
  template void __bang_neg(T*, const T*, std::int64_t);                                    \
  template void __bang_maximum(T*, const T*, const T*, std::int64_t);                      \
  template void __bang_minimum(T*, const T*, const T*, std::int64_t);                      \
  template void __bang_maxeq_scalar(T*, const T*, ValueOf<T>, std::int64_t);               \
  template void __bang_mineq_scalar(T*, const T*, ValueOf<T>, std::int64_t);               \
  template void __bang_cycle_and(T*, const T*, const T*, std::int64_t, std::int64_t);      \
  template void __bang_cycle_eq(T*, const T*, const T*, std::int64_t, std::int64_t);       \
  template void __bang_cycle_ne(T*, const T*, const T*, std::int64_t, std::int64_t);       \
  template void __bang_cycle_gt(T*, const T*, const T*, std::int64_t, std::int64_t);       \
  template void __bang_cycle_ge(T*, const T*, const T*, std::int64_t, std::int64_t);       \
  template void __bang_cycle_or(T*, const T*, const T*, std::int64_t, std::int64_t);       \
  template void __bang_cycle_xor(T*, const T*, const T*, std::int64_t, std::int64_t);      \
  template void __bang_maximum_scalar(T*, const T*, ValueOf<T>, std::int64_t);             \
  template void __bang_minimum_scalar(T*, const T*, ValueOf<T>, std::int64_t);             \
  template void __bang_cycle_lt(T*, const T*, const T*, std::int64_t, std::int64_t);       \
  template void __bang_cycle_le(T*, const T*, const T*, std::int64_t, std::int64_t);       \
  template void __bang_cycle_maxequal(T*, const T*, const T*, std::int64_t, std::int64_t); \
  template void __bang_cycle_minequal(T*, const T*, const T*, std::int64_t, std::int64_t)
#define REALS(T)                                                                              \
  template void __bang_active_abs(T*, const T*, std::int64_t);                                \
  template void __bang_square(T*, const T*, std::int64_t);                                    \
  template void __bang_sqrt(T*, const T*, std::int64_t);                                      \
  template void __bang_recip(T*, const T*, std::int64_t);                                     \
  template void __bang_log2(T*, const T*, std::int64_t);                                      \
  template void __bang_pow2(T*, const T*, std::int64_t);                                      \
  template void __bang_sin(T*, const T*, std::int64_t);                                       \
  template void __bang_cos(T*, const T*, std::int64_t);                                       \
  template void __bang_floor(T*, const T*, std::int64_t);                                     \
  template void __bang_nan_maximum(T*, const T*, const T*, std::int64_t);                     \
  template void __bang_nan_maximum_scalar(T*, const T*, ValueOf<T>, std::int64_t);            \
  template void __bang_nan_minimum_scalar(T*, const T*, ValueOf<T>, std::int64_t);            \
  template void __bang_cycle_maximum(T*, const T*, const T*, std::int64_t, std::int64_t);     \
  template void __bang_cycle_minimum(T*, const T*, const T*, std::int64_t, std::int64_t);     \
  template void __bang_cycle_nan_maximum(T*, const T*, const T*, std::int64_t, std::int64_t); \
  template void __bang_cycle_nan_minimum(T*, const T*, const T*, std::int64_t, std::int64_t); \
  template void __bang_nan_minimum(T*, const T*, const T*, std::int64_t)
#define QUOTIENT(T)                                                   \
  template void __bang_div(T*, const T*, const T*, std::int64_t);     \
  template void __bang_div(T*, const T*, ValueOf<T>, std::int64_t);   \
  template void __bang_div(T*, const T*, const T*, T*, std::int64_t); \
  template void __bang_div_scalar(T*, const T*, ValueOf<T>, std::int64_t)
QUOTIENT(half);
QUOTIENT(bfloat16_t);
QUOTIENT(float);
QUOTIENT(std::int16_t);
QUOTIENT(std::uint16_t);
QUOTIENT(std::int32_t);
QUOTIENT(std::uint32_t);
NUMBERS(char);
NUMBERS(std::int8_t);
NUMBERS(std::uint8_t);
NUMBERS(half);
NUMBERS(bfloat16_t);
NUMBERS(float);
NUMBERS(std::int16_t);
NUMBERS(std::uint16_t);
NUMBERS(std::int32_t);
NUMBERS(std::uint32_t);
REALS(half);
REALS(bfloat16_t);
REALS(float);

// ---- the vendor's mathematical functions ---------------------------------------------------------------------------

float __cn_scalar_max_f32(float a, float b) {
  return std::fmax(a, b);
}
float __cn_scalar_min_f32(float a, float b) {
  return std::fmin(a, b);
}
float __cn_scalar_sin_f32(float x) {
  return static_cast<float>(std::sin(static_cast<double>(x)));
}
float __cn_scalar_cos_f32(float x) {
  return static_cast<float>(std::cos(static_cast<double>(x)));
}
half __cn_scalar_sin_f16(half x) {
  return __cn_scalar_sin_f32(x);
}
half __cn_scalar_cos_f16(half x) {
  return __cn_scalar_cos_f32(x);
}
void __cn_vector_sin_f32(std::int64_t n, float* dst, const float* a) {
  of_each(__func__, dst, a, n, __cn_scalar_sin_f32);
}
void __cn_vector_cos_f32(std::int64_t n, float* dst, const float* a) {
  of_each(__func__, dst, a, n, __cn_scalar_cos_f32);
}
void __cn_vector_hypot_f32(std::int64_t n, float* dst, const float* a, const float* b) {
  of_vectors(__func__, dst, a, b, n, [](float x, float y) {
    return static_cast<float>(std::hypot(static_cast<double>(x), static_cast<double>(y)));
  });
}
void __cn_vector_cast_f32_to_s32(std::int64_t n, std::int32_t* dst, const float* a) {
  __bang_float2int32_tz(dst, a, n, 0);
}

}  // namespace mluops::emu::bang
