// Two operations in one word, bit masks, and words with a scalar operand: each against a plain loop.
#include <cmath>
#include <numeric>

#include "test/device/rig.h"

namespace mluops::emu::test {
namespace {

constexpr std::int64_t kLanes = 120, kCycle = 40;

template <class T>
std::vector<T> numbers(int step) {
  std::vector<T> v(kLanes);
  for (int i = 0; i < kLanes; ++i) v[static_cast<std::size_t>(i)] = T(static_cast<float>(i * step % 61 - 30));
  return v;
}

/// word(dst, a, b) in NRAM on the two vectors; the lanes of dst.
template <class T, class W>
std::vector<T> on_device(W word) {
  std::vector<T> a = numbers<T>(3), b = numbers<T>(7), out(kLanes);
  Rig rig("mtp_592");
  rig.tensor("a", a, Access::kRead).tensor("b", b, Access::kRead).tensor("out", out, Access::kWrite);
  EXPECT_EQ(rig.run([&](char* nram) {
    auto *x = reinterpret_cast<T*>(nram), *y = x + kLanes, *dst = y + kLanes;
    __memcpy(x, a.data(), kLanes * sizeof(T), GDRAM2NRAM);
    __memcpy(y, b.data(), kLanes * sizeof(T), GDRAM2NRAM);
    __bang_write_value(dst, kLanes, T(0));
    word(dst, x, y);
    __memcpy(out.data(), dst, kLanes * sizeof(T), NRAM2GDRAM);
  }),
            "");
  return out;
}

template <class T>
class Fusion : public testing::Test {
 protected:
  template <class M>
  void check(mluFusionOpCode mode, M meaning) {
    const std::vector<T> a = numbers<T>(3), b = numbers<T>(7);
    const auto vectors = on_device<T>([&](T* d, T* x, T* y) { __bang_fusion(mode, d, x, y, y, kLanes, kCycle); });
    const auto scalars = on_device<T>([&](T* d, T* x, T*) { __bang_fusion(mode, d, x, T(3), T(-5), kLanes); });
    const auto mixed = on_device<T>([&](T* d, T* x, T* y) { __bang_fusion(mode, d, x, y, T(2), kLanes, kLanes); });
    for (std::size_t i = 0; i < kLanes; ++i) {
      const auto x = static_cast<double>(a[i]), y = static_cast<double>(b[i % kCycle]);
      ASSERT_EQ(static_cast<double>(vectors[i]), meaning(x, y, y)) << i;
      ASSERT_EQ(static_cast<double>(scalars[i]), meaning(x, 3, -5)) << i;
      ASSERT_EQ(static_cast<double>(mixed[i]), meaning(x, static_cast<double>(b[i]), 2)) << i;
    }
  }
};
using Types = testing::Types<half, float, std::int32_t>;
TYPED_TEST_SUITE(Fusion, Types);

TYPED_TEST(Fusion, EachModeMeansItsLetters) {
  this->check(FUSION_FMA, [](double a, double b, double c) { return a * b + c; });
  this->check(FUSION_FMS, [](double a, double b, double c) { return a * b - c; });
  this->check(FUSION_FAA, [](double a, double b, double c) { return a + b + c; });
  this->check(FUSION_FAS, [](double a, double b, double c) { return a + b - c; });
  this->check(FUSION_FSA, [](double a, double b, double c) { return a - b + c; });
  this->check(FUSION_FSS, [](double a, double b, double c) { return a - b - c; });
}

TEST(FusionRounding, ProductsOfSumsInFloat) {
  const std::vector<float> a = numbers<float>(3), b = numbers<float>(7);
  const auto fam =
      on_device<float>([](float* d, float* x, float* y) { __bang_fusion(FUSION_FAM, d, x, y, 0.1f, kLanes); });
  const auto fsm =
      on_device<float>([](float* d, float* x, float* y) { __bang_fusion(FUSION_FSM, d, x, y, 0.1f, kLanes); });
  for (std::size_t i = 0; i < kLanes; ++i) {
    EXPECT_EQ(fam[i], (a[i] + b[i]) * 0.1f);
    EXPECT_EQ(fsm[i], (a[i] - b[i]) * 0.1f);
  }
}

TEST(FusionRounding, OnceForAMultiplyAdd) {
  const auto got = on_device<float>([](float* d, float* x, float* y) {
    __bang_fusion(FUSION_FMA, d, x, 0.1f, y, kLanes);
    __bang_fusion(FUSION_FMS, d + 60, x + 60, y + 60, 0.3f, 60);
  });
  const std::vector<float> a = numbers<float>(3), b = numbers<float>(7);
  for (std::size_t i = 0; i < 60; ++i) {
    EXPECT_EQ(got[i], std::fma(a[i], 0.1f, b[i]));
    EXPECT_EQ(got[60 + i], std::fma(a[60 + i], b[60 + i], -0.3f));
  }
}

TEST(Scalars, DivideRemainAndShift) {
  const std::vector<float> a = numbers<float>(3);
  const auto quotient = on_device<float>([](float* d, float* x, float*) { __bang_div(d, x, 7.0f, kLanes); });
  const auto rest = on_device<float>([](float* d, float* x, float*) { __bang_rem(d, x, 7.0f, kLanes); });
  using I = std::int32_t;
  const auto cut = on_device<I>([](I* d, I* x, I*) { __bang_div(d, x, 7, kLanes); });
  const auto masked = on_device<I>([](I* d, I* x, I*) { __bang_band_scalar(d, x, 0x0f, kLanes); });
  using U = std::uint32_t;
  const auto shifted =
      on_device<I>([](I* d, I* x, I*) { __bang_srl(reinterpret_cast<U*>(d), reinterpret_cast<U*>(x), 3, kLanes); });
  for (std::size_t i = 0; i < kLanes; ++i) {
    const auto n = static_cast<I>(a[i]);
    EXPECT_EQ(quotient[i], a[i] / 7.0f);
    EXPECT_EQ(rest[i], std::fmod(a[i], 7.0f));
    EXPECT_EQ(cut[i], n / 7);
    EXPECT_EQ(masked[i], n & 0x0f);
    EXPECT_EQ(static_cast<U>(shifted[i]), static_cast<U>(n) >> 3);
  }
  Rig rig("mtp_592");
  expect_fault(rig.run([](char* nram) {
    auto* x = reinterpret_cast<I*>(nram);
    __bang_write_value(x, 8, 1);
    __bang_div(x, x, 0, 8);
  }),
               {"__bang_div", "divided by 0"});
}

TEST(BitMasks, ComparisonsAndPacking) {
  const std::vector<float> a = numbers<float>(3), b = numbers<float>(7);
  std::uint32_t kept = 0;
  const auto packed = on_device<float>([&](float* d, float* x, float* y) {
    auto* bits = reinterpret_cast<std::uint8_t*>(d + kLanes);
    __bang_gt_bitindex(reinterpret_cast<float*>(bits), x, y, kLanes);
    kept = __bang_filter_bitindex(d, x, bits, kLanes);
  });
  std::uint32_t next = 0;
  for (std::size_t i = 0; i < kLanes; ++i) {
    if (!(a[i] > b[i])) continue;
    ASSERT_EQ(packed[next++], a[i]);
  }
  EXPECT_EQ(kept, next);
  EXPECT_EQ(packed[next], 0.0f) << "what lies behind stays";
}

TEST(BitMasks, PaddingSpoilsNothing) {
  Rig rig("mtp_592");
  std::uint32_t kept = 0;
  const auto pack = [&](std::int64_t written) {
    return rig.run([&](char* nram) {
      auto *x = reinterpret_cast<float*>(nram), *y = x + 64, *bits = y + 64;
      __bang_write_value(x, written, 1.0f);
      __bang_write_value(y, 16, 0.0f);
      __bang_gt_bitindex(bits, x, y, 16);
      kept = __bang_filter_bitindex(y, x, bits, 16);
    });
  };
  EXPECT_EQ(pack(9), "") << "seven lanes of the second byte are padding";
  EXPECT_EQ(kept, 9u);
  expect_fault(pack(8), {"__bang_filter_bitindex", "mask", "never written"});
}

TEST(VectorRegisters, CountMoveAndStore) {
  Rig rig("mtp_592");
  std::vector<float> out(128);
  std::vector<half> small(128);
  rig.tensor("out", out, Access::kWrite).tensor("small", small, Access::kWrite);
  EXPECT_EQ(rig.run([&](char* nram) {
    auto* x = reinterpret_cast<float*>(nram);
    vv_float r, step;
    ASSERT_EQ(__vv_get_length() / sizeof(float), 64u);
    __vv_index(r, 10.0f, 0.5f);
    __vv_move(step, 32);
    __vv_store(x, r);
    __vv_add(r, r, step);
    __vv_mul(r, r, 2);
    __vv_store(x + 64, r, 64);
    __memcpy(out.data(), x, 512, NRAM2GDRAM);
    vv_half h;
    __vv_index(h, half(1), half(2));
    __vv_store(reinterpret_cast<half*>(nram), h);
    __memcpy(small.data(), nram, 256, NRAM2GDRAM);
  }),
            "");
  for (std::size_t i = 0; i < 64; ++i) {
    EXPECT_EQ(out[i], 10 + 0.5f * static_cast<float>(i));
    EXPECT_EQ(out[64 + i], 2 * (42 + 0.5f * static_cast<float>(i)));
    EXPECT_EQ(static_cast<float>(small[i]), static_cast<float>(1 + 2 * i));
  }
}

TEST(NotModelled, IsAFaultByName) {
  Rig rig("mtp_592");
  expect_fault(rig.run([](char* nram) { __bang_load_matrix(nram, nram, 1, 1, 1); }),
               {"__bang_load_matrix", "not modelled"});
}

}  // namespace
}  // namespace mluops::emu::test
