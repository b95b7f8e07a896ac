// Builtins of integer lanes and comparisons that hold with NaN: vector, scalar and cycled forms, against plain numbers.
#include <bit>
#include <cmath>
#include <limits>

#include "test/device/rig.h"

namespace mluops::emu::test {
namespace {

template <class T>
std::vector<T> edges() {
  const T low = std::numeric_limits<T>::lowest(), high = std::numeric_limits<T>::max();
  return {low, high, T(0), T(1), static_cast<T>(high - T(3)), T(5), static_cast<T>(low + T(2)), T(77)};
}

/// What a builtin makes of a, with b beside it.
template <class D, class T, class Word>
std::vector<D> made(const std::vector<T>& a, const std::vector<T>& b, Word word) {
  std::vector<T> first = a, second = b;
  std::vector<D> out(a.size());
  const auto bytes = static_cast<std::int64_t>(a.size() * sizeof(T)), n = static_cast<std::int64_t>(a.size());
  Rig rig("mtp_592");
  rig.tensor("a", first, Access::kRead).tensor("b", second, Access::kRead).tensor("out", out, Access::kWrite);
  EXPECT_EQ(rig.run([&](char* nram) {
    T *x = reinterpret_cast<T*>(nram), *y = reinterpret_cast<T*>(nram + 1024);
    D* to = reinterpret_cast<D*>(nram + 2048);
    __memcpy(x, first.data(), bytes, GDRAM2NRAM);
    __memcpy(y, second.data(), bytes, GDRAM2NRAM);
    word(to, x, y, n);
    __memcpy(out.data(), to, n * static_cast<std::int64_t>(sizeof(D)), NRAM2GDRAM);
  }),
            "");
  return out;
}

template <class D, class T, class Word, class Meaning>
void expect_pairs(const char* name, Word word, Meaning meaning) {
  const std::vector<T> a = edges<T>();
  std::vector<T> b(a.rbegin(), a.rend());
  const auto got = made<D>(a, b, word);
  for (std::size_t i = 0; i < a.size(); ++i) {
    EXPECT_EQ(static_cast<std::int64_t>(got[i]), static_cast<std::int64_t>(meaning(a[i], b[i]))) << name << " " << i;
  }
}
template <class T>
T clipped(std::int64_t x) {
  const std::int64_t low = std::numeric_limits<T>::min(), high = std::numeric_limits<T>::max();
  return static_cast<T>(std::clamp(x, low, high));
}

template <class T>
class Integers : public testing::Test {};
using IntegerTypes =
    testing::Types<char, std::int8_t, std::uint8_t, std::int16_t, std::uint16_t, std::int32_t, std::uint32_t>;
TYPED_TEST_SUITE(Integers, IntegerTypes);

#define FORMS(name, expression)                                                                        \
  expect_pairs<T, T>(                                                                                  \
      #name, [](auto* d, auto* x, auto* y, auto n) { __bang_##name(d, x, y, n); },                     \
      [](std::int64_t x, std::int64_t y) { return expression; });                                      \
  expect_pairs<T, T>(                                                                                  \
      #name "_scalar", [](auto* d, auto* x, auto*, auto n) { __bang_##name##_scalar(d, x, T(6), n); }, \
      [](std::int64_t x, std::int64_t) {                                                               \
        const std::int64_t y = 6;                                                                      \
        return expression;                                                                             \
      });                                                                                              \
  expect_pairs<T, T>(                                                                                  \
      "cycle_" #name, [](auto* d, auto* x, auto* y, auto n) { __bang_cycle_##name(d, x, y, n, n); },   \
      [](std::int64_t x, std::int64_t y) { return expression; });

TYPED_TEST(Integers, StopAtTheEndsOrKeepTheUpperHalf) {
  using T = TypeParam;
  constexpr int kBits = 8 * sizeof(T);
  FORMS(adds, clipped<T>(x + y))
  FORMS(subs, clipped<T>(x - y))
  FORMS(mulh, static_cast<T>(std::is_signed_v<T>
                                 ? x * y >> kBits
                                 : static_cast<std::int64_t>(
                                       (static_cast<std::uint64_t>(x) * static_cast<std::uint64_t>(y)) >> kBits)))
}

#define SHIFTED(name, expression)                                                \
  expect_pairs<T, T>(                                                            \
      #name, [](auto* d, auto* x, auto*, auto n) { __bang_##name(d, x, 3, n); }, \
      [](T x, T) { return static_cast<T>(expression); });

TYPED_TEST(Integers, ShiftTurnAndCount) {
  using T = TypeParam;
  using U = std::make_unsigned_t<T>;
  using S = std::make_signed_t<T>;
  SHIFTED(srl, static_cast<U>(x) >> 3)
  SHIFTED(sll, static_cast<std::uint32_t>(x) << 3)
  SHIFTED(sra, static_cast<S>(x) >> 3)
  SHIFTED(rol, std::rotl(static_cast<U>(x), 3))
  SHIFTED(ror, std::rotr(static_cast<U>(x), 3))
  expect_pairs<T, T>(
      "nsa", [](auto* d, auto* x, auto*, auto n) { __bang_nsa(d, x, n); },
      [](T x, T) {
        const auto bits = static_cast<U>(std::is_signed_v<T> && x < T(0) ? ~x : x);
        return std::countl_zero(bits) - (std::is_signed_v<T> ? 1 : 0);
      });
  expect_pairs<T, T>(
      "band_scalar", [](auto* d, auto* x, auto*, auto n) { __bang_band_scalar(d, x, T(13), n); },
      [](T x, T) { return static_cast<T>(x & T(13)); });
  expect_pairs<T, T>(
      "bor_scalar", [](auto* d, auto* x, auto*, auto n) { __bang_bor_scalar(d, x, T(13), n); },
      [](T x, T) { return static_cast<T>(x | T(13)); });
  expect_pairs<T, T>(
      "bxor_scalar", [](auto* d, auto* x, auto*, auto n) { __bang_bxor_scalar(d, x, T(13), n); },
      [](T x, T) { return static_cast<T>(x ^ T(13)); });
  expect_pairs<T, T>(
      "and_scalar", [](auto* d, auto* x, auto*, auto n) { __bang_and_scalar(d, x, T(2), n); },
      [](T x, T) { return x != T(0); });
  expect_pairs<T, T>(
      "xor_scalar", [](auto* d, auto* x, auto*, auto n) { __bang_xor_scalar(d, x, T(2), n); },
      [](T x, T) { return x == T(0); });
}

TEST(WideProducts, AreWhole) {
  const auto product = [](std::int64_t x, std::int64_t y) { return x * y; };
  const auto vector = [](auto* d, auto* x, auto* y, auto n) { __bang_muls(d, x, y, n); };
  expect_pairs<std::int16_t, std::int8_t>("muls", vector, product);
  expect_pairs<std::uint32_t, std::uint16_t>("muls", vector, product);
  expect_pairs<std::int32_t, std::int16_t>(
      "muls_scalar", [](auto* d, auto* x, auto*, auto n) { __bang_muls_scalar(d, x, -7, n); },
      [](std::int64_t x, std::int64_t) { return -7 * x; });
  expect_pairs<std::int32_t, std::int16_t>(
      "cycle_muls", [](auto* d, auto* x, auto* y, auto n) { __bang_cycle_muls(d, x, y, n, n); }, product);
}

TEST(WideProducts, SquaresAreWhole) {
  const auto square = [](auto* d, auto* x, auto*, auto n) { __bang_square(d, x, n); };
  const auto meaning = [](std::int64_t x, std::int64_t) { return x * x; };
  expect_pairs<std::int16_t, char>("square", square, meaning);
  expect_pairs<std::uint16_t, std::uint8_t>("square", square, meaning);
  expect_pairs<std::int32_t, std::int16_t>("square", square, meaning);
  expect_pairs<std::uint32_t, std::uint16_t>("square", square, meaning);
}

template <class T>
class Quotients : public testing::Test {};
using WholeTypes = testing::Types<std::int16_t, std::uint16_t, std::int32_t, std::uint32_t>;
TYPED_TEST_SUITE(Quotients, WholeTypes);

TYPED_TEST(Quotients, TowardsZeroWithTheSignOfTheFirst) {
  using T = TypeParam;
  const auto divisor = [](std::int64_t y) { return y == 0 ? 3 : y; };
  const auto with_divisor = [=](auto word) {
    return [=](auto* d, auto* x, auto* y, auto n) {
      for (std::int64_t i = 0; i < n; ++i) y[i] = static_cast<T>(divisor(y[i]));
      word(d, x, y, n);
    };
  };
  expect_pairs<T, T>("div", with_divisor([](auto* d, auto* x, auto* y, auto n) { __bang_div(d, x, y, n); }),
                     [=](std::int64_t x, std::int64_t y) { return static_cast<T>(x / divisor(y)); });
  expect_pairs<T, T>("rem", with_divisor([](auto* d, auto* x, auto* y, auto n) { __bang_rem(d, x, y, n); }),
                     [=](std::int64_t x, std::int64_t y) { return static_cast<T>(x % divisor(y)); });
  expect_pairs<T, T>(
      "div", [](auto* d, auto* x, auto*, auto n) { __bang_div(d, x, T(7), n); },
      [](std::int64_t x, std::int64_t) { return x / 7; });
  expect_pairs<T, T>(
      "rem", [](auto* d, auto* x, auto*, auto n) { __bang_rem(d, x, T(7), n); },
      [](std::int64_t x, std::int64_t) { return x % 7; });
}

template <class T>
class Clipped : public testing::Test {};
using SignedTypes = testing::Types<char, std::int8_t, std::int16_t, std::int32_t>;
TYPED_TEST_SUITE(Clipped, SignedTypes);

TYPED_TEST(Clipped, Relu) {
  using T = TypeParam;
  expect_pairs<T, T>(
      "relu", [](auto* d, auto* x, auto*, auto n) { __bang_relu(d, x, n); },
      [](std::int64_t x, std::int64_t) { return std::max<std::int64_t>(x, 0); });
  expect_pairs<T, T>(
      "relun", [](auto* d, auto* x, auto*, auto n) { __bang_relun(d, x, n, T(76)); },
      [](std::int64_t x, std::int64_t) { return std::clamp<std::int64_t>(x, 0, 76); });
}

TEST(Unordered, ComparisonsHoldWithNan) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const std::vector<float> a = {1, 2, 3, nan, 1, nan, 0, 5}, b = {2, 2, 1, 1, nan, nan, 0, 7};
  const auto expect = [&](const char* name, auto word, auto meaning) {
    const auto got = made<float>(a, b, word);
    for (std::size_t i = 0; i < a.size(); ++i) {
      const bool unordered = std::isnan(a[i]) || std::isnan(b[i]);
      EXPECT_EQ(got[i], unordered || meaning(a[i], b[i]) ? 1 : 0) << name << " " << i;
    }
  };
  expect(
      "equ", [](auto* d, auto* x, auto* y, auto n) { __bang_equ(d, x, y, n); },
      [](float x, float y) { return x == y; });
  expect(
      "neu", [](auto* d, auto* x, auto* y, auto n) { __bang_neu(d, x, y, n); },
      [](float x, float y) { return x != y; });
  expect(
      "ltu", [](auto* d, auto* x, auto* y, auto n) { __bang_ltu(d, x, y, n); }, [](float x, float y) { return x < y; });
  expect(
      "leu", [](auto* d, auto* x, auto* y, auto n) { __bang_cycle_leu(d, x, y, n, n); },
      [](float x, float y) { return x <= y; });
  expect(
      "gtu", [](auto* d, auto* x, auto* y, auto n) { __bang_gtu(d, x, y, n); }, [](float x, float y) { return x > y; });
  expect(
      "geu", [](auto* d, auto* x, auto* y, auto n) { __bang_geu(d, x, y, n); },
      [](float x, float y) { return x >= y; });
  std::uint8_t bits = 0;
  const auto packed = made<std::uint8_t>(a, b, [](std::uint8_t* d, auto* x, auto* y, auto n) {
    __bang_write_value(d, n, std::uint8_t{0});
    __bang_ltu_bitindex(reinterpret_cast<float*>(d), x, y, n);
  });
  for (unsigned i = 0; i < 8; ++i)
    bits |= static_cast<std::uint8_t>((a[i] < b[i] || a[i] != a[i] || b[i] != b[i]) << i);
  EXPECT_EQ(packed[0], bits);
}

TEST(Bits, OneOfThemAndHowMany) {
  const std::vector<std::uint32_t> a = {0, 1, 0xffffffffu, 8, 12, 3, 7, 255};
  const auto set = made<std::uint32_t>(a, a, [](auto* d, auto* x, auto*, auto n) { __bang_set1in32(d, x, 2, n); });
  const auto cleared = made<std::uint32_t>(a, a, [](auto* d, auto* x, auto*, auto n) { __bang_set0in32(d, x, 0, n); });
  int ones = 0;
  made<std::uint32_t>(a, a, [&](auto* d, auto* x, auto*, auto n) {
    ones = __bang_popcnt(x, n);
    __bang_write_zero(d, n);
  });
  int wanted = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    EXPECT_EQ(set[i], a[i] | 4u);
    EXPECT_EQ(cleared[i], a[i] & ~1u);
    wanted += std::popcount(a[i]);
  }
  EXPECT_EQ(ones, wanted);
  EXPECT_EQ(__popcnt(std::uint16_t{0x0ff1}), 9);
  const std::vector<float> x = {0.5f, 1.5f, 2.5f, -0.5f, -1.5f, 2.4f, -2.6f, 3};
  const auto round = made<float>(x, x, [](auto* d, auto* s, auto*, auto n) { __bang_round(d, s, n); });
  const auto even = made<float>(x, x, [](auto* d, auto* s, auto*, auto n) { __bang_nearbyint(d, s, n); });
  for (std::size_t i = 0; i < x.size(); ++i) {
    EXPECT_EQ(round[i], std::round(x[i]));
    EXPECT_EQ(even[i], std::nearbyint(x[i]));
  }
}

}  // namespace
}  // namespace mluops::emu::test
