// Builtins of integer lanes, and comparisons that hold with NaN: vector, scalar and cycled forms of one function each.
#include <bit>
#include <cmath>
#include <limits>
#include <type_traits>

#include "backends/mlu_emu/bang/forms.h"
#include "backends/mlu_emu/bang/words.h"
#include "common/round.h"

namespace mluops::emu::bang {
namespace {

template <class T>
T saturated(std::int64_t x) {
  const std::int64_t low = std::numeric_limits<T>::min(), high = std::numeric_limits<T>::max();
  return static_cast<T>(std::max(low, std::min(x, high)));
}
template <class T>
T upper_half(std::int64_t product) {
  constexpr int kBits = 8 * sizeof(T);
  if constexpr (std::is_signed_v<T>) return static_cast<T>(product >> kBits);
  return static_cast<T>(static_cast<std::uint64_t>(product) >> kBits);
}
template <class T>
std::int64_t product(T x, T y) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(static_cast<std::int64_t>(x)) *
                                   static_cast<std::uint64_t>(static_cast<std::int64_t>(y)));
}
template <class T>
bool unordered(T x, T y) {
  return (x != x) | (y != y);
}

}  // namespace

#define INTEGER_TYPES(X, ...)   \
  X(char, __VA_ARGS__)          \
  X(std::int8_t, __VA_ARGS__)   \
  X(std::uint8_t, __VA_ARGS__)  \
  X(std::int16_t, __VA_ARGS__)  \
  X(std::uint16_t, __VA_ARGS__) \
  X(std::int32_t, __VA_ARGS__)  \
  X(std::uint32_t, __VA_ARGS__)
#define FLOAT_TYPES(X, ...)  \
  X(half, __VA_ARGS__)       \
  X(bfloat16_t, __VA_ARGS__) \
  X(float, __VA_ARGS__)
#define THREE_OF(T, name)                                                       \
  template void __bang_##name(T*, const T*, const T*, std::int64_t);            \
  template void __bang_##name##_scalar(T*, const T*, ValueOf<T>, std::int64_t); \
  template void __bang_cycle_##name(T*, const T*, const T*, std::int64_t, std::int64_t);
#define THREE(name, types, expression)                                                                 \
  template <class T>                                                                                   \
  void __bang_##name(T* dst, const T* a, const T* b, std::int64_t n) {                                 \
    of_vectors(__func__, dst, a, b, n, [](Wide<T> x, Wide<T> y) { return Wide<T>(expression); });      \
  }                                                                                                    \
  template <class T>                                                                                   \
  void __bang_##name##_scalar(T* dst, const T* a, ValueOf<T> value, std::int64_t n) {                  \
    of_value<T>(__func__, dst, a, value, n, [](Wide<T> x, Wide<T> y) { return Wide<T>(expression); }); \
  }                                                                                                    \
  template <class T>                                                                                   \
  void __bang_cycle_##name(T* dst, const T* a, const T* b, std::int64_t n, std::int64_t cycle) {       \
    of_cycle(__func__, dst, a, b, n, cycle, [](Wide<T> x, Wide<T> y) { return Wide<T>(expression); }); \
  }                                                                                                    \
  types(THREE_OF, name)
THREE(adds, INTEGER_TYPES, saturated<T>(static_cast<std::int64_t>(x) + static_cast<std::int64_t>(y)))
THREE(subs, INTEGER_TYPES, saturated<T>(static_cast<std::int64_t>(x) - static_cast<std::int64_t>(y)))
THREE(mulh, INTEGER_TYPES, upper_half<T>(product(x, y)))
THREE(equ, FLOAT_TYPES, (unordered(x, y) | (x == y)) ? 1 : 0)
THREE(neu, FLOAT_TYPES, (unordered(x, y) | (x != y)) ? 1 : 0)
THREE(ltu, FLOAT_TYPES, (unordered(x, y) | (x < y)) ? 1 : 0)
THREE(leu, FLOAT_TYPES, (unordered(x, y) | (x <= y)) ? 1 : 0)
THREE(gtu, FLOAT_TYPES, (unordered(x, y) | (x > y)) ? 1 : 0)
THREE(geu, FLOAT_TYPES, (unordered(x, y) | (x >= y)) ? 1 : 0)
#undef THREE

// ---- products in wider lanes
// -----------------------------------------------------------------------------------------

namespace {

/// dst[i] = a[i] * b[i mod length].
template <class W, class T>
void wide_products(const char* name, W* dst, const T* a, const T* b, std::int64_t n, std::int64_t length) {
  Word word(name);
  word.count(n);
  word.require(length > 0 && n % length == 0, "the count must be a multiple of the cycle");
  word.source(a, n, "first source");
  if (b != nullptr) word.cycled_source(b, length, n);
  word.destination(dst, n);
  const std::vector<T> x(a, a + n), y(b, b + length);  // a result may lie over lanes still to be read
  for (std::int64_t i = 0; i < n; ++i) {
    dst[i] = static_cast<W>(product(x[static_cast<std::size_t>(i)], y[static_cast<std::size_t>(i % length)]));
  }
}

}  // namespace

template <class W, class T>
void __bang_muls(W* dst, const T* a, const T* b, std::int64_t n) {
  wide_products(__func__, dst, a, b, n, std::max<std::int64_t>(n, 1));
}
template <class W, class T>
void __bang_cycle_muls(W* dst, const T* a, const T* b, std::int64_t n, std::int64_t cycle) {
  wide_products(__func__, dst, a, b, n, cycle);
}
template <class W, class T>
void __bang_muls_scalar(W* dst, const T* a, ValueOf<T> value, std::int64_t n) {
  Word word(__func__);
  word.count(n);
  word.source(a, n);
  word.destination(dst, n);
  const std::vector<T> x(a, a + n);
  for (std::int64_t i = 0; i < n; ++i) dst[i] = static_cast<W>(product(x[static_cast<std::size_t>(i)], T(value)));
}
template <class W, class T>
void __bang_square(W* dst, const T* a, std::int64_t n) {
  wide_products(__func__, dst, a, a, n, std::max<std::int64_t>(n, 1));
}
#define MULS(W, T)                                                                     \
  template void __bang_muls(W*, const T*, const T*, std::int64_t);                     \
  template void __bang_muls_scalar(W*, const T*, ValueOf<T>, std::int64_t);            \
  template void __bang_cycle_muls(W*, const T*, const T*, std::int64_t, std::int64_t); \
  template void __bang_square(W*, const T*, std::int64_t)
MULS(std::int16_t, char);
MULS(std::int16_t, std::int8_t);
MULS(std::uint16_t, std::uint8_t);
MULS(std::int32_t, std::int16_t);
MULS(std::uint32_t, std::uint16_t);

// ---- bits
// ------------------------------------------------------------------------------------------------------------

namespace {

template <class T>
using Unsigned = std::make_unsigned_t<T>;

template <class T, class F>
void shifted(const char* name, T* dst, const T* a, std::int64_t bits, std::int64_t n, F f) {
  constexpr std::int64_t kBits = 8 * sizeof(T);
  Word word(name);
  word.lanes(dst, a, n);
  word.require(bits >= 0 && bits < kBits, "the shift must be less than the lane's bits");
  const int count = static_cast<int>(std::clamp<std::int64_t>(bits, 0, kBits - 1));
  map(dst, a, n, [=](T x) { return static_cast<T>(f(x, count)); });
}

template <class T>
int sign_again(T x) {
  if constexpr (std::is_unsigned_v<T>) return std::countl_zero(x);
  const auto bits = static_cast<Unsigned<T>>(x < 0 ? ~x : x);
  return std::countl_zero(bits) - 1;
}

void with_bit(const char* name, void* dst, const void* src, int position, std::int64_t n, bool one) {
  constexpr int kBits = 32;
  auto* to = static_cast<std::uint32_t*>(dst);
  const auto* from = static_cast<const std::uint32_t*>(src);
  Word word(name);
  word.lanes(to, from, n);
  word.require(position >= 0 && position < kBits, "the position must lie in [0, 32)");
  const std::uint32_t bit = std::uint32_t{1} << (static_cast<unsigned>(position) % kBits);
  map(to, from, n, [=](std::uint32_t x) { return one ? x | bit : x & ~bit; });
}

}  // namespace

#define SHIFT_OF(T, name) template void __bang_##name(T*, const T*, std::int64_t, std::int64_t);
#define SHIFT(name, expression)                                                                \
  template <class T>                                                                           \
  void __bang_##name(T* dst, const T* a, std::int64_t bits, std::int64_t n) {                  \
    shifted(__func__, dst, a, bits, n, [](T x, int k) { return static_cast<T>(expression); }); \
  }                                                                                            \
  INTEGER_TYPES(SHIFT_OF, name)
SHIFT(srl, static_cast<Unsigned<T>>(x) >> k)
SHIFT(sll, static_cast<std::uint32_t>(x) << k)
SHIFT(sra, static_cast<std::make_signed_t<T>>(x) >> k)
SHIFT(rol, std::rotl(static_cast<Unsigned<T>>(x), k))
SHIFT(ror, std::rotr(static_cast<Unsigned<T>>(x), k))
#undef SHIFT

template <class T>
void __bang_nsa(T* dst, const T* a, std::int64_t n) {
  of_each(__func__, dst, a, n, [](T x) { return static_cast<T>(sign_again(x)); });
}
#define NSA(T, name) template void __bang_nsa(T*, const T*, std::int64_t);
INTEGER_TYPES(NSA, )
void __bang_set0in32(void* dst, const void* src, int position, std::int64_t n) {
  with_bit(__func__, dst, src, position, n, false);
}
void __bang_set1in32(void* dst, const void* src, int position, std::int64_t n) {
  with_bit(__func__, dst, src, position, n, true);
}

template <class T>
int __bang_popcnt(const T* src, std::int64_t n) {
  Word word(__func__);
  word.count(n);
  word.decider(src, n);
  Core::current().computed(__func__, bytes_of_lanes<T>(n), n, n);
  int ones = 0;
  for (std::int64_t i = 0; i < n; ++i) ones += std::popcount(src[i]);
  return ones;
}
template int __bang_popcnt(const std::uint8_t*, std::int64_t);
template int __bang_popcnt(const std::uint16_t*, std::int64_t);
template int __bang_popcnt(const std::uint32_t*, std::int64_t);

// ---- bits and truth of a lane and a value
// ----------------------------------------------------------------------------

namespace {

template <class T>
using BitsOf =
    std::conditional_t<sizeof(T) == 4, std::uint32_t, std::conditional_t<sizeof(T) == 2, std::uint16_t, std::uint8_t>>;

template <class T, class F>
void bits_of_value(const char* name, T* dst, const T* a, T value, std::int64_t n, F f) {
  using B = BitsOf<T>;
  of_value<B>(name, reinterpret_cast<B*>(dst), reinterpret_cast<const B*>(a), std::bit_cast<B>(value), n,
              [=](B x, B y) { return static_cast<B>(f(x, y)); });
}

}  // namespace

#define ALL_TYPES(X, ...)     \
  FLOAT_TYPES(X, __VA_ARGS__) \
  INTEGER_TYPES(X, __VA_ARGS__)
#define SCALAR_OF(T, name) template void __bang_##name##_scalar(T*, const T*, ValueOf<T>, std::int64_t);
#define BITS(name, op)                                                                   \
  template <class T>                                                                     \
  void __bang_##name##_scalar(T* dst, const T* a, ValueOf<T> value, std::int64_t n) {    \
    bits_of_value<T>(__func__, dst, a, value, n, [](auto x, auto y) { return x op y; }); \
  }                                                                                      \
  ALL_TYPES(SCALAR_OF, name)
BITS(band, &)
BITS(bor, |)
BITS(bxor, ^)
#undef BITS
#define TRUTH(name, expression)                                                                                  \
  template <class T>                                                                                             \
  void __bang_##name##_scalar(T* dst, const T* a, ValueOf<T> value, std::int64_t n) {                            \
    of_value<T>(__func__, dst, a, value, n, [](Wide<T> x, Wide<T> y) { return Wide<T>((expression) ? 1 : 0); }); \
  }                                                                                                              \
  ALL_TYPES(SCALAR_OF, name)
TRUTH(and, (x != 0) & (y != 0))
TRUTH(or, (x != 0) | (y != 0))
TRUTH(xor, (x != 0) != (y != 0))
#undef TRUTH

// ---- whole numbers
// -----------------------------------------------------------------------------------------------------

void __bang_round(float* dst, const float* src, std::int64_t n) {
  of_each(__func__, dst, src, n, [](float x) { return round_half_away(x); });
}
void __bang_nearbyint(float* dst, const float* src, std::int64_t n) {
  of_each(__func__, dst, src, n, [](float x) { return std::nearbyint(x); });
}

// ---- random numbers
// ----------------------------------------------------------------------------------------------------

/// SplitMix64 of where the lane lies and of what the task asked for before.
void __bang_rand(std::int16_t* dst, std::int64_t n) {
  constexpr std::uint64_t kStep = 0x9e3779b97f4a7c15u, kFirst = 0xbf58476d1ce4e5b9u, kSecond = 0x94d049bb133111ebu;
  constexpr int kTop = 48;
  Word word(__func__);
  word.count(n);
  word.destination(dst, n);
  std::uint64_t& state = Core::current().random_state();
  for (std::int64_t i = 0; i < n; ++i) {
    std::uint64_t x = state += kStep;
    x = (x ^ (x >> 30)) * kFirst;
    x = (x ^ (x >> 27)) * kSecond;
    dst[i] = static_cast<std::int16_t>((x ^ (x >> 31)) >> kTop);
  }
}

}  // namespace mluops::emu::bang
