// Lane-wise functions of one operand and their neighbours: each against a plain loop in double, rounded once.
#include <cmath>
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
  this->check(UNARY(__bang_active_reciphp), MEANS(1 / x));
  this->check(UNARY(__bang_active_exphp), MEANS(static_cast<float>(std::exp(x))));
  this->check(UNARY(__bang_log2), MEANS(static_cast<float>(std::log2(x))));
  this->check(UNARY(__bang_pow2), MEANS(static_cast<float>(std::exp2(x))));
  this->check(UNARY(__bang_sin), MEANS(static_cast<float>(std::sin(x))));
  this->check(UNARY(__bang_cos), MEANS(static_cast<float>(std::cos(x))));
  this->check(UNARY(__bang_floor), MEANS(std::floor(x)));
}

TYPED_TEST(ElementaryOfReal, QuotientsAndNans) {
  this->check(BINARY(__bang_div), MEANS(x / y));
  this->check(BINARY(__bang_nan_maximum), MEANS(x != x || y != y ? kNan : x < y ? y : x));
  this->check(BINARY(__bang_nan_minimum), MEANS(x != x || y != y ? kNan : y < x ? y : x));
}

TYPED_TEST(ElementaryOfAll, MagnitudesAndExtremes) {
  this->check(UNARY(__bang_abs), MEANS(std::fabs(x)));
  this->check(BINARY(__bang_maximum), MEANS(std::fmax(x, y)));
  this->check(BINARY(__bang_minimum), MEANS(std::fmin(x, y)));
  this->check([](auto* d, auto* x, auto*) { __bang_maxeq_scalar(d, x, 3, kLanes); }, MEANS(x < 3 ? 3 : x));
  this->check([](auto* d, auto* x, auto*) { __bang_mineq_scalar(d, x, 3, kLanes); }, MEANS(3 < x ? 3 : x));
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
  CYCLED(__bang_cycle_eq, x == y);
  CYCLED(__bang_cycle_lt, x < y);
  CYCLED(__bang_cycle_le, x <= y);
  CYCLED(__bang_cycle_maxequal, x < y ? y : x);
  CYCLED(__bang_cycle_minequal, y < x ? y : x);
}

}  // namespace
}  // namespace mluops::emu::test
