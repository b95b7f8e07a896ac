// Each vector builtin against its meaning, lane by lane, in every type it has.
#include <cmath>
#include <limits>
#include <random>

#include "test/device/rig.h"

namespace mluops::emu::test {
namespace {

constexpr std::int64_t kLanes = 1344;  // several blocks and a part of one
constexpr float kInf = std::numeric_limits<float>::infinity();

/// Numbers with a few NaN, infinities, zeros and equal pairs among them.
template <class T>
std::vector<T> numbers(unsigned seed) {
  std::mt19937 random(seed);
  std::vector<T> v(kLanes);
  for (auto& x : v) {
    const int r = static_cast<int>(random() % 2000) - 1000;
    if constexpr (std::is_integral_v<T>) {
      x = static_cast<T>(r % 7 == 0 ? r % 2 : r * 97);
    } else {
      x = r % 31 == 0 ? T(NAN) : r % 37 == 0 ? T(kInf) : r % 7 == 0 ? T(r % 2) : T(static_cast<float>(r) / 64);
    }
  }
  return v;
}

template <class T>
void expect_same(T got, T wanted, std::int64_t lane) {
  if (static_cast<float>(wanted) != static_cast<float>(wanted)) {
    EXPECT_NE(static_cast<float>(got), static_cast<float>(got)) << "lane " << lane;
  } else {
    EXPECT_EQ(static_cast<double>(got), static_cast<double>(wanted)) << "lane " << lane;
  }
}

template <class T>
class Words : public testing::Test {
 protected:
  std::vector<T> a = numbers<T>(1), b = numbers<T>(2), out = std::vector<T>(kLanes);

  /// word(dst, a, b) in NRAM, then lane i must be meaning(a[i], b[i], i).
  template <class W, class M>
  void check(W word, M meaning) {
    Rig rig;
    rig.tensor("a", a, Access::kRead).tensor("b", b, Access::kRead).tensor("out", out, Access::kWrite);
    const std::int64_t bytes = kLanes * sizeof(T);
    EXPECT_EQ(rig.run([&](char* nram) {
      auto *x = reinterpret_cast<T*>(nram), *y = x + kLanes, *dst = y + kLanes;
      __memcpy(x, a.data(), bytes, GDRAM2NRAM);
      __memcpy(y, b.data(), bytes, GDRAM2NRAM);
      word(dst, x, y);
      __memcpy(out.data(), dst, bytes, NRAM2GDRAM);
    }),
              "");
    for (std::int64_t i = 0; i < kLanes; ++i) expect_same<T>(out[i], meaning(a[i], b[i], i), i);
    EXPECT_GE(rig.report().cores[0].vector_words, 1);
  }
};

template <class T>
struct Unsigned {
  using type = T;
};
template <>
struct Unsigned<std::int16_t> {
  using type = std::uint32_t;
};
template <>
struct Unsigned<std::int32_t> {
  using type = std::uint32_t;
};
template <class T>
using Wrap = typename Unsigned<T>::type;

template <class T>
class AllTypes : public Words<T> {};
using Every = testing::Types<half, float, char, std::int16_t, std::int32_t>;
TYPED_TEST_SUITE(AllTypes, Every);

template <class T>
class RealTypes : public Words<T> {};
using Real = testing::Types<half, float>;
TYPED_TEST_SUITE(RealTypes, Real);

#define WORD(name) [](auto* d, auto* x, auto* y) { name(d, x, y, kLanes); }
#define MEANS(expression) [](TypeParam x, [[maybe_unused]] TypeParam y, std::int64_t) { return TypeParam(expression); }

TYPED_TEST(AllTypes, Arithmetic) {
  using W = Wrap<TypeParam>;
  this->check(WORD(__bang_add), MEANS(W(x) + W(y)));
  this->check(WORD(__bang_sub), MEANS(W(x) - W(y)));
  this->check(WORD(__bang_mul), MEANS(W(x) * W(y)));
  this->check([](auto* d, auto* x, auto*) { __bang_add_scalar(d, x, 3, kLanes); }, MEANS(W(x) + W(3)));
  this->check([](auto* d, auto* x, auto*) { __bang_sub_scalar(d, x, 3, kLanes); }, MEANS(W(x) - W(3)));
  this->check([](auto* d, auto* x, auto*) { __bang_mul_scalar(d, x, 3, kLanes); }, MEANS(W(x) * W(3)));
}

// The first operand stays unless the second is really larger (smaller): NaN in the first stays, in the second loses.
TYPED_TEST(AllTypes, LargerAndSmaller) {
  this->check(WORD(__bang_maxequal), MEANS(x < y ? y : x));
  this->check(WORD(__bang_minequal), MEANS(y < x ? y : x));
}

TYPED_TEST(AllTypes, Comparisons) {
  this->check(WORD(__bang_eq), MEANS(x == y));
  this->check(WORD(__bang_ne), MEANS(x != y));
  this->check(WORD(__bang_lt), MEANS(x < y));
  this->check(WORD(__bang_le), MEANS(x <= y));
  this->check(WORD(__bang_gt), MEANS(x > y));
  this->check(WORD(__bang_ge), MEANS(x >= y));
  this->check([](auto* d, auto* x, auto*) { __bang_eq_scalar(d, x, 1, kLanes); }, MEANS(x == 1));
  this->check([](auto* d, auto* x, auto*) { __bang_ne_scalar(d, x, 1, kLanes); }, MEANS(x != 1));
  this->check([](auto* d, auto* x, auto*) { __bang_lt_scalar(d, x, 1, kLanes); }, MEANS(x < 1));
  this->check([](auto* d, auto* x, auto*) { __bang_le_scalar(d, x, 1, kLanes); }, MEANS(x <= 1));
  this->check([](auto* d, auto* x, auto*) { __bang_gt_scalar(d, x, 1, kLanes); }, MEANS(x > 1));
  this->check([](auto* d, auto* x, auto*) { __bang_ge_scalar(d, x, 1, kLanes); }, MEANS(x >= 1));
}

TYPED_TEST(AllTypes, Logic) {
  this->check(WORD(__bang_and), MEANS(x != 0 && y != 0));
  this->check(WORD(__bang_or), MEANS(x != 0 || y != 0));
  this->check([](auto* d, auto* x, auto*) { __bang_not(d, x, kLanes); }, MEANS(x == 0));
}

TYPED_TEST(AllTypes, FillAndMove) {
  const auto fill = [](auto* d, auto* x, auto*) {
    __memset_nram(x, kLanes, TypeParam(7));
    __bang_move(d, x, kLanes * static_cast<std::int64_t>(sizeof(TypeParam)));
  };
  this->check(fill, MEANS(x == x || x != x ? 7 : 0));
  this->check([](auto* d, auto*, auto*) { __bang_write_value(d, kLanes, TypeParam(9)); },
              MEANS(x == x || x != x ? 9 : 0));
  this->check([](auto* d, auto* x, auto*) { __bang_move(d, x, kLanes * sizeof(TypeParam)); }, MEANS(x));
}

TYPED_TEST(AllTypes, Transpose) {
  constexpr std::int64_t kHeight = 64 / sizeof(TypeParam), kWidth = kLanes / kHeight / kHeight * kHeight;
  const auto& rows = this->a;
  this->check(
      [](auto* d, auto* x, auto*) {
        __bang_move(d, x, kLanes * sizeof(TypeParam));
        __bang_transpose(d, x, kHeight, kWidth);
      },
      [&](TypeParam x, TypeParam, std::int64_t i) {
        return i < kHeight * kWidth ? rows[i % kHeight * kWidth + i / kHeight] : x;
      });
}

TYPED_TEST(RealTypes, Cycles) {
  const auto& cycle = this->b;
  const auto cycled = [&](std::int64_t i) { return cycle[i % 64]; };
  this->check([](auto* d, auto* x, auto* y) { __bang_cycle_add(d, x, y, kLanes, 64); },
              [&](TypeParam x, TypeParam, std::int64_t i) { return TypeParam(x + cycled(i)); });
  this->check([](auto* d, auto* x, auto* y) { __bang_cycle_sub(d, x, y, kLanes, 64); },
              [&](TypeParam x, TypeParam, std::int64_t i) { return TypeParam(x - cycled(i)); });
  this->check([](auto* d, auto* x, auto* y) { __bang_cycle_mul(d, x, y, kLanes, 64); },
              [&](TypeParam x, TypeParam, std::int64_t i) { return TypeParam(x * cycled(i)); });
}

TYPED_TEST(RealTypes, FusionRoundsOnce) {
  const TypeParam scale = 1.0f / 3;
  const auto fused = [=](TypeParam x, TypeParam y, std::int64_t) {
    if constexpr (std::is_same_v<TypeParam, float>) return std::fma(x, scale, y);
    return TypeParam(static_cast<double>(x) * static_cast<double>(scale) + static_cast<double>(y));
  };
  this->check([=](auto* d, auto* x, auto* y) { __bang_fusion(FUSION_FMA, d, x, scale, y, kLanes, kLanes); }, fused);
}

template <class T>
T fusion_on(const char* arch, T a, T scale, T c) {
  std::vector<T> out(64);
  Rig rig(arch);
  rig.tensor("out", out, Access::kWrite);
  EXPECT_EQ(rig.run([&](char* nram) {
    auto* x = reinterpret_cast<T*>(nram);
    __bang_write_value(x, 64, a);
    __bang_write_value(x + 64, 64, c);
    __bang_fusion(FUSION_FMA, x, x, scale, x + 64, 64, 64);
    __memcpy(out.data(), x, 64 * sizeof(T), NRAM2GDRAM);
  }),
            "");
  return out[0];
}

TEST(Fusion, The200SeriesRoundsTwice) {
  const float a = 1 + 0x1p-12f, scale = 1 - 0x1p-12f;  // product 1 - 2^-24
  EXPECT_EQ(fusion_on<float>("mtp_372", a, scale, -1.0f), -0x1p-24f);
  EXPECT_EQ(fusion_on<float>("mtp_270", a, scale, -1.0f), a * scale - 1.0f);
  const half h = 1 + 0x1p-10f, s = 1 - 0x1p-10f;
  EXPECT_EQ(static_cast<float>(fusion_on<half>("mtp_592", h, s, -1.0f)), -0x1p-20f);
  EXPECT_EQ(static_cast<float>(fusion_on<half>("mtp_220", h, s, -1.0f)), static_cast<float>(half(h * s) - 1));
}

// Halves of every size meet: sums far longer than a float is exact for, ties, subnormals, overflow.
TEST(Fusion, HalfRoundsOnceWhateverTheOperands) {
  std::mt19937 random(3);
  std::vector<half> a(kLanes), c(kLanes), out(kLanes);
  for (int round = 0; round < 100; ++round) {
    for (half* v : {a.data(), c.data()}) {
      for (std::int64_t i = 0; i < kLanes; ++i) v[i] = half::from_bits(static_cast<std::uint16_t>(random()));
    }
    const half scale = half::from_bits(static_cast<std::uint16_t>(random() & 0xbfff));
    Rig rig;
    rig.tensor("a", a, Access::kRead).tensor("c", c, Access::kRead).tensor("out", out, Access::kWrite);
    EXPECT_EQ(rig.run([&](char* nram) {
      auto *x = reinterpret_cast<half*>(nram), *y = x + kLanes;
      __memcpy(x, a.data(), kLanes * sizeof(half), GDRAM2NRAM);
      __memcpy(y, c.data(), kLanes * sizeof(half), GDRAM2NRAM);
      __bang_fusion(FUSION_FMA, x, x, scale, y, kLanes, kLanes);
      __memcpy(out.data(), x, kLanes * sizeof(half), NRAM2GDRAM);
    }),
              "");
    for (std::int64_t i = 0; i < kLanes; ++i) {
      const double exact = static_cast<double>(a[i]) * static_cast<double>(scale) + static_cast<double>(c[i]);
      expect_same<half>(out[i], half(exact), i);
    }
  }
}

// The fill's lane is its value's type, whatever the pointer says.
TEST(WriteValue, TheValueSelectsTheLane) {
  std::vector<std::int32_t> out(32);
  Rig rig;
  rig.tensor("out", out, Access::kWrite);
  EXPECT_EQ(rig.run([&](char* nram) {
    __bang_write_value(reinterpret_cast<half*>(nram), 32, std::int32_t{-5});
    __memcpy(out.data(), nram, 128, NRAM2GDRAM);
  }),
            "");
  EXPECT_EQ(out, std::vector<std::int32_t>(32, -5));
}

// Halves are asked for by a half: 0.0f writes over what lies behind them.
TEST(WriteValue, AFloatMakesFloatsOfHalves) {
  std::vector<std::uint16_t> out(64);
  Rig rig;
  rig.tensor("out", out, Access::kWrite);
  for (const bool floats : {false, true}) {
    EXPECT_EQ(rig.run([&](char* nram) {
      __bang_write_value(nram, 64, half(1.0f));
      auto* halves = reinterpret_cast<half*>(nram);
      floats ? __bang_write_value(halves, 32, 0.0f) : __bang_write_value(halves, 32, half(0.0f));
      __memcpy(out.data(), nram, 128, NRAM2GDRAM);
    }),
              "");
    EXPECT_EQ(out[31], 0);
    EXPECT_EQ(out[32], floats ? 0 : 0x3c00) << "the neighbour";
  }
}

TEST(NotModelled, AWordThatIsCalledIsNamed) {
  Rig rig;
  expect_fault(rig.run([](char* nram) { __bang_histogram(nram, nram, nram, 64); }), {"__bang_histogram"});
}

TEST(Bits, WorkOnEveryByte) {
  std::vector<std::uint8_t> a(256), b(256), out(256 * 4);
  for (int i = 0; i < 256; ++i) a[i] = static_cast<std::uint8_t>(i), b[i] = static_cast<std::uint8_t>(i * 77);
  Rig rig;
  rig.tensor("a", a, Access::kRead).tensor("b", b, Access::kRead).tensor("out", out, Access::kWrite);
  EXPECT_EQ(rig.run([&](char* nram) {
    __memcpy(nram, a.data(), 256, GDRAM2NRAM);
    __memcpy(nram + 256, b.data(), 256, GDRAM2NRAM);
    __bang_band(nram + 512, nram, nram + 256, 256);
    __bang_bor(nram + 768, nram, nram + 256, 256);
    __bang_bxor(nram + 1024, nram, nram + 256, 256);
    __bang_bnot(nram + 1280, nram, 256);
    __memcpy(out.data(), nram + 512, 1024, NRAM2GDRAM);
  }),
            "");
  for (int i = 0; i < 256; ++i) {
    EXPECT_EQ(out[i], a[i] & b[i]);
    EXPECT_EQ(out[256 + i], a[i] | b[i]);
    EXPECT_EQ(out[512 + i], a[i] ^ b[i]);
    EXPECT_EQ(out[768 + i], static_cast<std::uint8_t>(~a[i]));
  }
}

TEST(Bits, CountLanesOfTheirType) {
  std::vector<std::uint32_t> a(192, 0xffff0000u), out(192);
  Rig rig;
  rig.tensor("a", a, Access::kRead).tensor("out", out, Access::kWrite);
  EXPECT_EQ(rig.run([&](char* nram) {
    auto *x = reinterpret_cast<float*>(nram), *mask = x + 256;
    __memcpy(nram, a.data(), 768, GDRAM2NRAM);
    __bang_write_value(reinterpret_cast<std::uint32_t*>(mask), 64, 0x00ffff00u);
    __bang_band(x, x, mask, 64);
    __bang_cycle_band(x + 64, x + 64, mask, 128, 64);
    __memcpy(out.data(), nram, 768, NRAM2GDRAM);
  }),
            "");
  EXPECT_EQ(out, std::vector<std::uint32_t>(192, 0x00ff0000u));
}

/// Runs body on 2048 floats (or halves) of input and returns as many bytes of output.
template <class T, class Out, class Body>
std::vector<Out> compute(const std::vector<T>& in, std::size_t count, Body body) {
  std::vector<T> input = in;
  std::vector<Out> out(count);
  Rig rig;
  rig.tensor("in", input, Access::kRead).tensor("out", out, Access::kWrite);
  EXPECT_EQ(rig.run([&](char* nram) {
    auto* src = reinterpret_cast<T*>(nram);
    auto* dst = reinterpret_cast<Out*>(nram + 65536);
    __memcpy(src, input.data(), input.size() * sizeof(T), GDRAM2NRAM);
    body(dst, src);
    __memcpy(out.data(), dst, count * sizeof(Out), NRAM2GDRAM);
  }),
            "");
  return out;
}

TEST(Sumpool, AddsWindowsInRowOrder) {
  constexpr int kChannels = 64, kHeight = 3, kWidth = 4;
  std::vector<half> in(kChannels * kHeight * kWidth);
  std::mt19937 random(4);
  for (half& h : in) h = static_cast<float>(random() % 4096) / 64;
  const auto out = compute<half, half>(in, kChannels * 2 * 2, [&](half* dst, half* src) {
    __bang_sumpool(dst, src, kChannels, kHeight, kWidth, 2, 2, 2, 1);
  });
  for (int y = 0; y < 2; ++y)
    for (int x = 0; x < 2; ++x)
      for (int c = 0; c < kChannels; ++c) {
        const auto at = [&](int i, int j) { return in[((y + i) * kWidth + 2 * x + j) * kChannels + c]; };
        const half sum = half(half(at(0, 0) + at(0, 1)) + at(1, 0)) + at(1, 1);
        EXPECT_EQ(out[(y * 2 + x) * kChannels + c].bits, sum.bits) << y << " " << x << " " << c;
      }
}

TEST(Sumpool, WorksInPlace) {
  std::vector<float> in(32 * 5);
  for (std::size_t i = 0; i < in.size(); ++i) in[i] = static_cast<float>(i);
  const auto out = compute<float, float>(in, 32, [](float* dst, float* src) {
    __bang_sumpool(src, src, 32, 5, 1, 5, 1, 1, 1);
    __bang_move(dst, src, 128);
  });
  for (int c = 0; c < 32; ++c) EXPECT_EQ(out[c], 5 * c + 32 * 10);
}

TEST(Sum, IsSequentialInTheLanesType) {
  std::vector<half> in(64, half(1.0f));
  in[0] = 2048.0f;  // 2048 + 1 rounds back to 2048 in half, every time
  float got = 0;
  compute<half, half>(in, 32, [&](half* dst, half* src) {
    got = __bang_sum(src, 64);
    __bang_move(dst, src, 64);
  });
  EXPECT_EQ(got, 2048.0f);
}

TEST(Lut, LooksUp) {
  std::vector<std::int32_t> in(128);
  for (int i = 0; i < 64; ++i) in[i] = 63 - i, in[64 + i] = i * i;
  const auto out = compute<std::int32_t, std::int32_t>(
      in, 64, [](std::int32_t* dst, std::int32_t* src) { __bang_lut(dst, src, src + 64, 64, 64); });
  for (int i = 0; i < 64; ++i) EXPECT_EQ(out[i], (63 - i) * (63 - i));
}

constexpr std::int32_t kMin = std::numeric_limits<std::int32_t>::min();
constexpr std::int32_t kMax = std::numeric_limits<std::int32_t>::max();

TEST(Convert, FloatsToIntegers) {
  std::vector<float> in(64);
  const std::vector<float> first = {1.5f, -1.5f, -0.25f, NAN, kInf, -kInf, 3e9f, -3e9f};
  std::copy(first.begin(), first.end(), in.begin());
  const auto down = compute<float, std::int32_t>(in, 64, [](auto* d, float* s) { __bang_float2int32_dn(d, s, 64, 0); });
  EXPECT_EQ(std::vector<std::int32_t>(down.begin(), down.begin() + 8),
            (std::vector<std::int32_t>{1, -2, -1, kMax, kMax, kMin, kMax, kMin}));
  const auto cut = compute<float, std::int32_t>(in, 64, [](auto* d, float* s) { __bang_float2int32(d, s, 64, 0); });
  EXPECT_EQ(std::vector<std::int32_t>(cut.begin(), cut.begin() + 3), (std::vector<std::int32_t>{1, -1, 0}));
  const auto small =
      compute<float, std::int16_t>(in, 64, [](auto* d, float* s) { __bang_float2int16_dn(d, s, 64, 0); });
  EXPECT_EQ(std::vector<std::int16_t>(small.begin(), small.begin() + 7),
            (std::vector<std::int16_t>{1, -2, -1, 32767, 32767, -32768, 32767}));
}

TEST(Convert, BetweenHalfFloatAndIntegers) {
  std::vector<std::int32_t> in(64);
  for (int i = 0; i < 64; ++i) in[i] = (i - 32) * 3001;
  const auto as_float = compute<std::int32_t, float>(in, 64, [](auto* d, auto* s) { __bang_int322float(d, s, 64, 0); });
  const auto as_short =
      compute<std::int32_t, std::int16_t>(in, 64, [](auto* d, auto* s) { __bang_int322int16(d, s, 64, 0, 0); });
  const auto as_half = compute<float, half>(as_float, 64, [](auto* d, auto* s) { __bang_float2half_rn(d, s, 64); });
  const auto back = compute<half, float>(as_half, 64, [](auto* d, auto* s) { __bang_half2float(d, s, 64); });
  const auto floor =
      compute<half, std::int32_t>(as_half, 64, [](auto* d, auto* s) { __bang_half2int32_dn(d, s, 64, 0); });
  for (int i = 0; i < 64; ++i) {
    EXPECT_EQ(as_float[i], static_cast<float>(in[i]));
    EXPECT_EQ(as_short[i], std::clamp(in[i], -32768, 32767));
    EXPECT_EQ(as_half[i].bits, half(in[i]).bits);
    EXPECT_EQ(back[i], static_cast<float>(as_half[i]));
    const bool finite = std::isfinite(back[i]);
    EXPECT_EQ(floor[i], finite ? static_cast<std::int32_t>(std::floor(back[i])) : back[i] > 0 ? kMax : kMin);
  }
}

TEST(Convert, WideningWorksFromTheFrontOfItsTarget) {
  std::vector<half> in(512);
  for (int i = 0; i < 512; ++i) in[i] = i;
  const auto out = compute<half, float>(in, 512, [](float* d, half* s) {
    __bang_move(d, s, 1024);
    __bang_half2float(d, reinterpret_cast<half*>(d), 512);
  });
  for (int i = 0; i < 512; ++i) EXPECT_EQ(out[i], static_cast<float>(i));
}

/// A conversion in place whose sides lie `to` and `from` bytes into the same buffer: all sources count as read first.
template <class From, class To, class W>
void expect_in_place(W word, std::int64_t to, std::int64_t from) {
  std::vector<From> in(kLanes);
  for (std::int64_t i = 0; i < kLanes; ++i) in[i] = static_cast<From>(static_cast<float>(i));
  std::vector<To> out(kLanes);
  Rig rig;
  rig.tensor("in", in, Access::kRead).tensor("out", out, Access::kWrite);
  EXPECT_EQ(rig.run([&](char* nram) {
    __memcpy(nram + from, in.data(), kLanes * sizeof(From), GDRAM2NRAM);
    word(reinterpret_cast<To*>(nram + to), reinterpret_cast<From*>(nram + from));
    __memcpy(out.data(), nram + to, kLanes * sizeof(To), NRAM2GDRAM);
  }),
            "");
  for (std::int64_t i = 0; i < kLanes; ++i) ASSERT_EQ(static_cast<float>(out[i]), static_cast<float>(i)) << to << from;
}

TEST(Convert, SourcesAreReadFirstHoweverTheSidesOverlap) {
  for (const std::int64_t shift : std::vector<std::int64_t>{0, 64, 512, kLanes, kLanes * 2}) {
    for (const auto& [to, from] : {std::pair(std::int64_t{0}, shift), std::pair(shift, std::int64_t{0})}) {
      expect_in_place<half, float>([](auto* d, auto* s) { __bang_half2float(d, s, kLanes); }, to, from);
      expect_in_place<float, half>([](auto* d, auto* s) { __bang_float2half_rn(d, s, kLanes); }, to, from);
      expect_in_place<half, std::int32_t>([](auto* d, auto* s) { __bang_half2int32_rd(d, s, kLanes, 0); }, to, from);
      expect_in_place<half, std::int16_t>([](auto* d, auto* s) { __bang_half2int16_rd(d, s, kLanes, 0); }, to, from);
      expect_in_place<float, std::int32_t>([](auto* d, auto* s) { __bang_float2int32_rd(d, s, kLanes, 0); }, to, from);
      expect_in_place<std::int32_t, float>([](auto* d, auto* s) { __bang_int322float(d, s, kLanes, 0); }, to, from);
    }
  }
}

// Tasks add in increasing order, every partial sum rounded in the tensor's own type.
TEST(Atomic, RoundsEverySumInHalf) {
  std::vector<half> sum(3, half(0.0f));
  Rig rig;
  rig.dims(8).tensor("sum", sum, Access::kReadWrite);
  EXPECT_EQ(rig.run([&](char* nram) {
    __bang_write_value(nram, 32, half(taskId == 0 ? 2048.0f : 1.0f));
    __bang_atomic_reduce_add(sum.data(), reinterpret_cast<half*>(nram), 3);
    __bang_atomic_reduce_add(sum.data() + 1, half(taskId == 7 ? 4.0f : 0.0f));
  }),
            "");
  EXPECT_EQ(static_cast<float>(sum[0]), 2048.0f);
  EXPECT_EQ(static_cast<float>(sum[1]), 2052.0f);
  EXPECT_EQ(rig.report().cores[0].atomics, 2);
}

}  // namespace
}  // namespace mluops::emu::test
