#include "common/round.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace {

using mluops::round_half_away;

template <class T>
class Round : public testing::Test {};
using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(Round, Types);

TYPED_TEST(Round, HalvesGoAwayFromZeroAndTheirNeighboursToTheNearest) {
  using T = TypeParam;
  for (T whole = 0; whole < T{1 << 20}; whole = 3 * whole + 1) {
    const T half = whole + static_cast<T>(0.5);
    for (const T sign : {T{1}, T{-1}}) {
      EXPECT_EQ(round_half_away(sign * half), sign * (whole + 1)) << half;
      EXPECT_EQ(round_half_away(sign * std::nextafter(half, T{0})), sign * whole) << half;
      EXPECT_EQ(round_half_away(sign * std::nextafter(half, whole + 1)), sign * (whole + 1)) << half;
      EXPECT_EQ(round_half_away(sign * whole), sign * whole);
    }
  }
}

TYPED_TEST(Round, WholeNumbersWithoutFractionsStay) {
  using T = TypeParam;
  const T first = std::ldexp(T{1}, std::numeric_limits<T>::digits - 1);  // from here on every number is whole
  for (T x = first; std::isfinite(x); x *= 16) {
    EXPECT_EQ(round_half_away(x + 1), x + 1);
    EXPECT_EQ(round_half_away(-x - 1), -x - 1);
  }
  EXPECT_EQ(round_half_away(first / 2 + static_cast<T>(0.5)), first / 2 + 1) << "the last half";
}

TYPED_TEST(Round, SignsOfZeroInfinitiesAndNanStay) {
  using T = TypeParam;
  const T infinity = std::numeric_limits<T>::infinity();
  EXPECT_TRUE(std::signbit(round_half_away(static_cast<T>(-0.25))));
  EXPECT_FALSE(std::signbit(round_half_away(static_cast<T>(0.25))));
  EXPECT_EQ(round_half_away(infinity), infinity);
  EXPECT_EQ(round_half_away(-infinity), -infinity);
  EXPECT_TRUE(std::isnan(round_half_away(std::numeric_limits<T>::quiet_NaN())));
}

}  // namespace
