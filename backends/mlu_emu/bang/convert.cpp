// Conversions between lane types.
#include <limits>
#include <vector>

#include "backends/mlu_emu/bang/operands.h"
#include "backends/mlu_emu/bang/words.h"

namespace mluops::emu::bang {
namespace {

/// The source as it was before the word: a copy aside when the destination overwrites lanes still to be read.
template <class To, class From>
const From* as_before(const To* dst, const From* src, std::int64_t n) {
  const auto to = reinterpret_cast<std::uintptr_t>(dst), from = reinterpret_cast<std::uintptr_t>(src);
  const auto to_end = to + bytes_of_lanes<To>(n), from_end = from + bytes_of_lanes<From>(n);
  const bool apart = n <= 0 || to_end <= from || from_end <= to;
  if (apart || (to <= from && sizeof(To) <= sizeof(From))) return src;
  thread_local std::vector<From> aside;
  aside.assign(src, src + n);
  return aside.data();
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

void need_zero(const char* name, int position) {
  Word(name).require(position == 0, "only fix-point position 0 is modelled");
}

// ---- to integers -------------------------------------------------------------------------------------------------

/// The whole number `x` is rounded to; |x| is far below 2^53. No branches, so that loops over it become vector code.
template <Rounding kRounding>
std::int64_t whole(double x) {
  constexpr double kHalf = 0.5;
  const auto cut = static_cast<std::int64_t>(x);
  const double rest = x - static_cast<double>(cut);
  if constexpr (kRounding == Rounding::kDown) return cut - (rest < 0 ? 1 : 0);
  if constexpr (kRounding == Rounding::kUp) return cut + (rest > 0 ? 1 : 0);
  if constexpr (kRounding == Rounding::kAwayFromTies) return cut + (rest >= kHalf ? 1 : 0) - (rest <= -kHalf ? 1 : 0);
  if constexpr (kRounding == Rounding::kEven) {
    const bool odd = (cut & 1) != 0;
    return cut + ((rest > kHalf) | ((rest == kHalf) & odd) ? 1 : 0) -
           ((rest < -kHalf) | ((rest == -kHalf) & odd) ? 1 : 0);
  }
  return cut;
}

/// Saturates; NaN gives 0.
template <Rounding kRounding, class I>
I to_integer(float value) {
  constexpr double kLow = std::numeric_limits<I>::min(), kHigh = std::numeric_limits<I>::max();
  const double number = value == value ? static_cast<double>(value) : 0.0;
  const std::int64_t rounded = whole<kRounding>(std::max(kLow - 1, std::min(number, kHigh + 1)));
  return static_cast<I>(std::max<std::int64_t>(std::numeric_limits<I>::min(),
                                               std::min<std::int64_t>(rounded, std::numeric_limits<I>::max())));
}

template <Rounding kRounding, class I, class From>
void round_lanes(const char* name, I* dst, const From* src, std::int64_t n, int position) {
  need_zero(name, position);
  if constexpr (kNarrow<From>) {
    Word word(name);
    word.count(n);
    word.source(src, n);
    word.destination(dst, n);
    const From* from = as_before(dst, src, n);
    for_blocks(n, [&](std::int64_t at, std::int64_t count) {
      float wide[kBlock];
      widen(from + at, wide, count);
      for (std::int64_t i = 0; i < count; ++i) dst[at + i] = to_integer<kRounding, I>(wide[i]);
    });
  } else {
    convert(name, dst, src, n, to_integer<kRounding, I>);
  }
}

// ---- to 16-bit floats ----------------------------------------------------------------------------------------------

/// The half next to `value` in that direction.
template <Rounding kRounding>
half to_half(float value) {
  const std::uint16_t near = float_to_half(value);
  if (value != value) return half::from_bits(near);
  const float got = half_to_float(near);
  const float size = value < 0 ? -value : value, got_size = got < 0 ? -got : got;
  constexpr bool kTies = kRounding == Rounding::kAwayFromTies;
  if (kTies && got_size < size) {
    const auto next = static_cast<std::uint16_t>(near + 1);
    const float above = half_to_float(next & 0x7fffu);
    return half::from_bits(above - size == size - got_size ? next : near);
  }
  const bool outwards = got_size > size, upwards = got > value, downwards = got < value;
  const int step = kRounding == Rounding::kZero              ? -(outwards ? 1 : 0)
                   : kRounding == Rounding::kDown && upwards ? (outwards ? -1 : 1)
                   : kRounding == Rounding::kUp && downwards ? (outwards ? -1 : 1)
                                                             : 0;
  return half::from_bits(static_cast<std::uint16_t>(near + step));
}

/// An integer as a float, ties to even whichever direction was asked for: below 2^24 there is nothing to round.
template <class To, class I>
void from_integer(const char* name, To* dst, const I* src, std::int64_t n, int position) {
  need_zero(name, position);
  convert(name, dst, src, n, [](I x) { return static_cast<To>(x); });
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
  void __bang_##from##2##to##_rd(To* dst, const From* src, std::int64_t n, int position) { \
    round_lanes<Rounding::kAwayFromTies>(__func__, dst, src, n, position);                 \
  }                                                                                        \
  void __bang_##from##2##to##_rn(To* dst, const From* src, std::int64_t n, int position) { \
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
  need_zero(__func__, dst_position);
  need_zero(__func__, src_position);
  convert(__func__, dst, src, n, [](std::int32_t x) {
    constexpr std::int32_t kLow = std::numeric_limits<std::int16_t>::min();
    constexpr std::int32_t kHigh = std::numeric_limits<std::int16_t>::max();
    return static_cast<std::int16_t>(std::max(kLow, std::min(x, kHigh)));
  });
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

// ---- one number
// ------------------------------------------------------------------------------------------------------

half __float2half_rn(float x) {
  return x;
}
#define SCALAR(from, From)                                       \
  std::int32_t __##from##2int32(From x) {                        \
    return to_integer<Rounding::kZero, std::int32_t>(x);         \
  }                                                              \
  std::int32_t __##from##2int32_tz(From x) {                     \
    return to_integer<Rounding::kZero, std::int32_t>(x);         \
  }                                                              \
  std::int32_t __##from##2int32_dn(From x) {                     \
    return to_integer<Rounding::kDown, std::int32_t>(x);         \
  }                                                              \
  std::int32_t __##from##2int32_up(From x) {                     \
    return to_integer<Rounding::kUp, std::int32_t>(x);           \
  }                                                              \
  std::int32_t __##from##2int32_rd(From x) {                     \
    return to_integer<Rounding::kAwayFromTies, std::int32_t>(x); \
  }                                                              \
  std::int32_t __##from##2int32_rn(From x) {                     \
    return to_integer<Rounding::kEven, std::int32_t>(x);         \
  }
SCALAR(float, float)
SCALAR(half, half)

}  // namespace mluops::emu::bang
