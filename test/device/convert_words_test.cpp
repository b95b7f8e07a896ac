// How the names of conversions round: each against the mathematical functions, half's directions against all halves.
#include <cmath>
#include <limits>

#include "test/device/rig.h"

namespace mluops::emu::test {
namespace {

template <class To, class From, class W>
std::vector<To> converted(const std::vector<From>& in, W word) {
  std::vector<From> source = in;
  std::vector<To> out(in.size());
  const auto n = static_cast<std::int64_t>(in.size());
  Rig rig("mtp_592");
  rig.tensor("in", source, Access::kRead).tensor("out", out, Access::kWrite);
  EXPECT_EQ(rig.run([&](char* nram) {
    auto* src = reinterpret_cast<From*>(nram);
    auto* dst = reinterpret_cast<To*>(nram + n * 8);
    __memcpy(src, source.data(), n * static_cast<std::int64_t>(sizeof(From)), GDRAM2NRAM);
    word(dst, src, n);
    __memcpy(out.data(), dst, n * static_cast<std::int64_t>(sizeof(To)), NRAM2GDRAM);
  }),
            "");
  return out;
}

std::vector<float> numbers() {
  std::vector<float> v;
  for (int i = -40; i <= 40; ++i) v.push_back(static_cast<float>(i) / 8);
  for (const float x : {0.49999997f, -0.49999997f, 8388609.0f, 127.5f, -128.5f, 32767.5f, 3e9f, -3e9f}) v.push_back(x);
  v.push_back(std::numeric_limits<float>::infinity());
  v.push_back(-std::numeric_limits<float>::infinity());
  v.push_back(std::numeric_limits<float>::quiet_NaN());
  return v;
}

template <class I, class W, class M>
void expect_rounding(W word, M meaning) {
  const std::vector<float> in = numbers();
  const auto out = converted<I>(in, word);
  for (std::size_t i = 0; i < in.size(); ++i) {
    const double low = std::numeric_limits<I>::min(), high = std::numeric_limits<I>::max();
    const double wanted =
        std::isnan(in[i]) ? 0.0 : std::fmin(std::fmax(meaning(static_cast<double>(in[i])), low), high);
    EXPECT_EQ(static_cast<double>(out[i]), wanted) << in[i];
  }
}

/// std::round of a float; not called, since mingw-w64's roundf gives 1 for the float below 0.5.
double half_away(double x) {
  return std::copysign(std::floor(std::fabs(x) + 0.5), x);
}

TEST(Rounding, FollowsTheSuffix) {
  const auto trunc = [](double x) { return std::trunc(x); };
  expect_rounding<std::int32_t>([](auto* d, auto* s, auto n) { __bang_float2int32(d, s, n, 0); }, trunc);
  expect_rounding<std::int32_t>([](auto* d, auto* s, auto n) { __bang_float2int32_tz(d, s, n, 0); }, trunc);
  expect_rounding<std::int32_t>([](auto* d, auto* s, auto n) { __bang_float2int32_dn(d, s, n, 0); },
                                [](double x) { return std::floor(x); });
  expect_rounding<std::int32_t>([](auto* d, auto* s, auto n) { __bang_float2int32_up(d, s, n, 0); },
                                [](double x) { return std::ceil(x); });
  expect_rounding<std::int32_t>([](auto* d, auto* s, auto n) { __bang_float2int32_rd(d, s, n, 0); }, half_away);
  expect_rounding<std::int32_t>([](auto* d, auto* s, auto n) { __bang_float2int32_rn(d, s, n, 0); },
                                [](double x) { return std::nearbyint(x); });
}

TEST(Rounding, OfUnsignedIntegersAndOfOlderNames) {
  const auto near = [](double x) { return std::floor(x + 0.5); };
  const auto trunc = [](double x) { return std::trunc(x); };
  expect_rounding<std::uint8_t>([](auto* d, auto* s, auto n) { __bang_float2uchar(d, s, n); }, trunc);
  expect_rounding<std::uint8_t>([](auto* d, auto* s, auto n) { __bang_float2uchar_rm(d, s, n); }, near);
  expect_rounding<std::uint8_t>([](auto* d, auto* s, auto n) { __bang_float2uchar_dn(d, s, n); },
                                [](double x) { return std::floor(x); });
  expect_rounding<std::uint32_t>([](auto* d, auto* s, auto n) { __bang_float2uint32_rm(d, s, n, 0); }, near);
  expect_rounding<std::int32_t>([](auto* d, auto* s, auto n) { __bang_float2int32_rm(d, s, n, 0); }, near);
  expect_rounding<std::int32_t>([](auto* d, auto* s, auto n) { __bang_float2int_tz(d, s, n, 0); }, trunc);
  const auto bytes = converted<std::uint8_t>(std::vector<std::int32_t>{-7, 0, 5, 255, 256, 1 << 30},
                                             [](auto* d, auto* s, auto n) { __bang_int322uchar(d, s, n, 0); });
  EXPECT_EQ(bytes, (std::vector<std::uint8_t>{0, 0, 5, 255, 255, 255}));
  const auto wide = converted<std::int32_t>(bytes, [](auto* d, auto* s, auto n) { __bang_uchar2int32(d, s, n, 0); });
  EXPECT_EQ(wide, (std::vector<std::int32_t>{0, 0, 5, 255, 255, 255}));
  const auto floats = converted<float>(std::vector<std::uint32_t>{0, 7, 4294967295u},
                                       [](auto* d, auto* s, auto n) { __bang_uint322float(d, s, n, 0); });
  EXPECT_EQ(floats, (std::vector<float>{0, 7, 4294967040.0f})) << "towards zero";
  const auto as_chars = converted<std::int8_t>(std::vector<half>{half(3.75f), half(200.0f)},
                                               [](auto* d, auto* s, auto n) { __bang_half2uchar_dn(d, s, n); });
  EXPECT_EQ(as_chars, (std::vector<std::int8_t>{3, -56}));
}

TEST(Rounding, AwayFromZeroAndFixPointPositions) {
  const auto away = [](double x) { return x < 0 ? std::floor(x) : std::ceil(x); };
  expect_rounding<std::int32_t>([](auto* d, auto* s, auto n) { __bang_float2int32_oz(d, s, n, 0); }, away);
  expect_rounding<std::int16_t>([](auto* d, auto* s, auto n) { __bang_float2int16_rd(d, s, n, -3); },
                                [](double x) { return std::round(x * 8); });
  expect_rounding<std::int8_t>([](auto* d, auto* s, auto n) { __bang_float2int8_tz(d, s, n, 2); },
                               [](double x) { return std::trunc(x / 4); });
  const std::vector<std::int16_t> integers = {-32768, -5, 0, 1, 32767};
  const auto up = converted<float>(integers, [](auto* d, auto* s, auto n) { __bang_int162float(d, s, n, 5); });
  const auto down = converted<half>(integers, [](auto* d, auto* s, auto n) { __bang_int162half_rn(d, s, n, -7); });
  for (std::size_t i = 0; i < integers.size(); ++i) {
    EXPECT_EQ(up[i], static_cast<float>(integers[i]) * 32);
    EXPECT_EQ(down[i].bits, half(static_cast<double>(integers[i]) / 128).bits);
  }
  const auto narrow = converted<std::int16_t>(std::vector<std::int32_t>{-70000, 6, 10, 99999},
                                              [](auto* d, auto* s, auto n) { __bang_int322int16(d, s, n, 2, 0); });
  EXPECT_EQ(narrow, (std::vector<std::int16_t>{-17500, 1, 2, 24999}));
}

TEST(Rounding, IntegersOfTheOlderNames) {
  std::vector<std::uint8_t> bytes(256);
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::uint8_t>(i);
  const auto halves = converted<half>(bytes, [](auto* d, auto* s, auto n) { __bang_uchar2half(d, s, n); });
  const auto floats = converted<float>(bytes, [](auto* d, auto* s, auto n) { __bang_uchar2float(d, s, n); });
  const auto shorts = converted<std::int16_t>(bytes, [](auto* d, auto* s, auto n) { __bang_uchar2int16(d, s, n, 0); });
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    EXPECT_EQ(static_cast<float>(halves[i]), static_cast<float>(i));
    EXPECT_EQ(floats[i], static_cast<float>(i));
    EXPECT_EQ(shorts[i], static_cast<std::int16_t>(i));
  }
  std::vector<half> in;
  for (const float x : {-2.5f, -0.25f, 0.0f, 0.5f, 1.5f, 300.75f, 65504.0f}) in.push_back(half(x));
  const auto expect = [&](auto word, auto meaning) {
    const auto got = converted<std::int16_t>(in, word);
    for (std::size_t i = 0; i < in.size(); ++i) {
      EXPECT_EQ(got[i], std::fmin(meaning(static_cast<double>(in[i])), 32767)) << i;
    }
  };
  expect([](auto* d, auto* s, auto n) { __bang_half2short_tz(d, s, n); }, [](double x) { return std::trunc(x); });
  expect([](auto* d, auto* s, auto n) { __bang_half2short_dn(d, s, n); }, [](double x) { return std::floor(x); });
  expect([](auto* d, auto* s, auto n) { __bang_half2short_up(d, s, n); }, [](double x) { return std::ceil(x); });
  expect([](auto* d, auto* s, auto n) { __bang_half2short_rd(d, s, n); }, half_away);
  expect([](auto* d, auto* s, auto n) { __bang_half2short_oz(d, s, n); },
         [](double x) { return x < 0 ? std::floor(x) : std::ceil(x); });
  const auto bytes_down = converted<std::uint8_t>(in, [](auto* d, auto* s, auto n) { __bang_half2uchar_dn(d, s, n); });
  EXPECT_EQ(bytes_down, (std::vector<std::uint8_t>{0, 0, 0, 0, 1, 255, 255}));
  const auto back = converted<half>(std::vector<std::int16_t>{-7, 2049},
                                    [](auto* d, auto* s, auto n) { __bang_short2half(d, s, n); });
  EXPECT_EQ(static_cast<float>(back[0]), -7);
  EXPECT_EQ(static_cast<float>(back[1]), 2048) << "towards zero";
}

TEST(Rounding, SaturatesInEveryWidth) {
  const auto round = half_away;
  expect_rounding<std::int8_t>([](auto* d, auto* s, auto n) { __bang_float2int8_rd(d, s, n, 0); }, round);
  expect_rounding<std::int16_t>([](auto* d, auto* s, auto n) { __bang_float2int16_rd(d, s, n, 0); }, round);
}

TEST(Rounding, OfOneNumber) {
  EXPECT_EQ(__float2int32(-2.5f), -2);
  EXPECT_EQ(__float2int32_rd(-2.5f), -3);
  EXPECT_EQ(__float2int32_rn(-2.5f), -2);
  EXPECT_EQ(__float2int32_up(2.1f), 3);
  EXPECT_EQ(__float2int32_dn(-2.1f), -3);
  EXPECT_EQ(__half2int32(half(2.5f)), 2);
  EXPECT_EQ(__float2int(-2.75f), -2);
  EXPECT_EQ(__float2int(3e9f), std::numeric_limits<std::int32_t>::max());
  EXPECT_EQ(__half2int(half(-2.75f)), -2);
  EXPECT_EQ(__float2short(40000.0f), std::numeric_limits<std::int16_t>::max());
  EXPECT_EQ(__half2short(half(2.75f)), 2);
  EXPECT_EQ(__float2int_rm(2.5f), 3) << "ties up";
  EXPECT_EQ(__half2int32_rm(half(-1.5f)), -1) << "ties up";
  EXPECT_EQ(__half2int32_up(half(2.5f)), 3);
  EXPECT_EQ(__float2int32(std::nanf("")), std::numeric_limits<std::int32_t>::max());
  EXPECT_EQ(__float2half_rn(1.0f / 3).bits, half(1.0f / 3).bits);
  EXPECT_EQ(__float2half(2049.5f).bits, half(2048.0f).bits) << "towards zero";
  EXPECT_EQ(__float2half_rm(1.0f / 3).bits, half(1.0f / 3).bits);
  EXPECT_EQ(__float2half_tz(2049.5f).bits, half(2048.0f).bits);
  EXPECT_EQ(__float2half_oz(2048.5f).bits, half(2050.0f).bits);
  EXPECT_EQ(__float2half_dn(-2048.5f).bits, half(-2050.0f).bits);
  EXPECT_EQ(__float2half_up(2048.5f).bits, half(2050.0f).bits);
  EXPECT_EQ(__float2half_rd(2049.0f).bits, half(2050.0f).bits);
  EXPECT_EQ(__half2float(half(0.1f)), __half2float_rn(half(0.1f)));
  EXPECT_EQ(__bfloat162float(__float2bfloat16_rn(1.5f)), 1.5f);
  EXPECT_EQ(__float2bfloat16(1.0078f).bits, __float2bfloat16(1.0f).bits) << "towards zero";
  EXPECT_EQ(__float2int_oz(0.1f), 1);
  EXPECT_EQ(__float2int_rd(2.5f), 3);
  EXPECT_EQ(__float2short_tz(1e9f), 32767);
  EXPECT_EQ(__half2int_dn(half(-0.5f)), -1);
  EXPECT_EQ(__half2short_up(half(0.25f)), 1);
}

/// Every half, the points between neighbours and a little beside them.
std::vector<float> around_halves() {
  std::vector<float> v;
  for (unsigned bits = 0; bits < 0x7bffu; bits += 37) {
    const float low = half_to_float(static_cast<std::uint16_t>(bits));
    const float high = half_to_float(static_cast<std::uint16_t>(bits + 1)), middle = low + (high - low) / 2;
    for (const float x : {low, middle, std::nextafter(middle, low), std::nextafter(middle, high)}) {
      v.insert(v.end(), {x, -x});
    }
  }
  return v;
}

TEST(Rounding, HalfsGoInTheirDirection) {
  const std::vector<float> in = around_halves();
  const auto down = converted<half>(in, [](auto* d, auto* s, auto n) { __bang_float2half_dn(d, s, n); });
  const auto up = converted<half>(in, [](auto* d, auto* s, auto n) { __bang_float2half_up(d, s, n); });
  const auto zero = converted<half>(in, [](auto* d, auto* s, auto n) { __bang_float2half_tz(d, s, n); });
  const auto away = converted<half>(in, [](auto* d, auto* s, auto n) { __bang_float2half_rd(d, s, n); });
  for (std::size_t i = 0; i < in.size(); ++i) {
    const float low = down[i], high = up[i], x = in[i];
    ASSERT_TRUE(low <= x && x <= high) << x;
    ASSERT_LE(std::abs(down[i].bits - up[i].bits), 1) << x << ": neighbours, or the same";
    ASSERT_EQ(static_cast<float>(zero[i]), x > 0 ? low : high) << x;
    const float far = x > 0 ? high : low, near = x > 0 ? low : high;
    const bool outwards = std::fabs(far - x) <= std::fabs(x - near);
    ASSERT_EQ(static_cast<float>(away[i]), outwards ? far : near) << x;
  }
}

TEST(Rounding, IntegersAndBfloat16) {
  const std::vector<std::int8_t> bytes = {-128, -1, 0, 1, 127};
  const auto floats = converted<float>(bytes, [](auto* d, auto* s, auto n) { __bang_int82float(d, s, n, 0); });
  EXPECT_EQ(floats, (std::vector<float>{-128, -1, 0, 1, 127}));
  const std::vector<std::int32_t> large = {16777217, -16777217, 5};
  const auto rounded = converted<float>(large, [](auto* d, auto* s, auto n) { __bang_int322float_rn(d, s, n, 0); });
  EXPECT_EQ(rounded, (std::vector<float>{16777216, -16777216, 5}));
  const std::vector<float> in = {1.0f, 1.00390625f, 1.01171875f, -3.5f};  // the second and third lie between two
  const auto narrow = converted<bfloat16_t>(in, [](auto* d, auto* s, auto n) { __bang_float2bfloat16_rn(d, s, n); });
  const auto wide = converted<float>(narrow, [](auto* d, auto* s, auto n) { __bang_bfloat162float(d, s, n); });
  EXPECT_EQ(wide, (std::vector<float>{1.0f, 1.0f, 1.015625f, -3.5f}));
}

// ---- families: types x directions, against long double
// ---------------------------------------------------------------

/// The whole number in that direction.
long double whole_of(long double x, Rounding rounding) {
  switch (rounding) {
    case Rounding::kZero:
      return std::trunc(x);
    case Rounding::kDown:
      return std::floor(x);
    case Rounding::kUp:
      return std::ceil(x);
    case Rounding::kAwayFromZero:
      return x < 0 ? std::floor(x) : std::ceil(x);
    case Rounding::kAwayFromTies:
      return std::round(x);
    case Rounding::kEven:
      return std::nearbyint(x);
    case Rounding::kUpFromTies:
      return std::floor(x + 0.5L);
  }
  return x;
}
/// The float of so many bits of precision in that direction; the numbers here are normal ones.
long double float_of(long double x, int precision, Rounding rounding) {
  if (x == 0) return x;
  const int exponent = static_cast<int>(std::ilogb(x)) - precision + 1;
  return std::ldexp(whole_of(std::ldexp(x, -exponent), rounding), exponent);
}

template <class From>
std::vector<From> samples() {
  std::vector<From> v;
  std::uint32_t state = 7;
  for (int i = 0; i < 400; ++i) {
    state = state * 1664525u + 1013904223u;
    const int q = static_cast<int>(state >> 20) - 2048;  // with ties at halves and quarters
    if constexpr (std::is_integral_v<From>) {
      v.push_back(static_cast<From>(i % 3 == 0 ? static_cast<std::int32_t>(state) : q));
    } else {
      v.push_back(From(static_cast<float>(q) / (i % 2 == 0 ? 8.0f : 2.0f) * (i % 5 == 0 ? 1.001f : 1.0f)));
    }
  }
  return v;
}
template <class T>
long double number(T x) {
  if constexpr (std::is_arithmetic_v<T>) return static_cast<long double>(x);
  return static_cast<long double>(static_cast<float>(x));
}
template <class To>
long double kept(long double x, Rounding rounding, int precision) {
  if constexpr (std::is_integral_v<To>) {
    const long double low = std::numeric_limits<To>::min(), high = std::numeric_limits<To>::max();
    return std::fmin(std::fmax(whole_of(x, rounding), low), high);
  } else {
    return float_of(x, precision, rounding);
  }
}

template <class To, class From, class Word>
void expect_family(const char* name, Rounding rounding, int precision, int dst_position, int src_position, Word word) {
  const std::vector<From> in = samples<From>();
  const std::vector<To> out = converted<To>(in, word);
  for (std::size_t i = 0; i < in.size(); ++i) {
    const long double exact = std::ldexp(number(in[i]), src_position - dst_position);
    if (std::is_same_v<To, half> && std::fabs(exact) > 65000) continue;
    ASSERT_EQ(number(out[i]), kept<To>(exact, rounding, precision)) << name << " of " << number(in[i]);
  }
}

/// Binary digits of a floating-point type, 0 of an integer: the names are those that builtins are called by.
enum Precision {
  kPrecision_half = 11,
  kPrecision_bfloat16 = 8,
  kPrecision_tf32 = 11,
  kPrecision_float = 24,
  kPrecision_uchar = 0,
  kPrecision_char = 0,
  kPrecision_short = 0,
  kPrecision_int = 0
};

#define PLAIN_CASE(suffix, rounding, from, From, to, To)                                    \
  expect_family<To, From>(#from "2" #to #suffix, Rounding::rounding, kPrecision_##to, 0, 0, \
                          [](auto* d, auto* s, auto n) { __bang_##from##2##to##suffix(d, s, n); });
#define PLAIN_CASES(...) MLUOPS_EMU_MODES(PLAIN_CASE, __VA_ARGS__)
TEST(Families, BetweenFloatsAndToIntegersWithoutPosition){
    PLAIN_CASES(half, half, bfloat16, bfloat16_t) PLAIN_CASES(half, half, char, std::int8_t)
        PLAIN_CASES(half, half, short, std::int16_t) PLAIN_CASES(float, float, half, half)
            PLAIN_CASES(float, float, bfloat16, bfloat16_t) PLAIN_CASES(float, float, tf32, float)
                PLAIN_CASES(float, float, uchar, std::uint8_t) PLAIN_CASES(bfloat16, bfloat16_t, half, half)
                    PLAIN_CASES(bfloat16, bfloat16_t, uchar, std::uint8_t)
                        PLAIN_CASES(tf32, float, bfloat16, bfloat16_t) PLAIN_CASES(tf32, float, uchar, std::uint8_t)}
#define TO_CASE(suffix, rounding, from, From, to, To)                         \
  expect_family<To, From>(#from "2" #to #suffix, Rounding::rounding, 0, 2, 0, \
                          [](auto* d, auto* s, auto n) { __bang_##from##2##to##suffix(d, s, n, 2); });
#define TO_CASES(...) MLUOPS_EMU_MODES(TO_CASE, __VA_ARGS__)
#define FROM_CASE(suffix, rounding, from, From, to, To)                                      \
  expect_family<To, From>(#from "2" #to #suffix, Rounding::rounding, kPrecision_##to, 0, -3, \
                          [](auto* d, auto* s, auto n) { __bang_##from##2##to##suffix(d, s, n, -3); });
#define FROM_CASES(...) MLUOPS_EMU_MODES(FROM_CASE, __VA_ARGS__)
TEST(Families, FixPointOfFloats){
    TO_CASES(half, half, int8, std::int8_t) TO_CASES(half, half, int16, std::int16_t)
        TO_CASES(half, half, int32, std::int32_t) TO_CASES(float, float, int8, std::int8_t)
            TO_CASES(float, float, int32, std::int32_t) TO_CASES(float, float, uint16, std::uint16_t)
                TO_CASES(bfloat16, bfloat16_t, int16, std::int16_t) TO_CASES(tf32, float, int8, std::int8_t)
                    FROM_CASES(int16, std::int16_t, half, half) FROM_CASES(int32, std::int32_t, half, half)
                        FROM_CASES(int32, std::int32_t, float, float)
                            FROM_CASES(int32, std::int32_t, bfloat16, bfloat16_t)
                                FROM_CASES(int32, std::int32_t, tf32, float)
                                    FROM_CASES(int16, std::int16_t, uchar, std::uint8_t)}

#define INTEGER_CASE(suffix, rounding, from, From, to, To)                    \
  expect_family<To, From>(#from "2" #to #suffix, Rounding::rounding, 0, 3, 1, \
                          [](auto* d, auto* s, auto n) { __bang_##from##2##to##suffix(d, s, n, 3, 1); });
#define INTEGER_CASES(...) MLUOPS_EMU_MODES(INTEGER_CASE, __VA_ARGS__)
TEST(Families, BetweenIntegers){
    INTEGER_CASES(int32, std::int32_t, int16, std::int16_t) INTEGER_CASES(int32, std::int32_t, int8, std::int8_t)
        INTEGER_CASES(int8, std::int8_t, int32, std::int32_t) INTEGER_CASES(short, std::int16_t, char, std::int8_t)}

#define SCALAR_CASE(suffix, rounding, from, From, to, To)                                                   \
  for (const From x : samples<From>()) {                                                                    \
    if (std::is_same_v<To, half> && std::fabs(number(x)) > 65000) continue;                                 \
    ASSERT_EQ(number(__##from##2##to##suffix(x)), kept<To>(number(x), Rounding::rounding, kPrecision_##to)) \
        << #from "2" #to #suffix;                                                                           \
  }
#define SCALAR_CASES(...) MLUOPS_EMU_MODES(SCALAR_CASE, __VA_ARGS__)
TEST(Families,
     OfOneNumber){SCALAR_CASES(float, float, half, half) SCALAR_CASES(float, float, int, std::int32_t)
                      SCALAR_CASES(half, half, short, std::int16_t) SCALAR_CASES(int, std::int32_t, float, float)
                          SCALAR_CASES(int, std::int32_t, half, half) SCALAR_CASES(short, std::int16_t, half, half)
                              SCALAR_CASES(tf32, float, bfloat16, bfloat16_t)}

TEST(Families, NumbersOfFourBits) {
  const std::vector<float> in = {-9, -8, -1, 0, 3, 7, 8, 2.5f};
  const auto packed = converted<std::uint8_t>(in, [](auto* d, auto* s, auto n) {
    __bang_write_value(d, n, std::uint8_t{0});
    __bang_float2int4_rn(reinterpret_cast<int4x2_t*>(d), s, n, 0);
  });
  const auto bits = [](int low, int high) { return static_cast<std::uint8_t>((low & 15) | (high & 15) << 4); };
  EXPECT_EQ((std::vector<std::uint8_t>(packed.begin(), packed.begin() + 4)),
            (std::vector<std::uint8_t>{bits(-8, -8), bits(-1, 0), bits(3, 7), bits(7, 2)}));
  const auto wide = converted<float>(std::vector<std::uint8_t>{bits(-8, 7), bits(1, -1)}, [](auto* d, auto* s, auto n) {
    __bang_int42float_tz(d, reinterpret_cast<const int4x2_t*>(s), n, 1);
  });
  EXPECT_EQ(wide, (std::vector<float>{-16, 14}));
}

TEST(Families, RowsAndOddArguments) {
  const std::vector<float> in = {1.5f, -2.5f, 99, 99, 3.25f, -4.75f, 99, 99};
  const auto rows = converted<half>(in, [](auto* d, auto* s, auto n) {
    __bang_write_value(d, n, half(0));
    __bang_float2half_dn(d, s, 2, 4, 16, 1);
  });
  for (const auto& [at, wanted] : {std::pair(0, 1.5f), {1, -2.5f}, {2, 3.25f}, {3, -4.75f}}) {
    EXPECT_EQ(static_cast<float>(rows[static_cast<std::size_t>(at)]), wanted);
  }
  const auto swapped = converted<bfloat16_t>(std::vector<std::int8_t>{-3, 5}, [](auto* d, auto* s, auto n) {
    __bang_int82bfloat16(d, s, 1, static_cast<int>(n));
  });
  EXPECT_EQ(static_cast<float>(swapped[0]), -6);
  EXPECT_EQ(static_cast<float>(swapped[1]), 10);
}

}  // namespace
}  // namespace mluops::emu::test
