// Words that count, find and pack lanes, and their scalar results.
#include <bit>
#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "backends/mlu_emu/bang/operands.h"
#include "backends/mlu_emu/bang/words.h"

namespace mluops::emu::bang {
namespace {

template <class T>
bool is_set(T lane) {
  return !(lane == T(0));
}

/// Accounts for a word that reads n lanes and gives the scalar core a number.
template <class T>
void decide(const char* name, const T* src, std::int64_t n) {
  Word word(name);
  word.count(n);
  word.decider(src, n);
  Core::current().computed(name, bytes_of_lanes<T>(n), n, n);
}

/// dst: the extreme lane, then its index as 32 bits.
template <class T, class Better>
void extreme(const char* name, T* dst, const T* src, std::int64_t n, Better better) {
  Word word(name);
  word.count(n);
  word.require(n > 0, "the count must be positive");
  word.decider(src, n);
  word.destination(reinterpret_cast<char*>(dst), static_cast<std::int64_t>(sizeof(T) + sizeof(std::uint32_t)));
  std::int64_t best = 0;
  for (std::int64_t i = 1; i < n; ++i) {
    if (better(src[i], src[best])) best = i;
  }
  const T value = src[best];
  const auto index = static_cast<std::uint32_t>(best);
  dst[0] = value;
  std::memcpy(dst + 1, &index, sizeof(index));
}

/// Into NRAM what the word without a destination gives the scalar core.
void give(const char* name, std::uint32_t* dst, std::uint32_t value) {
  Word word(name);
  word.destination(dst, 1);
  *dst = value;
}

/// The lanes that are wanted, one behind the other; the word knows which of them are undefined.
template <class T, class Wanted>
std::vector<T> wanted_lanes(Word& word, const T* src, std::int64_t n, Wanted wanted) {
  const LaneFlags undefined = word.lanes_of(src, n);
  LaneFlags kept_undefined;
  std::vector<T> packed;
  for (std::int64_t i = 0; i < n; ++i) {
    if (!wanted(i)) continue;
    packed.push_back(src[i]);
    if (!undefined.empty()) kept_undefined.push_back(undefined[static_cast<std::size_t>(i)]);
  }
  word.undefined(std::move(kept_undefined));
  return packed;
}

/// The lanes that are wanted to the front of dst; how many they are.
template <class T, class Wanted>
std::uint32_t pack(Word& word, T* dst, const T* src, std::int64_t n, Wanted wanted) {
  const std::vector<T> packed = wanted_lanes(word, src, n, wanted);
  word.destination(dst, static_cast<std::int64_t>(packed.size()));
  std::copy(packed.begin(), packed.end(), dst);
  return static_cast<std::uint32_t>(packed.size());
}

/// How many lanes are wanted, in 128 bytes; the lanes behind them.
template <class T, class Wanted>
void select(Word& word, T* dst, const T* src, std::int64_t n, Wanted wanted) {
  constexpr std::int64_t kHead = 128 / sizeof(T);
  const std::vector<T> packed = wanted_lanes(word, src, n, wanted);
  const auto count = static_cast<std::uint32_t>(packed.size());
  word.destination(dst, kHead + count);
  word.target(dst + kHead);
  std::memset(dst, 0, 128);
  std::memcpy(dst, &count, sizeof(count));
  std::copy(packed.begin(), packed.end(), dst + kHead);
}

}  // namespace

template <class T>
std::uint32_t __bang_count(const T* src, std::int64_t n) {
  decide(__func__, src, n);
  return static_cast<std::uint32_t>(std::count_if(src, src + std::max<std::int64_t>(n, 0), is_set<T>));
}

template <class T>
std::uint32_t __bang_findfirst1(const T* src, std::int64_t n) {
  decide(__func__, src, n);
  for (std::int64_t i = 0; i < n; ++i) {
    if (is_set(src[i])) return static_cast<std::uint32_t>(i);
  }
  return ~std::uint32_t{0};
}

template <class T>
std::uint32_t __bang_findlast1(const T* src, std::int64_t n) {
  decide(__func__, src, n);
  for (std::int64_t i = n; i > 0; --i) {
    if (is_set(src[i - 1])) return static_cast<std::uint32_t>(i - 1);
  }
  return ~std::uint32_t{0};
}

template <class T>
void __bang_argmax(T* dst, const T* src, std::int64_t n) {
  extreme(__func__, dst, src, n, [](T a, T b) { return b < a; });
}
template <class T>
void __bang_argmin(T* dst, const T* src, std::int64_t n) {
  extreme(__func__, dst, src, n, [](T a, T b) { return a < b; });
}

namespace {

template <class T>
bool is_nan(T x) {
  return !(x == x);
}

/// dst: the extreme magnitude, its index, zeros.
template <class T, class Better>
void extreme_magnitude(const char* name, T* dst, const T* src, std::int64_t n, Better better) {
  constexpr std::size_t kWord = sizeof(std::uint32_t);
  Word word(name);
  word.count(n);
  word.require(n > 0, "the count must be positive");
  word.decider(src, n);
  word.destination(reinterpret_cast<char*>(dst), static_cast<std::int64_t>(sizeof(T) + 2 * kWord));
  const auto size = [&](std::int64_t i) { return std::fabs(static_cast<float>(src[i])); };
  std::int64_t best = 0;
  for (std::int64_t i = 1; i < n; ++i) {
    if (better(size(i), size(best))) best = i;
  }
  const std::uint32_t behind[] = {static_cast<std::uint32_t>(best), 0};
  const T value = T(size(best));
  dst[0] = value;
  std::memcpy(dst + 1, behind, sizeof(behind));
}

}  // namespace

template <class T>
void __bang_nan_argmax(T* dst, const T* src, std::int64_t n) {
  extreme(__func__, dst, src, n, [](T a, T b) { return !is_nan(b) && (is_nan(a) || b < a); });
}
template <class T>
void __bang_nan_argmin(T* dst, const T* src, std::int64_t n) {
  extreme(__func__, dst, src, n, [](T a, T b) { return !is_nan(b) && (is_nan(a) || a < b); });
}
template <class T>
void __bang_fabsmax(T* dst, const T* src, std::int64_t n) {
  extreme_magnitude(__func__, dst, src, n, [](float a, float b) { return b < a; });
}
template <class T>
void __bang_fabsmin(T* dst, const T* src, std::int64_t n) {
  extreme_magnitude(__func__, dst, src, n, [](float a, float b) { return a < b; });
}

template <class T>
void __bang_max(T* dst, const T* src, std::int64_t n) {
  extreme(__func__, dst, src, n, [](T a, T b) { return b < a; });
}
template <class T>
void __bang_min(T* dst, const T* src, std::int64_t n) {
  extreme(__func__, dst, src, n, [](T a, T b) { return a < b; });
}
template <class T>
void __bang_count(std::uint32_t* dst, const T* src, std::int64_t n) {
  give(__func__, dst, __bang_count(src, n));
}
template <class T>
void __bang_findfirst1(std::uint32_t* dst, const T* src, std::int64_t n) {
  give(__func__, dst, __bang_findfirst1(src, n));
}
template <class T>
void __bang_findlast1(std::uint32_t* dst, const T* src, std::int64_t n) {
  give(__func__, dst, __bang_findlast1(src, n));
}

template <class T>
std::uint32_t __bang_filter(T* dst, const T* src, const T* mask, std::int64_t n) {
  Word word(__func__);
  word.count(n);
  word.decider(mask, n, "mask");
  return pack(word, dst, src, n, [&](std::int64_t i) { return is_set(mask[i]); });
}

template <class T>
void __bang_collect(T* dst, const T* src, const T* mask, std::int64_t n) {
  __bang_filter(dst, src, mask, n);
}

template <class T>
void __bang_select(T* dst, const T* src, const T* mask, std::int64_t n) {
  Word word(__func__);
  word.count(n);
  word.decider(mask, n, "mask");
  select(word, dst, src, n, [&](std::int64_t i) { return is_set(mask[i]); });
}

namespace {

/// dst[i] = src[i] where wanted(i). What is known of dst's other lanes stays known.
template <class T, class Wanted>
void move_where(Word& word, T* dst, const T* src, std::int64_t n, Wanted wanted) {
  LaneFlags undefined = word.lanes_of(src, n), kept = word.lanes_of(dst, n, "destination");
  if (!undefined.empty() || !kept.empty()) {
    undefined.resize(static_cast<std::size_t>(n));
    kept.resize(static_cast<std::size_t>(n));
    for (std::size_t i = 0; i < kept.size(); ++i) {
      if (!wanted(static_cast<std::int64_t>(i))) undefined[i] = kept[i];
    }
  }
  word.undefined(std::move(undefined));
  word.destination(dst, n);
  for (std::int64_t i = 0; i < n; ++i) dst[i] = wanted(i) ? src[i] : dst[i];
}

}  // namespace

template <class T>
void __bang_maskmove(T* dst, const T* src, const T* mask, std::int64_t n) {
  Word word(__func__);
  word.count(n);
  word.decider(mask, n, "mask");
  move_where(word, dst, src, n, [&](std::int64_t i) { return is_set(mask[i]); });
}

// ---- bit masks: lane 8k + i is bit i of byte k ---------------------------------------------------------------------

namespace {

constexpr std::int64_t kByte = 8;

bool bit(const void* mask, std::int64_t i) {
  return ((static_cast<const std::uint8_t*>(mask)[i / kByte] >> (i % kByte)) & 1) != 0;
}

void decide_bits(Word& word, const void* mask, std::int64_t n) {
  word.count(n);
  word.decider(static_cast<const std::uint8_t*>(mask), (n + kByte - 1) / kByte, "mask");
}

/// A byte is undefined where all its lanes are: padding behind the last lane spoils nothing.
LaneFlags bytes_undefined(const Word& word, std::int64_t bytes) {
  LaneFlags flags(static_cast<std::size_t>(bytes));
  bool any = false;
  for (std::int64_t k = 0; k < bytes; ++k) {
    bool all = true;
    for (std::int64_t i = 0; i < kByte; ++i) all = all && word.is_undefined(k * kByte + i);
    flags[static_cast<std::size_t>(k)] = all ? 1 : 0;
    any = any || all;
  }
  return any ? flags : LaneFlags();
}

template <class T, class F>
void compare_bits(const char* name, void* dst, const T* a, const T* b, std::int64_t n, F holds) {
  Word word(name);
  word.count(n);
  word.require(n % kByte == 0, "the count must be a multiple of 8");
  word.source(a, n, "first source");
  word.source(b, n, "second source");
  auto* to = static_cast<std::uint8_t*>(dst);
  std::vector<std::uint8_t> bits(static_cast<std::size_t>(n / kByte));
  for (std::int64_t i = 0; i < n / kByte * kByte; ++i) {
    const bool set = holds(static_cast<Wide<T>>(a[i]), static_cast<Wide<T>>(b[i])) && !word.is_undefined(i);
    bits[static_cast<std::size_t>(i / kByte)] |= static_cast<std::uint8_t>((set ? 1 : 0) << (i % kByte));
  }
  word.undefined(bytes_undefined(word, n / kByte));
  word.destination(to, n / kByte);
  std::copy(bits.begin(), bits.end(), to);
}

}  // namespace

#define BITINDEX(name, op)                                                                                 \
  template <class T>                                                                                       \
  void __bang_##name##_bitindex(T* dst, const T* a, const T* b, std::int64_t n) {                          \
    compare_bits(__func__, dst, a, b, n, [](auto x, auto y) { return x op y; });                           \
  }                                                                                                        \
  template void __bang_##name##_bitindex(half*, const half*, const half*, std::int64_t);                   \
  template void __bang_##name##_bitindex(bfloat16_t*, const bfloat16_t*, const bfloat16_t*, std::int64_t); \
  template void __bang_##name##_bitindex(float*, const float*, const float*, std::int64_t)
BITINDEX(eq, ==);
BITINDEX(ne, !=);
BITINDEX(lt, <);
BITINDEX(le, <=);
BITINDEX(gt, >);
BITINDEX(ge, >=);
#undef BITINDEX
#define UNORDERED(name, op)                                                                                \
  template <class T>                                                                                       \
  void __bang_##name##_bitindex(T* dst, const T* a, const T* b, std::int64_t n) {                          \
    compare_bits(__func__, dst, a, b, n, [](auto x, auto y) { return x op y || x != x || y != y; });       \
  }                                                                                                        \
  template void __bang_##name##_bitindex(half*, const half*, const half*, std::int64_t);                   \
  template void __bang_##name##_bitindex(bfloat16_t*, const bfloat16_t*, const bfloat16_t*, std::int64_t); \
  template void __bang_##name##_bitindex(float*, const float*, const float*, std::int64_t)
UNORDERED(equ, ==);
UNORDERED(neu, !=);
UNORDERED(ltu, <);
UNORDERED(leu, <=);
UNORDERED(gtu, >);
UNORDERED(geu, >=);
#undef UNORDERED

template <class T>
std::uint32_t __bang_filter_bitindex(T* dst, const T* src, const void* mask, std::int64_t n) {
  Word word(__func__);
  decide_bits(word, mask, n);
  return pack(word, dst, src, n, [&](std::int64_t i) { return bit(mask, i); });
}

template <class T>
void __bang_collect_bitindex(T* dst, const T* src, const void* mask, std::int64_t n) {
  __bang_filter_bitindex(dst, src, mask, n);
}
template <class T>
void __bang_select_bitindex(T* dst, const T* src, const void* mask, std::int64_t n) {
  Word word(__func__);
  decide_bits(word, mask, n);
  select(word, dst, src, n, [&](std::int64_t i) { return bit(mask, i); });
}
template <class T>
void __bang_maskmove_bitindex(T* dst, const T* src, const void* mask, std::int64_t n) {
  Word word(__func__);
  decide_bits(word, mask, n);
  move_where(word, dst, src, n, [&](std::int64_t i) { return bit(mask, i); });
}

void __bang_maskmove(void* dst, const void* src, const void* mask, std::int64_t bytes) {
  Word word(__func__);
  decide_bits(word, mask, bytes);
  move_where(word, static_cast<char*>(dst), static_cast<const char*>(src), bytes,
             [&](std::int64_t i) { return bit(mask, i); });
}

template <class T>
std::uint32_t __bang_count_bitindex(const T* src, std::int64_t n) {
  decide(__func__, src, n);
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(src);
  std::uint32_t ones = 0;
  for (std::int64_t i = 0; i < bytes_of_lanes<T>(n); ++i) ones += static_cast<std::uint32_t>(std::popcount(bytes[i]));
  return ones;
}
template <class T>
void __bang_count_bitindex(std::uint32_t* dst, const T* src, std::int64_t n) {
  give(__func__, dst, __bang_count_bitindex(src, n));
}

namespace {

template <class T>
bool holds(CompareMode mode, T a, T b) {
  switch (mode) {
    case CMP_EQ:
      return a == b;
    case CMP_NE:
      return a != b;
    case CMP_LT:
      return a < b;
    case CMP_LE:
      return a <= b;
    case CMP_GT:
      return a > b;
    case CMP_GE:
      break;
  }
  return a >= b;
}

/// How many lanes are wanted as 4 bytes, and the lanes.
template <class T, class Wanted>
void filter_behind_count(Word& word, T* dst, const T* src, std::int64_t n, Wanted wanted) {
  constexpr std::int64_t kHead = sizeof(std::uint32_t) / sizeof(T);
  const std::vector<T> packed = wanted_lanes(word, src, n, wanted);
  const auto count = static_cast<std::uint32_t>(packed.size());
  word.destination(dst, kHead + count);
  word.target(dst + kHead);
  std::memcpy(dst, &count, sizeof(count));
  std::copy(packed.begin(), packed.end(), dst + kHead);
}

std::int64_t lanes_of_shape(const Word& word, std::int64_t n, std::int64_t h, std::int64_t w, std::int64_t c) {
  constexpr std::int64_t kMost = 65535;
  for (const std::int64_t size : {n, h, w, c}) {
    word.require(size > 0 && size <= kMost, "sizes must lie in [1, 65535]");
  }
  word.require(c % kByte == 0, "the channels must be a multiple of 8");
  const std::int64_t lanes = n * h * w * c;
  word.count(lanes);
  return lanes;
}

}  // namespace

template <class T>
void __bang_fcmpfilter(CompareMode mode, T* dst, const T* a, const T* b, std::int64_t n) {
  Word word(__func__);
  word.count(n);
  word.decider(b, n, "second source");
  word.decider(a, n, "first source");
  filter_behind_count(word, dst, a, n, [&](std::int64_t i) { return holds(mode, a[i], b[i]); });
}
template <class T>
void __bang_fcmpfilter(CompareMode mode, T* dst, const T* a, ValueOf<T> b, std::int64_t n) {
  Word word(__func__);
  word.count(n);
  word.decider(a, n);
  filter_behind_count(word, dst, a, n, [&](std::int64_t i) { return holds(mode, a[i], b); });
}

template <class T>
void __bang_breduce(void* dst, const T* src, std::int64_t n, std::int64_t h, std::int64_t w, std::int64_t c) {
  Word word(__func__);
  const std::int64_t lanes = lanes_of_shape(word, n, h, w, c);
  word.decider(src, lanes);
  std::vector<std::uint8_t> bits(static_cast<std::size_t>(lanes / kByte));
  for (std::int64_t i = 0; i < lanes; ++i) {
    bits[static_cast<std::size_t>(i / kByte)] |= static_cast<std::uint8_t>((src[i] != 0 ? 1 : 0) << (i % kByte));
  }
  auto* to = static_cast<std::uint8_t*>(dst);
  word.destination(to, lanes / kByte);
  std::copy(bits.begin(), bits.end(), to);
}
template <class T>
void __bang_bexpand(T* dst, const void* src, std::int64_t n, std::int64_t h, std::int64_t w, std::int64_t c) {
  Word word(__func__);
  const std::int64_t lanes = lanes_of_shape(word, n, h, w, c);
  decide_bits(word, src, lanes);
  word.destination(dst, lanes);
  for (std::int64_t i = lanes - 1; i >= 0; --i) dst[i] = static_cast<T>(bit(src, i) ? 1 : 0);
}
#define BITS_OF(T)                                                                                       \
  template void __bang_breduce(void*, const T*, std::int64_t, std::int64_t, std::int64_t, std::int64_t); \
  template void __bang_bexpand(T*, const void*, std::int64_t, std::int64_t, std::int64_t, std::int64_t)
BITS_OF(char);
BITS_OF(std::int8_t);
BITS_OF(std::int16_t);
BITS_OF(std::int32_t);

#define SELECT(T)                                                                         \
  template std::uint32_t __bang_count(const T*, std::int64_t);                            \
  template std::uint32_t __bang_findfirst1(const T*, std::int64_t);                       \
  template std::uint32_t __bang_findlast1(const T*, std::int64_t);                        \
  template void __bang_argmax(T*, const T*, std::int64_t);                                \
  template void __bang_argmin(T*, const T*, std::int64_t);                                \
  template void __bang_max(T*, const T*, std::int64_t);                                   \
  template void __bang_min(T*, const T*, std::int64_t);                                   \
  template void __bang_count(std::uint32_t*, const T*, std::int64_t);                     \
  template void __bang_findfirst1(std::uint32_t*, const T*, std::int64_t);                \
  template void __bang_findlast1(std::uint32_t*, const T*, std::int64_t);                 \
  template void __bang_collect(T*, const T*, const T*, std::int64_t);                     \
  template void __bang_select(T*, const T*, const T*, std::int64_t);                      \
  template void __bang_maskmove(T*, const T*, const T*, std::int64_t);                    \
  template void __bang_collect_bitindex(T*, const T*, const void*, std::int64_t);         \
  template void __bang_select_bitindex(T*, const T*, const void*, std::int64_t);          \
  template void __bang_maskmove_bitindex(T*, const T*, const void*, std::int64_t);        \
  template std::uint32_t __bang_filter_bitindex(T*, const T*, const void*, std::int64_t); \
  template std::uint32_t __bang_filter(T*, const T*, const T*, std::int64_t)
#define SELECT_FLOATS(T)                                                                \
  template void __bang_nan_argmax(T*, const T*, std::int64_t);                          \
  template void __bang_nan_argmin(T*, const T*, std::int64_t);                          \
  template void __bang_fabsmax(T*, const T*, std::int64_t);                             \
  template void __bang_fabsmin(T*, const T*, std::int64_t);                             \
  template void __bang_fcmpfilter(CompareMode, T*, const T*, const T*, std::int64_t);   \
  template void __bang_fcmpfilter(CompareMode, T*, const T*, ValueOf<T>, std::int64_t); \
  template std::uint32_t __bang_count_bitindex(const T*, std::int64_t);                 \
  template void __bang_count_bitindex(std::uint32_t*, const T*, std::int64_t)
SELECT_FLOATS(half);
SELECT_FLOATS(bfloat16_t);
SELECT_FLOATS(float);
SELECT(half);
SELECT(bfloat16_t);
SELECT(float);
SELECT(std::int16_t);
SELECT(std::int32_t);
SELECT(std::uint16_t);
SELECT(std::uint32_t);

}  // namespace mluops::emu::bang
