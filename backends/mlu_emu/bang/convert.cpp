// Conversions between lane types.
#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

#include "backends/mlu_emu/bang/operands.h"
#include "backends/mlu_emu/bang/rounding.h"
#include "backends/mlu_emu/bang/words.h"

namespace mluops::emu::bang {
namespace {

/// A copy of these bytes, until the thread's next. Of no type: libcnrt is loaded by programs that have little room left
/// for the variables of its threads.
const void* copied_aside(const void* from, std::int64_t bytes) {
  thread_local std::vector<std::byte> aside;
  const auto* const first = static_cast<const std::byte*>(from);
  aside.assign(first, first + bytes);
  return aside.data();
}

/// The source as it was before the word: a copy aside when the destination overwrites lanes still to be read.
template <class To, class From>
const From* as_before(const To* dst, const From* src, std::int64_t n) {
  const auto to = reinterpret_cast<std::uintptr_t>(dst), from = reinterpret_cast<std::uintptr_t>(src);
  const auto to_end = to + bytes_of_lanes<To>(n), from_end = from + bytes_of_lanes<From>(n);
  const bool apart = n <= 0 || to_end <= from || from_end <= to;
  if (apart || (to <= from && sizeof(To) <= sizeof(From))) return src;
  return static_cast<const From*>(copied_aside(src, n * static_cast<std::int64_t>(sizeof(From))));
}

template <class To, class From, class F>
void convert(const char* name, To* dst, const From* src, std::int64_t n, F f) {
  Word word(name);
  word.count(n);
  word.source(src, n);
  word.destination(dst, n);
  const From* from = as_before(dst, src, n);
  for (std::int64_t i = 0; i < n; ++i) dst[i] = f(from[i]);
}

/// 2^position; positions beyond what a float can hold are a fault.
float unit_of(const char* name, int position) {
  constexpr int kMost = 126;
  Word(name).require(position >= -kMost && position <= kMost, "the fix-point position must lie in [-126, 126]");
  return std::ldexp(1.0f, position);
}

// ---- to integers -------------------------------------------------------------------------------------------------

template <Rounding kRounding, class I, class From>
void round_lanes(const char* name, I* dst, const From* src, std::int64_t n, int position) {
  const float scale = unit_of(name, -position);
  if constexpr (kNarrow<From>) {
    Word word(name);
    word.count(n);
    word.source(src, n);
    word.destination(dst, n);
    const From* from = as_before(dst, src, n);
    for_blocks(n, [&](std::int64_t at, std::int64_t count) {
      float wide[kBlock];
      widen(from + at, wide, count);
      for (std::int64_t i = 0; i < count; ++i) dst[at + i] = to_integer<kRounding, I>(wide[i] * scale);
    });
  } else {
    convert(name, dst, src, n, [=](float x) { return to_integer<kRounding, I>(x * scale); });
  }
}

// ---- to 16-bit floats ----------------------------------------------------------------------------------------------

/// An integer as a float, ties to even whichever direction was asked for: below 2^24 there is nothing to round.
template <class To, class I>
void from_integer(const char* name, To* dst, const I* src, std::int64_t n, int position) {
  const double unit = unit_of(name, position);
  convert(name, dst, src, n, [=](I x) { return static_cast<To>(static_cast<double>(x) * unit); });
}

/// Saturates, ties away from zero.
template <class To, class From>
void between_integers(const char* name, To* dst, const From* src, std::int64_t n, double unit) {
  convert(name, dst, src, n,
          [=](From x) { return to_integer<Rounding::kAwayFromTies, To>(static_cast<double>(x) * unit); });
}

}  // namespace

#define TO_INTEGER(from, From, to, To)                                                     \
  void __bang_##from##2##to(To* dst, const From* src, std::int64_t n, int position) {      \
    round_lanes<Rounding::kZero>(__func__, dst, src, n, position);                         \
  }                                                                                        \
  void __bang_##from##2##to##_tz(To* dst, const From* src, std::int64_t n, int position) { \
    round_lanes<Rounding::kZero>(__func__, dst, src, n, position);                         \
  }                                                                                        \
  void __bang_##from##2##to##_dn(To* dst, const From* src, std::int64_t n, int position) { \
    round_lanes<Rounding::kDown>(__func__, dst, src, n, position);                         \
  }                                                                                        \
  void __bang_##from##2##to##_up(To* dst, const From* src, std::int64_t n, int position) { \
    round_lanes<Rounding::kUp>(__func__, dst, src, n, position);                           \
  }                                                                                        \
  void __bang_##from##2##to##_oz(To* dst, const From* src, std::int64_t n, int position) { \
    round_lanes<Rounding::kAwayFromZero>(__func__, dst, src, n, position);                 \
  }                                                                                        \
  void __bang_##from##2##to##_rd(To* dst, const From* src, std::int64_t n, int position) { \
    round_lanes<Rounding::kAwayFromTies>(__func__, dst, src, n, position);                 \
  }                                                                                        \
  void __bang_##from##2##to##_rn(To* dst, const From* src, std::int64_t n, int position) { \
    round_lanes<Rounding::kEven>(__func__, dst, src, n, position);                         \
  }                                                                                        \
  void __bang_##from##2##to##_rm(To* dst, const From* src, std::int64_t n, int position) { \
    round_lanes<Rounding::kEven>(__func__, dst, src, n, position);                         \
  }
MLUOPS_EMU_TO_INTEGERS(TO_INTEGER)
#undef TO_INTEGER

#define FROM_INTEGER(from, From, to, To)                                                   \
  void __bang_##from##2##to(To* dst, const From* src, std::int64_t n, int position) {      \
    from_integer(__func__, dst, src, n, position);                                         \
  }                                                                                        \
  void __bang_##from##2##to##_rn(To* dst, const From* src, std::int64_t n, int position) { \
    from_integer(__func__, dst, src, n, position);                                         \
  }                                                                                        \
  void __bang_##from##2##to##_rd(To* dst, const From* src, std::int64_t n, int position) { \
    from_integer(__func__, dst, src, n, position);                                         \
  }
MLUOPS_EMU_FROM_INTEGERS(FROM_INTEGER)
#undef FROM_INTEGER

void __bang_int322int16(std::int16_t* dst, const std::int32_t* src, std::int64_t n, int dst_position,
                        int src_position) {
  between_integers(__func__, dst, src, n, std::ldexp(unit_of(__func__, src_position), -dst_position));
}

namespace {

template <class To, class From, class F>
void whole_rows(const char* name, To* dst, const From* src, std::int64_t n, F rows) {
  Word word(name);
  word.count(n);
  word.converted_source(src, n);
  word.destination(dst, n);
  rows(as_before(dst, src, n), dst, n);
}

}  // namespace

void __bang_half2float(float* dst, const half* src, std::int64_t n) {
  whole_rows(__func__, dst, src, n, [](const half* from, float* to, std::int64_t k) { widen(from, to, k); });
}
void __bang_bfloat162float(float* dst, const bfloat16_t* src, std::int64_t n) {
  whole_rows(__func__, dst, src, n, [](const bfloat16_t* from, float* to, std::int64_t k) { widen(from, to, k); });
}
void __bang_float2half_rn(half* dst, const float* src, std::int64_t n) {
  whole_rows(__func__, dst, src, n, [](const float* from, half* to, std::int64_t k) { narrow(from, to, k); });
}
void __bang_float2bfloat16_rn(bfloat16_t* dst, const float* src, std::int64_t n) {
  whole_rows(__func__, dst, src, n, [](const float* from, bfloat16_t* to, std::int64_t k) { narrow(from, to, k); });
}
void __bang_float2half_rd(half* dst, const float* src, std::int64_t n) {
  convert(__func__, dst, src, n, to_half<Rounding::kAwayFromTies>);
}
void __bang_float2half_dn(half* dst, const float* src, std::int64_t n) {
  convert(__func__, dst, src, n, to_half<Rounding::kDown>);
}
void __bang_float2half_up(half* dst, const float* src, std::int64_t n) {
  convert(__func__, dst, src, n, to_half<Rounding::kUp>);
}
void __bang_float2half_tz(half* dst, const float* src, std::int64_t n) {
  convert(__func__, dst, src, n, to_half<Rounding::kZero>);
}
void __bang_float2half_oz(half* dst, const float* src, std::int64_t n) {
  convert(__func__, dst, src, n, to_half<Rounding::kAwayFromZero>);
}
void __bang_float2half(half* dst, const float* src, std::int64_t n) {
  __bang_float2half_rn(dst, src, n);
}
void __bang_float2half_rm(half* dst, const float* src, std::int64_t n) {
  __bang_float2half_rn(dst, src, n);
}
void __bang_float2bfloat16(bfloat16_t* dst, const float* src, std::int64_t n) {
  __bang_float2bfloat16_rn(dst, src, n);
}
void __bang_uchar2half(half* dst, const std::uint8_t* src, std::int64_t n) {
  from_integer(__func__, dst, src, n, 0);
}
void __bang_uchar2float(float* dst, const std::uint8_t* src, std::int64_t n) {
  from_integer(__func__, dst, src, n, 0);
}
void __bang_short2half(half* dst, const std::int16_t* src, std::int64_t n) {
  from_integer(__func__, dst, src, n, 0);
}
void __bang_uchar2int16(std::int16_t* dst, const std::uint8_t* src, std::int64_t n, int position) {
  between_integers(__func__, dst, src, n, unit_of(__func__, -position));
}
void __bang_uchar2int32(std::int32_t* dst, const std::uint8_t* src, std::int64_t n, int position) {
  between_integers(__func__, dst, src, n, unit_of(__func__, -position));
}
void __bang_int322uchar(std::uint8_t* dst, const std::int32_t* src, std::int64_t n, int position) {
  between_integers(__func__, dst, src, n, unit_of(__func__, position));
}
#define TO_UCHAR(suffix, rounding)                                                       \
  void __bang_float2uchar##suffix(std::uint8_t* dst, const float* src, std::int64_t n) { \
    round_lanes<Rounding::rounding>(__func__, dst, src, n, 0);                           \
  }                                                                                      \
  void __bang_half2uchar##suffix(std::uint8_t* dst, const half* src, std::int64_t n) {   \
    round_lanes<Rounding::rounding>(__func__, dst, src, n, 0);                           \
  }
MLUOPS_EMU_TO_UCHAR(TO_UCHAR)
#undef TO_UCHAR
#define HALF_TO_SHORT(suffix, rounding)                                                 \
  void __bang_half2short_##suffix(std::int16_t* dst, const half* src, std::int64_t n) { \
    round_lanes<Rounding::rounding>(__func__, dst, src, n, 0);                          \
  }
HALF_TO_SHORT(tz, kZero)
HALF_TO_SHORT(oz, kAwayFromZero)
HALF_TO_SHORT(dn, kDown)
HALF_TO_SHORT(up, kUp)
HALF_TO_SHORT(rd, kAwayFromTies)
#undef HALF_TO_SHORT

// ---- one number ----------------------------------------------------------------------------------------------------

float __half2float(half x) {
  return x;
}
float __half2float_rn(half x) {
  return x;
}
float __bfloat162float(bfloat16_t x) {
  return x;
}
half __float2half(float x) {
  return x;
}
half __float2half_rm(float x) {
  return x;
}
bfloat16_t __float2bfloat16(float x) {
  return bfloat16_t(x);
}
bfloat16_t __float2bfloat16_rn(float x) {
  return bfloat16_t(x);
}

namespace {

template <Rounding kRounding, class To>
To one(float x) {
  if constexpr (!std::is_same_v<To, half>) {
    return to_integer<kRounding, To>(x);
  } else if constexpr (kRounding == Rounding::kEven) {
    return half(x);
  } else {
    return to_half<kRounding>(x);
  }
}

}  // namespace

#define TO_ONE(from, From, to, To)              \
  To __##from##2##to##_tz(From x) {             \
    return one<Rounding::kZero, To>(x);         \
  }                                             \
  To __##from##2##to##_oz(From x) {             \
    return one<Rounding::kAwayFromZero, To>(x); \
  }                                             \
  To __##from##2##to##_dn(From x) {             \
    return one<Rounding::kDown, To>(x);         \
  }                                             \
  To __##from##2##to##_up(From x) {             \
    return one<Rounding::kUp, To>(x);           \
  }                                             \
  To __##from##2##to##_rd(From x) {             \
    return one<Rounding::kAwayFromTies, To>(x); \
  }                                             \
  To __##from##2##to##_rn(From x) {             \
    return one<Rounding::kEven, To>(x);         \
  }
#define TO_ONE_INTEGER(from, From, to, To) \
  To __##from##2##to(From x) {             \
    return one<Rounding::kZero, To>(x);    \
  }                                        \
  To __##from##2##to##_rm(From x) {        \
    return one<Rounding::kEven, To>(x);    \
  }                                        \
  TO_ONE(from, From, to, To)
TO_ONE(float, float, half, half)
TO_ONE_INTEGER(float, float, int, std::int32_t)
TO_ONE_INTEGER(float, float, short, std::int16_t)
TO_ONE_INTEGER(float, float, int32, std::int32_t)
TO_ONE_INTEGER(half, half, int, std::int32_t)
TO_ONE_INTEGER(half, half, short, std::int16_t)
TO_ONE_INTEGER(half, half, int32, std::int32_t)

}  // namespace mluops::emu::bang
