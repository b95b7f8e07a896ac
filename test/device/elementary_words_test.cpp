// Lane-wise functions of one operand and their neighbours: each against a plain loop in double, rounded once.
#include <cmath>
#include <cstring>
#include <limits>

#include "test/device/rig.h"

namespace mluops::emu::test {
namespace {

constexpr std::int64_t kLanes = 300;
constexpr float kNan = std::numeric_limits<float>::quiet_NaN(), kInf = std::numeric_limits<float>::infinity();

template <class T>
std::vector<T> numbers(int step) {
  std::vector<T> v(kLanes);
  for (int i = 0; i < kLanes; ++i) v[static_cast<std::size_t>(i)] = T(static_cast<float>((i * step) % 97 - 48) / 4);
  if constexpr (!std::is_integral_v<T>) v[7] = kNan, v[11 * static_cast<std::size_t>(step)] = kInf;
  return v;
}

template <class T>
class Elementary : public testing::Test {
 protected:
  /// word(dst, a, b), also in place, must give T(meaning(a[i], b[i])).
  template <class W, class M>
  void check(W word, M meaning) {
    for (const bool in_place : {false, true}) {
      std::vector<T> a = numbers<T>(1), b = numbers<T>(5), out(kLanes);
      Rig rig;
      rig.tensor("a", a, Access::kRead).tensor("b", b, Access::kRead).tensor("out", out, Access::kWrite);
      EXPECT_EQ(rig.run([&](char* nram) {
        auto *x = reinterpret_cast<T*>(nram), *y = x + kLanes, *dst = in_place ? x : y + kLanes;
        __memcpy(x, a.data(), kLanes * sizeof(T), GDRAM2NRAM);
        __memcpy(y, b.data(), kLanes * sizeof(T), GDRAM2NRAM);
        word(dst, x, y);
        __memcpy(out.data(), dst, kLanes * sizeof(T), NRAM2GDRAM);
      }),
                "");
      for (std::size_t i = 0; i < kLanes; ++i) {
        const auto wanted = static_cast<double>(T(meaning(static_cast<double>(a[i]), static_cast<double>(b[i]))));
        const auto got = static_cast<double>(out[i]);
        ASSERT_TRUE(got == wanted || (got != got && wanted != wanted)) << i << ": " << got << " " << wanted;
      }
    }
  }
};

template <class T>
class ElementaryOfAll : public Elementary<T> {};
using All = testing::Types<half, float, std::int16_t, std::int32_t>;
TYPED_TEST_SUITE(ElementaryOfAll, All);
template <class T>
class ElementaryOfReal : public Elementary<T> {};
using Real = testing::Types<half, float>;
TYPED_TEST_SUITE(ElementaryOfReal, Real);

#define UNARY(word) [](auto* d, auto* x, auto*) { word(d, x, kLanes); }
#define BINARY(word) [](auto* d, auto* x, auto* y) { word(d, x, y, kLanes); }
#define MEANS(expression) []([[maybe_unused]] double x, [[maybe_unused]] double y) { return expression; }

TYPED_TEST(ElementaryOfReal, FunctionsOfOneOperand) {
  this->check(UNARY(__bang_active_abs), MEANS(std::fabs(x)));
  this->check(UNARY(__bang_square), MEANS(x * x));
  this->check(UNARY(__bang_sqrt), MEANS(std::sqrt(x)));
  this->check(UNARY(__bang_recip), MEANS(1 / x));
  this->check(UNARY(__bang_log2), MEANS(static_cast<float>(std::log2(x))));
  this->check(UNARY(__bang_log), MEANS(static_cast<float>(std::log2(x))));
  this->check(UNARY(__bang_pow2), MEANS(static_cast<float>(std::exp2(x))));
  this->check(UNARY(__bang_sin), MEANS(static_cast<float>(std::sin(x))));
  this->check(UNARY(__bang_cos), MEANS(static_cast<float>(std::cos(x))));
  this->check(UNARY(__bang_floor), MEANS(std::floor(x)));
}

#define AS_FLOAT(expression) MEANS(static_cast<float>(expression))
TYPED_TEST(ElementaryOfReal, Activations) {
  this->check(UNARY(__bang_active_exp), AS_FLOAT(x < -7.75 ? 5.96e-8 : std::exp(x)));
  constexpr bool kFloat = std::is_same_v<TypeParam, float>;
  this->check(UNARY(__bang_active_exphp),
              AS_FLOAT(x < (kFloat ? -15.5 : -7.75) ? (kFloat ? 3e-7 : 5.96e-8) : std::exp(x)));
  this->check(UNARY(__bang_active_exp_less_0), AS_FLOAT(x < -15.5 ? 5.96e-8 : std::exp(x)));
  this->check(UNARY(__bang_active_log), AS_FLOAT(std::log(x)));
  this->check(UNARY(__bang_active_loghp), AS_FLOAT(std::log(x)));
  this->check(UNARY(__bang_active_sqrt), AS_FLOAT(std::sqrt(x)));
  this->check(UNARY(__bang_active_sqrthp), AS_FLOAT(std::sqrt(x)));
  this->check(UNARY(__bang_rsqrt), AS_FLOAT(1 / std::sqrt(x)));
  this->check(UNARY(__bang_active_rsqrt), AS_FLOAT(1 / std::sqrt(x)));
  this->check(UNARY(__bang_active_rsqrthp), AS_FLOAT(1 / std::sqrt(x)));
  this->check(UNARY(__bang_active_recip), AS_FLOAT(1 / x));
  this->check(UNARY(__bang_active_reciphp), AS_FLOAT(1 / x));
  this->check(UNARY(__bang_active_recip_greater_1), AS_FLOAT(1 / x));
  this->check(UNARY(__bang_active_sigmoid), AS_FLOAT(x < -7.75 ? 0 : x > 7.75 ? 1 : 1 / (1 + std::exp(-x))));
  this->check(UNARY(__bang_active_tanh), AS_FLOAT(std::tanh(x)));
  this->check(UNARY(__bang_relu), MEANS(x < 0 ? 0 : x));
  this->check(UNARY(__bang_active_relu), MEANS(x < 0 ? 0 : x));
  this->check(UNARY(__bang_neg), MEANS(-x));
  this->check([](auto* d, auto* x, auto*) { __bang_relun(d, x, kLanes, 2.5f); }, MEANS(x < 0 ? 0 : x > 2.5 ? 2.5 : x));
  this->check(UNARY(__bang_active_sign), MEANS(x >= 0 ? 1 : x < 0 ? -1 : x));
  this->check(UNARY(__bang_active_pow2), AS_FLOAT(std::exp2(x)));
  this->check(UNARY(__bang_active_sin), AS_FLOAT(std::sin(x)));
  this->check(UNARY(__bang_active_cos), AS_FLOAT(std::cos(x)));
  // Not x * (1 + erf) / 2: that cancels where x is far below 0.
  this->check(UNARY(__bang_active_gelu),
              AS_FLOAT(x < -3.875 ? -5.96e-8 : x * 0.5 * std::erfc(-x * 0.70710678118654752440)));
  this->check(UNARY(__bang_active_gelup),
              AS_FLOAT(x < -3.875 ? -5.96e-8 : x * 0.5 * std::erfc(-x * 0.70710678118654752440)));
}

TYPED_TEST(ElementaryOfReal, QuotientsAndNans) {
  this->check(BINARY(__bang_div), MEANS(x / y));
  this->check([](auto* d, auto* x, auto* y) { __bang_div(d, x, y, d + 1024, kLanes); }, MEANS(x / y));
  this->check([](auto* d, auto* x, auto*) { __bang_div_scalar(d, x, 3, kLanes); }, MEANS(x / 3));
  this->check(BINARY(__bang_nan_maximum), MEANS(x != x || y != y ? kNan : x < y ? y : x));
  this->check(BINARY(__bang_nan_minimum), MEANS(x != x || y != y ? kNan : y < x ? y : x));
}

TYPED_TEST(ElementaryOfAll, MagnitudesAndExtremes) {
  this->check(UNARY(__bang_abs), MEANS(std::fabs(x)));
  this->check(BINARY(__bang_maximum), MEANS(std::fmax(x, y)));
  this->check(BINARY(__bang_minimum), MEANS(std::fmin(x, y)));
  this->check([](auto* d, auto* x, auto*) { __bang_maxeq_scalar(d, x, 3, kLanes); }, MEANS(x < 3 ? 3 : x));
  this->check([](auto* d, auto* x, auto*) { __bang_mineq_scalar(d, x, 3, kLanes); }, MEANS(3 < x ? 3 : x));
  this->check([](auto* d, auto* x, auto*) { __bang_maximum_scalar(d, x, 3, kLanes); }, MEANS(std::fmax(x, 3)));
  this->check([](auto* d, auto* x, auto*) { __bang_minimum_scalar(d, x, 3, kLanes); }, MEANS(std::fmin(x, 3)));
  this->check(BINARY(__bang_xor), MEANS((x != 0) != (y != 0)));
  this->check([](auto* d, auto* x, auto*) { __bang_add_const(d, x, 3, kLanes); }, MEANS(x + 3));
  this->check([](auto* d, auto* x, auto*) { __bang_sub_const(d, x, 3, kLanes); }, MEANS(x - 3));
  this->check([](auto* d, auto* x, auto*) { __bang_mul_const(d, x, 3, kLanes); }, MEANS(x * 3));
  this->check([](auto* d, auto* x, auto*) { __bang_ge_const(d, x, 3, kLanes); }, MEANS(x >= 3));
}

template <class T>
class TowardsZero : public testing::Test {};
using Rounded = testing::Types<half, bfloat16_t, float>;
TYPED_TEST_SUITE(TowardsZero, Rounded);

/// Sums rounded towards zero: what lies between the sum to nearest and its neighbour.
TYPED_TEST(TowardsZero, Cycles) {
  using T = TypeParam;
  std::vector<T> a, b;
  for (const float x : {1.0f, -1.0f, 8388608.0f, 3.1f, -3.1f, 65504.0f, 2048.0f, 1e-7f, 0.0f}) {
    for (const float y : {1e-9f, 0.3f, 65504.0f, 2049.0f, -0.7f, kInf, kNan, 2e9f})
      a.push_back(T(x)), b.push_back(T(y));
  }
  a.push_back(T(3e38f)), b.push_back(T(3e38f));  // too large: the largest number
  const auto n = static_cast<std::int64_t>(a.size()), bytes = n * static_cast<std::int64_t>(sizeof(T));
  for (const bool subtract : {false, true}) {
    std::vector<T> out(a.size());
    Rig rig;
    rig.tensor("a", a, Access::kRead).tensor("b", b, Access::kRead).tensor("out", out, Access::kWrite);
    EXPECT_EQ(rig.run([&](char* nram) {
      auto *x = reinterpret_cast<T*>(nram), *y = x + n;
      __memcpy(x, a.data(), bytes, GDRAM2NRAM);
      __memcpy(y, b.data(), bytes, GDRAM2NRAM);
      auto* z = y + n;
      subtract ? __bang_sub_tz(z, x, y, n) : __bang_add_tz(z, x, y, n);
      subtract ? __bang_cycle_sub_tz(x, x, y, n, n) : __bang_cycle_add_tz(x, x, y, n, n);
      EXPECT_EQ(std::memcmp(x, z, static_cast<std::size_t>(bytes)), 0);
      __memcpy(out.data(), x, bytes, NRAM2GDRAM);
    }),
              "");
    for (std::size_t i = 0; i < a.size(); ++i) {
      using Exact = long double;  // exact for these numbers: 64 bits hold what a float and a half may be apart
      const Exact other = static_cast<Exact>(static_cast<float>(b[i]));
      const Exact exact = static_cast<Exact>(static_cast<float>(a[i])) + (subtract ? -other : other);
      const auto got = static_cast<Exact>(static_cast<float>(out[i]));
      if (exact != exact || std::isinf(exact)) {
        EXPECT_TRUE(got == exact || (got != got && exact != exact)) << i;
        continue;
      }
      EXPECT_LE(std::fabs(got), std::fabs(exact)) << i;
      std::conditional_t<sizeof(T) == 2, std::uint16_t, std::uint32_t> bits;
      std::memcpy(&bits, &out[i], sizeof(bits));
      ++bits;  // the next number further out is beyond
      T outwards;
      std::memcpy(&outwards, &bits, sizeof(bits));
      EXPECT_GT(std::fabs(static_cast<Exact>(static_cast<float>(outwards))), std::fabs(exact)) << i;
    }
  }
}

/// A scan in place: the destination begins within a source, which is read as it was before the word.
TYPED_TEST(ElementaryOfAll, SourcesAreReadBeforeAnOverlappingDestination) {
  using T = TypeParam;
  for (const std::int64_t step : {1, 7, 256, 299}) {
    std::vector<T> in = numbers<T>(1), out(kLanes);
    in[7] = in[11] = T(3);
    Rig rig;
    rig.tensor("in", in, Access::kRead).tensor("out", out, Access::kWrite);
    EXPECT_EQ(rig.run([&](char* nram) {
      auto* x = reinterpret_cast<T*>(nram);
      __memcpy(x, in.data(), kLanes * sizeof(T), GDRAM2NRAM);
      __bang_add(x + step, x + step, x, kLanes - step);
      __bang_mul_scalar(x + step, x + step, 1, kLanes - step);
      __memcpy(out.data(), x, kLanes * sizeof(T), NRAM2GDRAM);
    }),
              "");
    for (std::int64_t i = 0; i < kLanes; ++i) {
      const T lane = in[static_cast<std::size_t>(i)];
      const T wanted = i < step ? lane : T(lane + in[static_cast<std::size_t>(i - step)]);
      ASSERT_EQ(static_cast<float>(out[static_cast<std::size_t>(i)]), static_cast<float>(wanted)) << i;
    }
  }
}

TYPED_TEST(ElementaryOfAll, Cycles) {
  const std::vector<TypeParam> b = numbers<TypeParam>(5);
  const auto check = [&](auto word, auto meaning) {
    std::int64_t i = 0;
    this->check(
        [=](auto* d, auto* x, auto* y) { word(d, x, y); },
        [&](double x, double) { return meaning(x, static_cast<double>(b[static_cast<std::size_t>(i++ % 60)])); });
  };
#define CYCLED(word, expression) \
  check([](auto* d, auto* x, auto* y) { word(d, x, y, kLanes, 60); }, [](double x, double y) { return expression; })
  CYCLED(__bang_cycle_and, x != 0 && y != 0);
  CYCLED(__bang_cycle_or, x != 0 || y != 0);
  CYCLED(__bang_cycle_xor, (x != 0) != (y != 0));
  CYCLED(__bang_cycle_eq, x == y);
  CYCLED(__bang_cycle_ne, x != y);
  CYCLED(__bang_cycle_gt, x > y);
  CYCLED(__bang_cycle_ge, x >= y);
  CYCLED(__bang_cycle_lt, x < y);
  CYCLED(__bang_cycle_le, x <= y);
  CYCLED(__bang_cycle_maxequal, x < y ? y : x);
  CYCLED(__bang_cycle_minequal, y < x ? y : x);
}

}  // namespace
}  // namespace mluops::emu::test
