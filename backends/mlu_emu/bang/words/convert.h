// Words of BANG C that convert lanes. All operands lie in NRAM.
// Counts are elements unless called bytes.
#pragma once

#include <cstdint>

#include "backends/mlu_emu/bang/bfloat16.h"
#include "backends/mlu_emu/bang/half.h"

namespace mluops::emu::bang {

// Conversions; an integer q with fix-point position p means q * 2^p. To integers: NaN gives 0, out of range saturates.
// How the names round: no suffix (to integers) and _tz towards zero, _oz away from it, _dn down, _up up, _rd to nearest
// with ties away from zero, _rn and _rm to nearest with ties to even. From integers: always ties to even.
enum class Rounding { kZero, kDown, kUp, kAwayFromTies, kEven, kAwayFromZero };
#define MLUOPS_EMU_TO_INTEGERS(X)      \
  X(float, float, int8, std::int8_t)   \
  X(float, float, int16, std::int16_t) \
  X(float, float, int32, std::int32_t) \
  X(half, half, int8, std::int8_t)     \
  X(half, half, int16, std::int16_t)   \
  X(half, half, int32, std::int32_t)   \
  X(float, float, int, std::int32_t)   \
  X(half, half, int, std::int32_t)     \
  X(float, float, uint32, std::uint32_t)
#define MLUOPS_EMU_FROM_INTEGERS(X)    \
  X(int8, std::int8_t, float, float)   \
  X(int8, std::int8_t, half, half)     \
  X(int16, std::int16_t, float, float) \
  X(int16, std::int16_t, half, half)   \
  X(int32, std::int32_t, float, float) \
  X(int32, std::int32_t, half, half)   \
  X(int, std::int32_t, float, float)   \
  X(int, std::int32_t, half, half)     \
  X(uint32, std::uint32_t, float, float)
#define MLUOPS_EMU_TO_UCHAR(X) \
  X(, kZero)                   \
  X(_tz, kZero)                \
  X(_oz, kAwayFromZero)        \
  X(_dn, kDown)                \
  X(_up, kUp)                  \
  X(_rd, kAwayFromTies)        \
  X(_rn, kEven)                \
  X(_rm, kEven)
#define MLUOPS_EMU_CONVERSION(from, From, to, To)                                         \
  void __bang_##from##2##to(To* dst, const From* src, std::int64_t n, int position);      \
  void __bang_##from##2##to##_rd(To* dst, const From* src, std::int64_t n, int position); \
  void __bang_##from##2##to##_rn(To* dst, const From* src, std::int64_t n, int position);
#define MLUOPS_EMU_DIRECTED(from, From, to, To)                                           \
  void __bang_##from##2##to##_tz(To* dst, const From* src, std::int64_t n, int position); \
  void __bang_##from##2##to##_dn(To* dst, const From* src, std::int64_t n, int position); \
  void __bang_##from##2##to##_up(To* dst, const From* src, std::int64_t n, int position); \
  void __bang_##from##2##to##_oz(To* dst, const From* src, std::int64_t n, int position); \
  void __bang_##from##2##to##_rm(To* dst, const From* src, std::int64_t n, int position);
MLUOPS_EMU_TO_INTEGERS(MLUOPS_EMU_CONVERSION)
MLUOPS_EMU_TO_INTEGERS(MLUOPS_EMU_DIRECTED)
MLUOPS_EMU_FROM_INTEGERS(MLUOPS_EMU_CONVERSION)
#undef MLUOPS_EMU_CONVERSION
#undef MLUOPS_EMU_DIRECTED
void __bang_int322uchar(std::uint8_t* dst, const std::int32_t* src, std::int64_t n, int position);
void __bang_uchar2int32(std::int32_t* dst, const std::uint8_t* src, std::int64_t n, int position);
void __bang_int322int16(std::int16_t* dst, const std::int32_t* src, std::int64_t n, int dst_position, int src_position);
void __bang_half2float(float* dst, const half* src, std::int64_t n);
void __bang_bfloat162float(float* dst, const bfloat16_t* src, std::int64_t n);
/// Rounds as _rn does: what the name alone means is not documented.
void __bang_float2half(half* dst, const float* src, std::int64_t n);
void __bang_float2half_rm(half* dst, const float* src, std::int64_t n);
void __bang_float2half_oz(half* dst, const float* src, std::int64_t n);
void __bang_float2half_rn(half* dst, const float* src, std::int64_t n);
void __bang_float2half_rd(half* dst, const float* src, std::int64_t n);
void __bang_float2half_dn(half* dst, const float* src, std::int64_t n);
void __bang_float2half_up(half* dst, const float* src, std::int64_t n);
void __bang_float2half_tz(half* dst, const float* src, std::int64_t n);
void __bang_float2bfloat16_rn(bfloat16_t* dst, const float* src, std::int64_t n);
/// Rounds as _rn does.
void __bang_float2bfloat16(bfloat16_t* dst, const float* src, std::int64_t n);
// To "uchar", without a position; older code has int8_t* as the destination.
#define MLUOPS_EMU_UCHAR(suffix, rounding)                                                     \
  void __bang_float2uchar##suffix(std::uint8_t* dst, const float* src, std::int64_t n);        \
  void __bang_half2uchar##suffix(std::uint8_t* dst, const half* src, std::int64_t n);          \
  inline void __bang_float2uchar##suffix(std::int8_t* dst, const float* src, std::int64_t n) { \
    __bang_float2uchar##suffix(reinterpret_cast<std::uint8_t*>(dst), src, n);                  \
  }                                                                                            \
  inline void __bang_half2uchar##suffix(std::int8_t* dst, const half* src, std::int64_t n) {   \
    __bang_half2uchar##suffix(reinterpret_cast<std::uint8_t*>(dst), src, n);                   \
  }
MLUOPS_EMU_TO_UCHAR(MLUOPS_EMU_UCHAR)
#undef MLUOPS_EMU_UCHAR
// Integers of the older names, without a position: "short" is int16.
void __bang_uchar2half(half* dst, const std::uint8_t* src, std::int64_t n);
void __bang_uchar2float(float* dst, const std::uint8_t* src, std::int64_t n);
void __bang_uchar2int16(std::int16_t* dst, const std::uint8_t* src, std::int64_t n, int position);
void __bang_short2half(half* dst, const std::int16_t* src, std::int64_t n);
void __bang_half2short_tz(std::int16_t* dst, const half* src, std::int64_t n);
void __bang_half2short_oz(std::int16_t* dst, const half* src, std::int64_t n);
void __bang_half2short_dn(std::int16_t* dst, const half* src, std::int64_t n);
void __bang_half2short_up(std::int16_t* dst, const half* src, std::int64_t n);
void __bang_half2short_rd(std::int16_t* dst, const half* src, std::int64_t n);

// One number, rounded as the vector words of that suffix.
float __half2float(half x);
float __half2float_rn(half x);
float __bfloat162float(bfloat16_t x);
half __float2half(float x);
bfloat16_t __float2bfloat16(float x);
bfloat16_t __float2bfloat16_rn(float x);
half __float2half_rm(float x);
#define MLUOPS_EMU_TO_ONE(from, From, to, To) \
  To __##from##2##to##_tz(From x);            \
  To __##from##2##to##_oz(From x);            \
  To __##from##2##to##_dn(From x);            \
  To __##from##2##to##_up(From x);            \
  To __##from##2##to##_rd(From x);            \
  To __##from##2##to##_rn(From x);
#define MLUOPS_EMU_TO_ONE_INTEGER(from, From, to, To) \
  To __##from##2##to(From x);                         \
  To __##from##2##to##_rm(From x);                    \
  MLUOPS_EMU_TO_ONE(from, From, to, To)
MLUOPS_EMU_TO_ONE(float, float, half, half)
MLUOPS_EMU_TO_ONE_INTEGER(float, float, int, std::int32_t)
MLUOPS_EMU_TO_ONE_INTEGER(float, float, short, std::int16_t)
MLUOPS_EMU_TO_ONE_INTEGER(float, float, int32, std::int32_t)
MLUOPS_EMU_TO_ONE_INTEGER(half, half, int, std::int32_t)
MLUOPS_EMU_TO_ONE_INTEGER(half, half, short, std::int16_t)
MLUOPS_EMU_TO_ONE_INTEGER(half, half, int32, std::int32_t)
#undef MLUOPS_EMU_TO_ONE_INTEGER
#undef MLUOPS_EMU_TO_ONE

}  // namespace mluops::emu::bang
