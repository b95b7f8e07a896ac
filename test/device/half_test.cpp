#include "backends/mlu_emu/bang/half.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <random>

#include "backends/mlu_emu/bang/lanes.h"

namespace mluops::emu::bang {
namespace {

/// Rounds to 11 significant bits by scaling: no bit trick in common with the code under test.
double round_to_half(double x) {
  if (x == 0 || !std::isfinite(x)) return x;
  int exponent;
  std::frexp(x, &exponent);
  const double unit = std::ldexp(1.0, std::max(exponent - 11, -24));
  const double rounded = std::nearbyint(x / unit) * unit;
  return std::abs(rounded) >= 65520 ? std::copysign(HUGE_VAL, x) : rounded;
}

TEST(Half, DoublesRoundOnce) {
  std::mt19937_64 random(1);
  std::uniform_real_distribution<double> exponent(-30, 17), mantissa(1, 2);
  for (int i = 0; i < 200000; ++i) {
    const double x = std::ldexp(mantissa(random), static_cast<int>(exponent(random))) * (i % 2 ? 1 : -1);
    ASSERT_EQ(static_cast<double>(half(x)), round_to_half(x)) << x;
  }
  // Just above and below the midpoint of two halves, closer than a float can tell.
  EXPECT_EQ(half(1 + 0x1p-11 + 0x1p-40).bits, half(1 + 0x1p-10).bits);
  EXPECT_EQ(half(1 + 0x1p-11).bits, half(1.0).bits);
  EXPECT_EQ(half(1 + 3 * 0x1p-11 - 0x1p-40).bits, half(1 + 0x1p-10).bits);
  EXPECT_EQ(half(-(1 + 0x1p-11 + 0x1p-40)).bits, half(-(1 + 0x1p-10)).bits);
  EXPECT_EQ(half(1e30).bits, 0x7c00);
  EXPECT_EQ(half(0x1p-60).bits, 0);
  EXPECT_TRUE(std::isnan(half(std::nan(""))));
}

TEST(Half, EveryOperationRoundsToNearestEven) {
  std::mt19937 random(2);
  for (int i = 0; i < 200000; ++i) {
    const half a = half::from_bits(static_cast<std::uint16_t>(random())), b = half::from_bits(random() & 0xffff);
    const auto x = static_cast<double>(a), y = static_cast<double>(b);
    if (!std::isfinite(x) || !std::isfinite(y) || y == 0) continue;
    ASSERT_EQ(static_cast<double>(a + b), round_to_half(x + y));
    ASSERT_EQ(static_cast<double>(a - b), round_to_half(x - y));
    ASSERT_EQ(static_cast<double>(a * b), round_to_half(x * y));
    ASSERT_EQ(static_cast<double>(a / b), round_to_half(x / y));
  }
}

TEST(Half, MixesWithNumbersAndConvertsBothWays) {
  half h = 1.5f;
  h += 1;
  h *= 2.0;
  EXPECT_EQ(h, 5.0f);
  float sum = 0x1p-12f;
  sum += half(1.0f);
  EXPECT_EQ(sum, 1.0f + 0x1p-12f) << "a float that a half is added to stays a float";
  int whole = 7;
  whole *= half(0.5f);
  EXPECT_EQ(whole, 3);
  static_assert(std::is_same_v<decltype(h + 1.0f), half>);
  static_assert(std::is_same_v<decltype(2 / h), half>);
  static_assert(std::is_same_v<decltype(h > 0 ? 0 : h), half>);
  const auto truncated = static_cast<int>(half(2.75f));
  EXPECT_EQ(truncated, 2);
  EXPECT_EQ(half(2049) - 2048, 0.0f) << "the operand is rounded when it becomes a half";
  EXPECT_EQ(static_cast<float>(half(1.0f) + 0x1p-12f), 1.0f);
  EXPECT_TRUE(half(1) < 2 && -half(3) < half(1) && half(0.5f) == 0.5f);
  EXPECT_EQ(half(70000).bits, 0x7c00);
}

// The vectorised conversions and those of one value agree, at every length.
TEST(Half, BlocksConvertLikeSingleValues) {
  std::vector<half> all(65536);
  std::vector<float> wide(65536);
  for (std::uint32_t i = 0; i < 65536; ++i) all[i].bits = static_cast<std::uint16_t>(i);
  widen(all.data(), wide.data(), 65536);
  for (std::uint32_t i = 0; i < 65536; ++i) {
    const float expected = all[i];
    if (std::isnan(expected)) {
      ASSERT_TRUE(std::isnan(wide[i]));
    } else {
      ASSERT_EQ(std::bit_cast<std::uint32_t>(wide[i]), std::bit_cast<std::uint32_t>(expected));
    }
  }
  std::mt19937 random(3);
  for (std::int64_t n = 0; n < 40; ++n) {
    std::vector<float> from(n);
    for (float& f : from) f = std::bit_cast<float>(static_cast<std::uint32_t>(random()));
    std::vector<half> to(n);
    narrow(from.data(), to.data(), n);
    for (std::int64_t i = 0; i < n; ++i) ASSERT_EQ(to[i].bits, half(from[i]).bits) << from[i];
  }
}

}  // namespace
}  // namespace mluops::emu::bang
