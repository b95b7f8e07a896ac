// Conversions between lane types: one way to read lanes, one to write them, and the families of names over those.
#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

#include "backends/mlu_emu/bang/operands.h"
#include "backends/mlu_emu/bang/rounding.h"
#include "backends/mlu_emu/bang/words.h"
#include "common/per_thread.h"

namespace mluops::emu::bang {
namespace {

// ---- types of lanes, by the names that builtins have for them ------------------------------------------------------

/// Lanes of T, one behind the other.
template <class T>
struct Plain {
  using Lane = T;
  static constexpr std::int64_t kPerUnit = 1;  // lanes in what memory is counted in

  static void read(const T* from, std::int64_t at, std::int64_t n, double* to) {
    if constexpr (kNarrow<T>) {
      float wide[kBlock];
      widen(from + at, wide, n);
      std::copy_n(wide, n, to);
    } else {
      for (std::int64_t i = 0; i < n; ++i) to[i] = static_cast<double>(from[at + i]);
    }
  }
};
template <class T>
struct Integer : Plain<T> {
  template <Rounding kRounding>
  static void write(const double* from, T* to, std::int64_t at, std::int64_t n, bool nan_is_zero) {
    const std::int64_t nan = nan_is_zero ? 0 : std::numeric_limits<T>::max();
    for (std::int64_t i = 0; i < n; ++i) to[at + i] = to_integer<kRounding, T>(from[i], nan);
  }
};
template <class T, const FloatFormat& kFormat>
struct Float : Plain<T> {
  template <Rounding kRounding>
  static void write(const double* from, T* to, std::int64_t at, std::int64_t n, bool) {
    for (std::int64_t i = 0; i < n; ++i) to[at + i] = static_cast<T>(to_format<kRounding>(from[i], kFormat));
  }
};
/// Two lanes a byte.
struct Nibbles {
  using Lane = int4x2_t;
  static constexpr std::int64_t kPerUnit = 2;
  static constexpr int kBits = 4, kLeast = -8, kMost = 7, kSign = 8, kMask = 15;

  static void read(const int4x2_t* from, std::int64_t at, std::int64_t n, double* to) {
    for (std::int64_t i = 0; i < n; ++i) {
      const int bits = from[(at + i) / 2].value >> (at + i) % 2 * kBits & kMask;
      to[i] = (bits ^ kSign) - kSign;
    }
  }
  template <Rounding kRounding>
  static void write(const double* from, int4x2_t* to, std::int64_t at, std::int64_t n, bool nan_is_zero) {
    for (std::int64_t i = 0; i < n; ++i) {
      const auto q = static_cast<int>(to_integer_in<kRounding>(from[i], kLeast, kMost, nan_is_zero ? 0 : kMost));
      std::int8_t& bits = to[(at + i) / 2].value;
      const int shift = static_cast<int>((at + i) % 2) * kBits;
      bits = static_cast<std::int8_t>((bits & ~(kMask << shift)) | (q & kMask) << shift);
    }
  }
};

// Named as the builtins name them.
using Of_half = Float<half, kHalfFormat>;
using Of_bfloat16 = Float<bfloat16_t, kBfloat16Format>;
using Of_tf32 = Float<float, kTf32Format>;
using Of_float = Float<float, kFloatFormat>;
using Of_int4 = Nibbles;
using Of_int8 = Integer<std::int8_t>;
using Of_char = Of_int8;
using Of_fix8 = Of_int8;
using Of_int16 = Integer<std::int16_t>;
using Of_short = Of_int16;
using Of_int32 = Integer<std::int32_t>;
using Of_int = Of_int32;
using Of_uchar = Integer<std::uint8_t>;
using Of_uint8 = Of_uchar;
using Of_uint16 = Integer<std::uint16_t>;
using Of_ushort = Of_uint16;
using Of_uint32 = Integer<std::uint32_t>;
using Of_uint = Of_uint32;

template <class T>
T* address(T* p) {
  return p;
}
void* address(BytesOut p) {
  return p.p;
}
const void* address(BytesIn p) {
  return p.p;
}

// ---- one use -------------------------------------------------------------------------------------------------------

/// A type of lanes as a source, and as a destination with its rounding: functions, so that one conversion serves all.
struct Reader {
  std::int64_t unit_bytes, per_unit;
  bool floats;
  void (*read)(const void* from, std::int64_t at, std::int64_t n, double* to);
  void (*widen)(const void* from, void* to, std::int64_t n);  // to floats, in one go; null: not that way
};
struct Writer {
  std::int64_t unit_bytes, per_unit;
  bool floats, plain_float;
  void (*write)(const double* from, void* to, std::int64_t at, std::int64_t n, bool nan_is_zero);
  void (*narrow)(const void* from, void* to, std::int64_t n);  // of floats, to nearest even
};

template <class T>
constexpr bool kFloats = !std::is_integral_v<typename T::Lane> && T::kPerUnit == 1;

template <class From>
constexpr Reader reader() {
  using L = typename From::Lane;
  Reader r{sizeof(L), From::kPerUnit, kFloats<From>,
           [](const void* from, std::int64_t at, std::int64_t n, double* to) {
             From::read(static_cast<const L*>(from), at, n, to);
           },
           nullptr};
  if constexpr (kNarrow<L>) {
    r.widen = [](const void* from, void* to, std::int64_t n) {
      widen(static_cast<const L*>(from), static_cast<float*>(to), n);
    };
  }
  return r;
}

template <class To, Rounding kRounding>
constexpr Writer writer() {
  using L = typename To::Lane;
  Writer w{sizeof(L),
           To::kPerUnit,
           kFloats<To>,
           std::is_same_v<To, Of_float>,
           [](const double* from, void* to, std::int64_t at, std::int64_t n, bool nan_is_zero) {
             To::template write<kRounding>(from, static_cast<L*>(to), at, n, nan_is_zero);
           },
           nullptr};
  if constexpr (kNarrow<L> && kRounding == Rounding::kEven) {
    w.narrow = [](const void* from, void* to, std::int64_t n) {
      narrow(static_cast<const float*>(from), static_cast<L*>(to), n);
    };
  }
  return w;
}

constexpr int kMostPosition = 127, kNan592 = 592;

/// 2^position, checked.
double unit_of(const Word& word, int position) {
  word.require(position >= -kMostPosition && position <= kMostPosition,
               "the fix-point position must lie in [-127, 127]");
  return power_of_two(std::clamp(position, -kMostPosition, kMostPosition));
}

/// A copy of these bytes, until the thread's next. Of no type: libcnrt is loaded by programs that have little room left
/// for the variables of its threads.
const void* copied_aside(const void* from, std::int64_t bytes) {
  auto& aside = of_this_thread<std::vector<std::byte>>();
  const auto* const first = static_cast<const std::byte*>(from);
  aside.assign(first, first + bytes);
  return aside.data();
}

/// The source as it was before the builtin: a copy aside when the destination overwrites lanes still to be read.
const void* as_before(const void* dst, const void* src, std::int64_t to_bytes, std::int64_t from_bytes) {
  const auto to = reinterpret_cast<std::uintptr_t>(dst), from = reinterpret_cast<std::uintptr_t>(src);
  const auto bytes = static_cast<std::uintptr_t>(from_bytes);
  const bool apart = from_bytes <= 0 || to + static_cast<std::uintptr_t>(to_bytes) <= from || from + bytes <= to;
  return apart ? src : copied_aside(src, from_bytes);
}

/// Calls f with a pointer to lanes of as many bytes.
template <class F>
void with_size(std::int64_t bytes, const void* p, F f) {
  if (bytes == 1) return f(static_cast<const std::uint8_t*>(p));
  if (bytes == 2) return f(static_cast<const std::uint16_t*>(p));
  f(static_cast<const std::uint32_t*>(p));
}

std::int64_t units(std::int64_t n, std::int64_t per_unit) {
  return (n + per_unit - 1) / per_unit;
}

/// Flags of packed lanes: a byte is undefined where one of its lanes is, a lane where its byte is.
LaneFlags repacked(const LaneFlags& flags, std::int64_t n, std::int64_t from_per_unit, std::int64_t to_per_unit) {
  if (flags.empty() || from_per_unit == to_per_unit) return flags;
  LaneFlags out(static_cast<std::size_t>(units(n, to_per_unit)));
  for (std::int64_t i = 0; i < n; ++i) {
    out[static_cast<std::size_t>(i / to_per_unit)] |= flags[static_cast<std::size_t>(i / from_per_unit)];
  }
  return out;
}

void check(Word& word, const Writer& to, void* dst, const Reader& from, const void* src, std::int64_t n) {
  word.count(n);
  if (to.per_unit + from.per_unit > 2) word.require(n % 2 == 0, "the count must be a multiple of 2");
  if (from.floats && to.floats) {
    from.unit_bytes == sizeof(float) ? word.converted_source(static_cast<const float*>(src), n)
                                     : word.converted_source(static_cast<const half*>(src), n);
  } else {
    with_size(from.unit_bytes, src, [&](const auto* lanes) {
      word.undefined(repacked(word.lanes_of(lanes, units(n, from.per_unit)), n, from.per_unit, to.per_unit));
    });
  }
  with_size(to.unit_bytes, dst, [&](const auto* lanes) {
    word.destination(const_cast<std::remove_const_t<std::remove_pointer_t<decltype(lanes)>>*>(lanes),
                     units(n, to.per_unit));
  });
}

void convert(const char* name, const Writer& to, void* dst, const Reader& from, const void* src, std::int64_t n,
             int dst_position = 0, int src_position = 0) {
  Word word(name);
  const double scale = unit_of(word, src_position) / unit_of(word, dst_position);
  check(word, to, dst, from, src, n);
  if (to.floats) {
    to.unit_bytes == sizeof(float) ? word.saturate_at_end(static_cast<float*>(dst), n)
                                   : word.saturate_at_end(static_cast<half*>(dst), n);
  }
  const void* before =
      as_before(dst, src, units(n, to.per_unit) * to.unit_bytes, units(n, from.per_unit) * from.unit_bytes);
  if (from.widen != nullptr && to.plain_float) return from.widen(before, dst, n);
  const bool of_floats = from.floats && from.unit_bytes == sizeof(float);
  if (to.narrow != nullptr && of_floats) return to.narrow(before, dst, n);
  const bool nan_is_zero = word.arch().number == kNan592;
  for_blocks(n, [&](std::int64_t at, std::int64_t count) {
    double numbers[kBlock];
    from.read(before, at, count, numbers);
    for (std::int64_t i = 0; i < count; ++i) numbers[i] *= scale;
    to.write(numbers, dst, at, count, nan_is_zero);
  });
}

/// segments + 1 rows, strides in bytes.
struct Rows {
  std::int64_t dst_stride, src_stride, segments;
};
void convert_rows(const char* name, const Writer& to, void* dst, const Reader& from, const void* src, std::int64_t n,
                  int dst_position, int src_position, const Rows& rows) {
  Word(name).require(rows.segments >= 0 && rows.segments < std::numeric_limits<std::int32_t>::max() &&
                         rows.dst_stride >= 0 && rows.src_stride >= 0,
                     "the number of segments must lie in [0, 2^31), strides must not be negative");
  for (std::int64_t i = 0; i <= rows.segments; ++i) {
    convert(name, to, static_cast<char*>(dst) + i * rows.dst_stride, from,
            static_cast<const char*>(src) + i * rows.src_stride, n, dst_position, src_position);
  }
}

template <class T>
constexpr bool kIsInteger = T::kPerUnit == 2 || std::is_integral_v<typename T::Lane>;
/// The position belongs to the integer; of two integers "uchar" has none.
template <class To, class From>
constexpr bool kPositionOfResult = (kIsInteger<To> && !std::is_same_v<To, Of_uchar>) || !kIsInteger<From>;

}  // namespace

#define ARGUMENTS(rounding, from, to) \
  writer<Of_##to, Rounding::rounding>(), address(dst), reader<Of_##from>(), address(src), n
#define PLAIN(suffix, rounding, from, From, to, To)                                                               \
  void __bang_##from##2##to##suffix(LanesOut<To> dst, LanesIn<From> src, std::int64_t n) {                        \
    convert(__func__, ARGUMENTS(rounding, from, to));                                                             \
  }                                                                                                               \
  void __bang_##from##2##to##suffix(LanesOut<To> dst, LanesIn<From> src, std::int64_t n, std::int64_t dst_stride, \
                                    std::int64_t src_stride, std::int64_t segments) {                             \
    convert_rows(__func__, ARGUMENTS(rounding, from, to), 0, 0, {dst_stride, src_stride, segments});              \
  }
#define PLAIN_MODES(...) MLUOPS_EMU_MODES(PLAIN, __VA_ARGS__)
MLUOPS_EMU_PLAIN_CONVERSIONS(PLAIN_MODES)

namespace {

/// The guide has them the other way round in this one name.
template <class To, class From>
void order_arguments(const char* suffix, std::int64_t& n, int& position) {
  if (!std::is_same_v<To, Of_bfloat16> || !std::is_same_v<From, Of_int8> || *suffix != '\0') return;
  const std::int64_t count = position;
  position = static_cast<int>(n);
  n = count;
}

}  // namespace

#define SCALED(suffix, rounding, from, From, to, To)                                                           \
  void __bang_##from##2##to##suffix(LanesOut<To> dst, LanesIn<From> src, std::int64_t n, int position) {       \
    order_arguments<Of_##to, Of_##from>(#suffix, n, position);                                                 \
    constexpr bool kOfResult = kPositionOfResult<Of_##to, Of_##from>;                                          \
    convert(__func__, ARGUMENTS(rounding, from, to), kOfResult ? position : 0, kOfResult ? 0 : position);      \
  }                                                                                                            \
  void __bang_##from##2##to##suffix(LanesOut<To> dst, LanesIn<From> src, std::int64_t n, int position,         \
                                    std::int64_t dst_stride, std::int64_t src_stride, std::int64_t segments) { \
    constexpr bool kOfResult = kPositionOfResult<Of_##to, Of_##from>;                                          \
    convert_rows(__func__, ARGUMENTS(rounding, from, to), kOfResult ? position : 0, kOfResult ? 0 : position,  \
                 {dst_stride, src_stride, segments});                                                          \
  }
#define SCALED_MODES(...) MLUOPS_EMU_MODES(SCALED, __VA_ARGS__)
MLUOPS_EMU_SCALED_CONVERSIONS(SCALED_MODES)

#define INTEGER(suffix, rounding, from, From, to, To)                                                      \
  void __bang_##from##2##to##suffix(LanesOut<To> dst, LanesIn<From> src, std::int64_t n, int dst_position, \
                                    int src_position) {                                                    \
    convert(__func__, ARGUMENTS(rounding, from, to), dst_position, src_position);                          \
  }
#define INTEGER_MODES(...) MLUOPS_EMU_MODES(INTEGER, __VA_ARGS__)
MLUOPS_EMU_INTEGER_CONVERSIONS(INTEGER_MODES)

// ---- of one form only ----------------------------------------------------------------------------------------------

namespace {

template <class To>
void at_random(const char* name, typename To::Lane* dst, const float* src, const std::int32_t* random, std::int64_t n,
               FloatFormat format) {
  constexpr double kRange = 4294967296.0;
  Word word(name);
  word.count(n);
  word.decider(random, n, "random numbers");
  word.converted_source(src, n);
  word.destination(dst, n);
  for (std::int64_t i = 0; i < n; ++i) {
    const double x = static_cast<double>(src[i]);
    const double low = to_format<Rounding::kDown>(x, format), high = to_format<Rounding::kUp>(x, format);
    const double share = low == high || !std::isfinite(x) ? 0 : (x - low) / (high - low);
    const bool up = static_cast<double>(static_cast<std::uint32_t>(random[i])) / kRange < share;
    dst[i] = static_cast<typename To::Lane>(up ? high : low);
  }
}

}  // namespace

void __bang_float2half_sr(half* dst, const float* src, const std::int32_t* random, std::int64_t n) {
  at_random<Of_half>(__func__, dst, src, random, n, kHalfFormat);
}
void __bang_float2tf32_sr(float* dst, const float* src, const std::int32_t* random, std::int64_t n) {
  at_random<Of_tf32>(__func__, dst, src, random, n, kTf32Format);
}
void __bang_half2uchar_dn(BytesOut dst, const half* src, const half* scratch, std::int64_t n) {
  Word(__func__).scratch(scratch, n);
  __bang_half2uchar_dn(dst, src, n);
}

// ---- one number ----------------------------------------------------------------------------------------------------

namespace {

template <Rounding kRounding, class To, class From>
typename To::Lane one(typename From::Lane x) {
  double number;
  From::read(&x, 0, 1, &number);
  typename To::Lane result;
  const bool is_nan = number != number;
  To::template write<kRounding>(&number, &result, 0, 1,
                                is_nan && Core::runs_here() && Core::current().task().arch == kNan592);
  if constexpr (std::is_same_v<typename To::Lane, half> || std::is_same_v<typename To::Lane, float>) {
    if (saturates_here()) saturate(&result, 1, NonFinite::kSaturates);
  }
  return result;
}

}  // namespace

#define ONE(suffix, rounding, from, From, to, To)          \
  To __##from##2##to##suffix(From x) {                     \
    return one<Rounding::rounding, Of_##to, Of_##from>(x); \
  }
#define ONE_MODES(...) MLUOPS_EMU_MODES(ONE, __VA_ARGS__)
MLUOPS_EMU_SCALAR_CONVERSIONS(ONE_MODES)

}  // namespace mluops::emu::bang
