// Builtins of BANG C that convert lanes. All operands lie in NRAM.
// Counts are elements unless called bytes. Each family is one list: types it converts between x how the name rounds.
#pragma once

#include <cstdint>

#include "backends/mlu_emu/bang/bfloat16.h"
#include "backends/mlu_emu/bang/half.h"
#include "backends/mlu_emu/bang/words/lane_types.h"

namespace mluops::emu::bang {

/// Two numbers of 4 bits with a sign, the first in the lower half. Public host code stores to the member by this name.
struct int4x2_t {
  std::int8_t value;
};

enum class Rounding { kZero, kDown, kUp, kAwayFromTies, kEven, kAwayFromZero, kUpFromTies };

// How names round. rd, rn and rm are to the nearest number, ties away from zero, to even and up.
#define MLUOPS_EMU_MODES(X, ...)     \
  X(, kZero, __VA_ARGS__)            \
  X(_tz, kZero, __VA_ARGS__)         \
  X(_oz, kAwayFromZero, __VA_ARGS__) \
  X(_dn, kDown, __VA_ARGS__)         \
  X(_up, kUp, __VA_ARGS__)           \
  X(_rd, kAwayFromTies, __VA_ARGS__) \
  X(_rn, kEven, __VA_ARGS__)         \
  X(_rm, kUpFromTies, __VA_ARGS__)

// X(name and type of the source, name and type of the result). "char", "uchar" and "short" have no position.
#define MLUOPS_EMU_PLAIN_CONVERSIONS(X)        \
  X(half, half, float, float)                  \
  X(half, half, bfloat16, bfloat16_t)          \
  X(half, half, tf32, float)                   \
  X(half, half, uchar, std::uint8_t)           \
  X(half, half, char, std::int8_t)             \
  X(half, half, short, std::int16_t)           \
  X(float, float, half, half)                  \
  X(float, float, bfloat16, bfloat16_t)        \
  X(float, float, tf32, float)                 \
  X(float, float, uchar, std::uint8_t)         \
  X(bfloat16, bfloat16_t, float, float)        \
  X(bfloat16, bfloat16_t, half, half)          \
  X(bfloat16, bfloat16_t, tf32, float)         \
  X(bfloat16, bfloat16_t, uchar, std::uint8_t) \
  X(tf32, float, float, float)                 \
  X(tf32, float, half, half)                   \
  X(tf32, float, bfloat16, bfloat16_t)         \
  X(tf32, float, uchar, std::uint8_t)          \
  X(uchar, std::uint8_t, float, float)         \
  X(uchar, std::uint8_t, half, half)           \
  X(uchar, std::uint8_t, bfloat16, bfloat16_t) \
  X(uchar, std::uint8_t, tf32, float)          \
  X(short, std::int16_t, half, half)
// With the position p of the integer: q means q * 2^p.
#define MLUOPS_EMU_TO_INTEGERS_OF(X, from, From) \
  X(from, From, int4, int4x2_t)                  \
  X(from, From, int8, std::int8_t)               \
  X(from, From, int16, std::int16_t)             \
  X(from, From, int32, std::int32_t)
#define MLUOPS_EMU_FROM_INTEGERS_TO(X, to, To) \
  X(int4, int4x2_t, to, To)                    \
  X(int8, std::int8_t, to, To)                 \
  X(int16, std::int16_t, to, To)               \
  X(int32, std::int32_t, to, To)
#define MLUOPS_EMU_SCALED_CONVERSIONS(X)               \
  MLUOPS_EMU_TO_INTEGERS_OF(X, half, half)             \
  MLUOPS_EMU_TO_INTEGERS_OF(X, float, float)           \
  MLUOPS_EMU_TO_INTEGERS_OF(X, bfloat16, bfloat16_t)   \
  MLUOPS_EMU_TO_INTEGERS_OF(X, tf32, float)            \
  MLUOPS_EMU_TO_INTEGERS_OF(X, uchar, std::uint8_t)    \
  MLUOPS_EMU_FROM_INTEGERS_TO(X, half, half)           \
  MLUOPS_EMU_FROM_INTEGERS_TO(X, float, float)         \
  MLUOPS_EMU_FROM_INTEGERS_TO(X, bfloat16, bfloat16_t) \
  MLUOPS_EMU_FROM_INTEGERS_TO(X, tf32, float)          \
  MLUOPS_EMU_FROM_INTEGERS_TO(X, uchar, std::uint8_t)  \
  X(half, half, int, std::int32_t)                     \
  X(float, float, int, std::int32_t)                   \
  X(int, std::int32_t, half, half)                     \
  X(int, std::int32_t, float, float)                   \
  X(fix8, std::int8_t, half, half)                     \
  X(float, float, uint8, std::uint8_t)                 \
  X(float, float, uint16, std::uint16_t)               \
  X(float, float, uint32, std::uint32_t)               \
  X(uint8, std::uint8_t, float, float)                 \
  X(uint16, std::uint16_t, float, float)               \
  X(uint32, std::uint32_t, float, float)
// With the positions of the result and of the source.
#define MLUOPS_EMU_INTEGER_CONVERSIONS(X)     \
  X(int4, int4x2_t, int8, std::int8_t)        \
  X(int4, int4x2_t, int16, std::int16_t)      \
  X(int4, int4x2_t, int32, std::int32_t)      \
  X(int8, std::int8_t, int4, int4x2_t)        \
  X(int8, std::int8_t, int16, std::int16_t)   \
  X(int8, std::int8_t, int32, std::int32_t)   \
  X(int16, std::int16_t, int4, int4x2_t)      \
  X(int16, std::int16_t, int8, std::int8_t)   \
  X(int16, std::int16_t, int32, std::int32_t) \
  X(int32, std::int32_t, int4, int4x2_t)      \
  X(int32, std::int32_t, int8, std::int8_t)   \
  X(int32, std::int32_t, int16, std::int16_t) \
  X(char, std::int8_t, short, std::int16_t)   \
  X(char, std::int8_t, int, std::int32_t)     \
  X(short, std::int16_t, char, std::int8_t)   \
  X(short, std::int16_t, int, std::int32_t)   \
  X(int, std::int32_t, char, std::int8_t)     \
  X(int, std::int32_t, short, std::int16_t)

/// Where 8-bit lanes go to or come from: kernels name them int8_t, char and unsigned char.
struct BytesOut {
  template <class B, class = std::enable_if_t<sizeof(B) == 1>>
  BytesOut(B* bytes) : p(bytes) {}     // NOLINT(google-explicit-constructor)
  BytesOut(void* bytes) : p(bytes) {}  // NOLINT(google-explicit-constructor)
  void* p;
};
struct BytesIn {
  template <class B, class = std::enable_if_t<sizeof(B) == 1>>
  BytesIn(const B* bytes) : p(bytes) {}     // NOLINT(google-explicit-constructor)
  BytesIn(const void* bytes) : p(bytes) {}  // NOLINT(google-explicit-constructor)
  const void* p;
};
template <class T>
using LanesOut = std::conditional_t<sizeof(T) == 1, BytesOut, T*>;
template <class T>
using LanesIn = std::conditional_t<sizeof(T) == 1, BytesIn, const T*>;

// The last three arguments: segments + 1 rows of n lanes, `dst_stride` and `src_stride` bytes apart.
#define MLUOPS_EMU_DECLARE_PLAIN(suffix, rounding, from, From, to, To)                                            \
  void __bang_##from##2##to##suffix(LanesOut<To> dst, LanesIn<From> src, std::int64_t n);                         \
  void __bang_##from##2##to##suffix(LanesOut<To> dst, LanesIn<From> src, std::int64_t n, std::int64_t dst_stride, \
                                    std::int64_t src_stride, std::int64_t segments);
#define MLUOPS_EMU_DECLARE_SCALED(suffix, rounding, from, From, to, To)                                 \
  void __bang_##from##2##to##suffix(LanesOut<To> dst, LanesIn<From> src, std::int64_t n, int position); \
  void __bang_##from##2##to##suffix(LanesOut<To> dst, LanesIn<From> src, std::int64_t n, int position,  \
                                    std::int64_t dst_stride, std::int64_t src_stride, std::int64_t segments);
#define MLUOPS_EMU_DECLARE_INTEGER(suffix, rounding, from, From, to, To)                                   \
  void __bang_##from##2##to##suffix(LanesOut<To> dst, LanesIn<From> src, std::int64_t n, int dst_position, \
                                    int src_position);
#define MLUOPS_EMU_PLAIN_MODES(...) MLUOPS_EMU_MODES(MLUOPS_EMU_DECLARE_PLAIN, __VA_ARGS__)
#define MLUOPS_EMU_SCALED_MODES(...) MLUOPS_EMU_MODES(MLUOPS_EMU_DECLARE_SCALED, __VA_ARGS__)
#define MLUOPS_EMU_INTEGER_MODES(...) MLUOPS_EMU_MODES(MLUOPS_EMU_DECLARE_INTEGER, __VA_ARGS__)
/// Between types of floats, and to and from integers of the older names. Out of range: the nearest integer there is,
/// infinity for a float.
MLUOPS_EMU_PLAIN_CONVERSIONS(MLUOPS_EMU_PLAIN_MODES)
/// Between floats and fix-point integers: an integer q with position p means q * 2^p. NaN gives the largest integer, 0
/// on 592. "tf32" lanes are floats.
MLUOPS_EMU_SCALED_CONVERSIONS(MLUOPS_EMU_SCALED_MODES)
/// Between fix-point integers, with the position of either.
MLUOPS_EMU_INTEGER_CONVERSIONS(MLUOPS_EMU_INTEGER_MODES)

/// Rounded at random: up as often as the number lies near it. A lane of `random` decides, 32 bits of it.
void __bang_float2half_sr(half* dst, const float* src, const std::int32_t* random, std::int64_t n);
void __bang_float2tf32_sr(float* dst, const float* src, const std::int32_t* random, std::int64_t n);
/// With a place in NRAM for the device's intermediate results, which is left as it is here.
void __bang_half2uchar_dn(BytesOut dst, const half* src, const half* scratch, std::int64_t n);

// One number. "tf32" is a float.
#define MLUOPS_EMU_SCALAR_TO_INTEGERS(X, from, From) \
  X(from, From, char, std::int8_t)                   \
  X(from, From, uchar, std::uint8_t)                 \
  X(from, From, short, std::int16_t)                 \
  X(from, From, ushort, std::uint16_t)               \
  X(from, From, int, std::int32_t)                   \
  X(from, From, uint, std::uint32_t)                 \
  X(from, From, int32, std::int32_t)
#define MLUOPS_EMU_SCALAR_FROM_INTEGERS(X, to, To) \
  X(char, std::int8_t, to, To)                     \
  X(uchar, std::uint8_t, to, To)                   \
  X(short, std::int16_t, to, To)                   \
  X(ushort, std::uint16_t, to, To)                 \
  X(int, std::int32_t, to, To)                     \
  X(uint, std::uint32_t, to, To)
#define MLUOPS_EMU_SCALAR_CONVERSIONS(X)                   \
  MLUOPS_EMU_SCALAR_TO_INTEGERS(X, half, half)             \
  MLUOPS_EMU_SCALAR_TO_INTEGERS(X, float, float)           \
  MLUOPS_EMU_SCALAR_TO_INTEGERS(X, bfloat16, bfloat16_t)   \
  MLUOPS_EMU_SCALAR_TO_INTEGERS(X, tf32, float)            \
  MLUOPS_EMU_SCALAR_FROM_INTEGERS(X, half, half)           \
  MLUOPS_EMU_SCALAR_FROM_INTEGERS(X, float, float)         \
  MLUOPS_EMU_SCALAR_FROM_INTEGERS(X, bfloat16, bfloat16_t) \
  MLUOPS_EMU_SCALAR_FROM_INTEGERS(X, tf32, float)          \
  X(half, half, float, float)                              \
  X(half, half, bfloat16, bfloat16_t)                      \
  X(half, half, tf32, float)                               \
  X(float, float, half, half)                              \
  X(float, float, bfloat16, bfloat16_t)                    \
  X(float, float, tf32, float)                             \
  X(bfloat16, bfloat16_t, half, half)                      \
  X(bfloat16, bfloat16_t, float, float)                    \
  X(bfloat16, bfloat16_t, tf32, float)                     \
  X(tf32, float, half, half)                               \
  X(tf32, float, float, float)                             \
  X(tf32, float, bfloat16, bfloat16_t)
#define MLUOPS_EMU_DECLARE_SCALAR(suffix, rounding, from, From, to, To) To __##from##2##to##suffix(From x);
#define MLUOPS_EMU_SCALAR_MODES(...) MLUOPS_EMU_MODES(MLUOPS_EMU_DECLARE_SCALAR, __VA_ARGS__)
/// One number, rounded as the builtins for lanes do.
MLUOPS_EMU_SCALAR_CONVERSIONS(MLUOPS_EMU_SCALAR_MODES)

}  // namespace mluops::emu::bang
