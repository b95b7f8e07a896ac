// Conversions between lane types.
#include <cmath>
#include <limits>

#include "backends/mlu_emu/bang/bang.h"
#include "backends/mlu_emu/bang/operands.h"

namespace mluops::emu::bang {
namespace {

template <class To, class From, class F>
void convert(const char* name, To* dst, const From* src, std::int64_t n, F f) {
  const Word word(name);
  word.count(n);
  word.source(src, n);
  word.destination(dst, n);
  for (std::int64_t i = 0; i < n; ++i) dst[i] = f(src[i]);
}

void need_zero(const char* name, int position) {
  Word(name).require(position == 0, "only fix-point position 0 is modelled");
}

template <class I>
I saturate(double value) {
  constexpr double kLow = std::numeric_limits<I>::min(), kHigh = std::numeric_limits<I>::max();
  if (!(value > kLow)) return value != value ? I{0} : std::numeric_limits<I>::min();
  return value >= kHigh ? std::numeric_limits<I>::max() : static_cast<I>(value);
}

/// As saturate(floor(x)), without a branch or a call, so that loops over it become vector code.
template <class I>
I floor_to(float x) {
  constexpr float kLow = std::numeric_limits<I>::min();
  constexpr float kAbove = -kLow;  // the first value that does not fit
  const float number = x == x ? x : 0.0f;
  const float inside = std::max(kLow, std::min(number, sizeof(I) == 4 ? 0x1.fffffep30f : kAbove - 1.0f));
  const auto whole = static_cast<std::int32_t>(inside);
  const std::int32_t down = whole - (static_cast<float>(whole) > inside ? 1 : 0);
  return number >= kAbove ? std::numeric_limits<I>::max() : static_cast<I>(down);
}

template <class I>
void round_down(const char* name, I* dst, const float* src, std::int64_t n, int position) {
  need_zero(name, position);
  convert(name, dst, src, n, floor_to<I>);
}

template <class I>
void round_down(const char* name, I* dst, const half* src, std::int64_t n, int position) {
  need_zero(name, position);
  const Word word(name);
  word.count(n);
  word.source(src, n);
  word.destination(dst, n);
  // From the end: dst may start where src does.
  for (std::int64_t end = n; end > 0; end -= std::min(end, kBlock)) {
    const std::int64_t count = std::min(end, kBlock), begin = end - count;
    float wide[kBlock];
    widen(src + begin, wide, count);
    for (std::int64_t i = 0; i < count; ++i) dst[begin + i] = floor_to<I>(wide[i]);
  }
}

template <class I, class From>
void cut_off(const char* name, I* dst, const From* src, std::int64_t n, int position) {
  need_zero(name, position);
  convert(name, dst, src, n, [](From x) { return saturate<I>(std::trunc(static_cast<double>(x))); });
}

template <class To, class I>
void from_integer(const char* name, To* dst, const I* src, std::int64_t n, int position) {
  need_zero(name, position);
  convert(name, dst, src, n, [](I x) { return static_cast<To>(x); });
}

}  // namespace

void __bang_int322float(float* dst, const std::int32_t* src, std::int64_t n, int position) {
  from_integer(__func__, dst, src, n, position);
}
void __bang_int162float(float* dst, const std::int16_t* src, std::int64_t n, int position) {
  from_integer(__func__, dst, src, n, position);
}
void __bang_int162half(half* dst, const std::int16_t* src, std::int64_t n, int position) {
  from_integer(__func__, dst, src, n, position);
}
void __bang_int322half(half* dst, const std::int32_t* src, std::int64_t n, int position) {
  from_integer(__func__, dst, src, n, position);
}
void __bang_float2int32(std::int32_t* dst, const float* src, std::int64_t n, int position) {
  cut_off(__func__, dst, src, n, position);
}
void __bang_float2int32_rd(std::int32_t* dst, const float* src, std::int64_t n, int position) {
  round_down(__func__, dst, src, n, position);
}
void __bang_half2int32(std::int32_t* dst, const half* src, std::int64_t n, int position) {
  cut_off(__func__, dst, src, n, position);
}
void __bang_half2int32_rd(std::int32_t* dst, const half* src, std::int64_t n, int position) {
  round_down(__func__, dst, src, n, position);
}
void __bang_float2int16_rd(std::int16_t* dst, const float* src, std::int64_t n, int position) {
  round_down(__func__, dst, src, n, position);
}
void __bang_half2int16_rd(std::int16_t* dst, const half* src, std::int64_t n, int position) {
  round_down(__func__, dst, src, n, position);
}
void __bang_int322int16(std::int16_t* dst, const std::int32_t* src, std::int64_t n, int dst_position,
                        int src_position) {
  need_zero(__func__, dst_position);
  need_zero(__func__, src_position);
  convert(__func__, dst, src, n, [](std::int32_t x) { return saturate<std::int16_t>(x); });
}
void __bang_half2float(float* dst, const half* src, std::int64_t n) {
  const Word word(__func__);
  word.count(n);
  word.source(src, n);
  word.destination(dst, n);
  // From the end: dst may start where src does.
  for (std::int64_t end = n; end > 0; end -= std::min(end, kBlock)) {
    const std::int64_t count = std::min(end, kBlock);
    float wide[kBlock];
    widen(src + end - count, wide, count);
    std::copy_n(wide, count, dst + end - count);
  }
}
void __bang_float2half_rn(half* dst, const float* src, std::int64_t n) {
  const Word word(__func__);
  word.count(n);
  word.source(src, n);
  word.destination(dst, n);
  for_blocks(n, [&](std::int64_t at, std::int64_t count) {
    half rounded[kBlock];
    narrow(src + at, rounded, count);
    std::copy_n(rounded, count, dst + at);
  });
}

}  // namespace mluops::emu::bang
