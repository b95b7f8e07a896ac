#include "common/half.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>

namespace {

using mluops::float_to_half;
using mluops::half_to_float;

TEST(Half, EveryBitPatternSurvivesTheRoundTrip) {
  for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
    const float value = half_to_float(static_cast<std::uint16_t>(bits));
    if (std::isnan(value)) {
      EXPECT_TRUE(std::isnan(half_to_float(float_to_half(value))));
    } else {
      EXPECT_EQ(float_to_half(value), bits) << value;
    }
  }
}

TEST(Half, ValuesAreThoseOfTheFormat) {
  EXPECT_EQ(half_to_float(0x3c00), 1.0f);
  EXPECT_EQ(half_to_float(0x0001), 0x1p-24f);
  EXPECT_EQ(half_to_float(0x03ff), 1023 * 0x1p-24f);
  EXPECT_EQ(half_to_float(0xfbff), -65504.0f);
  EXPECT_EQ(half_to_float(0x7c00), std::numeric_limits<float>::infinity());
}

// Between two neighbours the midpoint goes to the even one, anything else to the nearer one.
TEST(Half, RoundsToNearestEven) {
  for (std::uint32_t bits = 0; bits < 0x7bff; ++bits) {
    const double low = half_to_float(static_cast<std::uint16_t>(bits));
    const double high = half_to_float(static_cast<std::uint16_t>(bits + 1));
    const float middle = static_cast<float>((low + high) / 2);
    EXPECT_EQ(float_to_half(middle), bits + (bits & 1)) << middle;
    EXPECT_EQ(float_to_half(std::nextafter(middle, 0.0f)), bits) << middle;
    EXPECT_EQ(float_to_half(std::nextafter(middle, 1e9f)), bits + 1) << middle;
  }
  EXPECT_EQ(float_to_half(65519.996f), 0x7bff);
  EXPECT_EQ(float_to_half(65520.0f), 0x7c00);
}

TEST(Bfloat16, RoundsToNearestEvenAndKeepsNan) {
  EXPECT_EQ(mluops::float_to_bfloat16(1.0f), 0x3f80);
  EXPECT_EQ(mluops::float_to_bfloat16(std::bit_cast<float>(0x3f808000u)), 0x3f80);
  EXPECT_EQ(mluops::float_to_bfloat16(std::bit_cast<float>(0x3f818000u)), 0x3f82);
  EXPECT_TRUE(std::isnan(mluops::bfloat16_to_float(mluops::float_to_bfloat16(std::nanf("")))));
  EXPECT_TRUE(std::isnan(mluops::bfloat16_to_float(mluops::float_to_bfloat16(std::bit_cast<float>(0x7f800001u)))));
}

}  // namespace
