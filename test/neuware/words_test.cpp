// words.mlu: what its kernels compute.
#include <cmath>
#include <numeric>

#include "test/neuware/device_memory.h"
#include "test/neuware/kernels.h"

namespace neuware_test {
namespace {

/// Between float and a 16-bit type, by the runtime (its own test is below).
std::uint16_t narrow(float value, cnrtDataType_V2_t type) {
  std::uint16_t bits = 0;
  EXPECT_EQ(cnrtCastDataType_V2(&value, cnrtFloat, &bits, type, 1, nullptr, cnrtRounding_rm), cnrtSuccess);
  return bits;
}
float widen(std::uint16_t bits, cnrtDataType_V2_t type) {
  float value = 0;
  EXPECT_EQ(cnrtCastDataType_V2(&bits, type, &value, cnrtFloat, 1, nullptr, cnrtRounding_rm), cnrtSuccess);
  return value;
}

class ForeignWords : public WithQueue {};

TEST_F(ForeignWords, FusedMlisaOnFloat) {
  std::vector<float> in(64);
  std::iota(in.begin(), in.end(), -3.0f);
  OnDevice<float> from(in), to(64);
  fused_float(queue, to.data(), from.data());
  expect_success();
  const std::vector<float> out = to.values();
  EXPECT_EQ(out[0], 0.0f) << "the second result, -3, is not positive";
  EXPECT_EQ(out[1], -1.0f) << "the third input";
  for (std::size_t i = 2; i < 64; ++i) EXPECT_EQ(out[i], in[i] * 3 + 4 - 1);
}

TEST_F(ForeignWords, FusedMlisaOnHalf) {
  std::vector<std::uint16_t> in(64);
  for (std::size_t i = 0; i < 64; ++i) in[i] = narrow(static_cast<float>(i) + 0.5f, cnrtHalf);
  OnDevice<std::uint16_t> from(in), to(64);
  fused_half(queue, to.data(), from.data());
  expect_success();
  const std::vector<std::uint16_t> out = to.values();
  EXPECT_EQ(widen(out[0], cnrtHalf), 7.5f);
  EXPECT_EQ(widen(out[1], cnrtHalf), 2.0f);
  for (std::size_t i = 2; i < 64; ++i) {
    EXPECT_EQ(widen(out[i], cnrtHalf), (static_cast<float>(i) + 0.5f) * 3 + 4 - 1);
  }
}

TEST_F(ForeignWords, MlisaOnIntegersAndRegisters) {
  OnDevice<std::int32_t> to(18);
  mlisa_integers(queue, to.data());
  expect_success();
  const std::vector<std::int32_t> out = to.values();
  for (int i = 0; i < 8; ++i) {
    EXPECT_EQ(out[static_cast<std::size_t>(i)], 5 + 2 * i);
    EXPECT_EQ(out[static_cast<std::size_t>(8 + i)], ((5 + 2 * i) & 15) >= 8 ? -1 : 0);
  }
  EXPECT_EQ(out[16], 9) << "2^9 is the highest bit of 1000";
  EXPECT_EQ(out[17], 3) << "7 / 2, cut off";
}

TEST_F(ForeignWords, AnIndexBehindAHalfIsReadWhereItLies) {
  OnDevice<std::int32_t> to(2);
  index_behind_a_half(queue, to.data());
  expect_success();
  EXPECT_EQ(to.values()[0], static_cast<std::int32_t>(0xbf800000u)) << "-1 as a float";
  EXPECT_EQ(to.values()[1], 77);
}

TEST_F(ForeignWords, BuiltFusions) {
  OnDevice<float> to(128);
  built_fusion(queue, to.data());
  expect_success();
  for (const float x : to.values()) EXPECT_EQ(x, (4.0f + 8.0f - 1.0f) / 2.0f);
}

TEST_F(ForeignWords, Bfloat16) {
  OnDevice<std::uint16_t> to(128);
  testing::internal::CaptureStdout();
  bfloat16_words(queue, to.data());
  fflush(stdout);
  const std::string printed = testing::internal::GetCapturedStdout();
  expect_success();
  const std::uint16_t root = narrow(std::sqrt(4.5f), cnrtBfloat);
  const std::vector<std::uint16_t> out = to.values();
  EXPECT_EQ(out[1], root);
  EXPECT_EQ(widen(out[0], cnrtBfloat), 5.5f);
  EXPECT_EQ(printed, "bfloat16 5.5\n");
}

TEST_F(ForeignWords, CopiesOfWram) {
  OnDevice<float> out(256);
  wram_copies(queue, out.data());
  expect_success();
  const std::vector<float> v = out.values();
  for (std::size_t i = 0; i < 64; ++i) {
    const auto lane = static_cast<float>(i);
    EXPECT_EQ(v[i], lane) << "lane " << i / 4 << " alone";
    EXPECT_EQ(v[64 + i], lane);
    EXPECT_EQ(v[128 + i], i / 4 == 2 ? lane - 8 : lane) << "lane 2 was written anew";
    EXPECT_EQ(v[192 + i], 2.5f) << "by way of SRAM";
  }
}

TEST_F(ForeignWords, TheTensorUnitMultipliesHalves) {
  constexpr std::size_t kRows = 5, kTerms = 64, kColumns = 128;
  std::vector<float> a(kRows * kTerms), b(kColumns * kTerms);
  for (std::size_t i = 0; i < a.size(); ++i) a[i] = static_cast<float>(i * 7 % 19) / 8 - 1;
  for (std::size_t i = 0; i < b.size(); ++i) b[i] = static_cast<float>(i * 5 % 23) / 4 - 2;
  const auto halves = [](const std::vector<float>& numbers) {
    std::vector<std::uint16_t> bits;
    for (const float x : numbers) bits.push_back(narrow(x, cnrtHalf));
    return bits;
  };
  OnDevice<std::uint16_t> left(halves(a)), right(halves(b));
  OnDevice<float> out(kRows * kColumns);
  tensor_unit(queue, out.data(), left.data(), right.data());
  expect_success();
  const std::vector<float> product = out.values();
  for (std::size_t i = 0; i < product.size(); ++i) {
    float sum = 0;  // exact: few bits
    for (std::size_t k = 0; k < kTerms; ++k) sum += a[i / kColumns * kTerms + k] * b[i % kColumns * kTerms + k];
    EXPECT_EQ(product[i], sum / 2) << i;
  }
}

TEST(Runtime, CastsHostData) {
  const float in[4] = {1.5f, -2.5f, 300.0f, std::nanf("")};
  std::int8_t small[4];
  ASSERT_EQ(cnrtCastDataType_V2(in, cnrtFloat, small, cnrtChar, 4, nullptr, cnrtRounding_rm), cnrtSuccess);
  EXPECT_EQ(std::vector<std::int8_t>(small, small + 4), (std::vector<std::int8_t>{2, -2, 127, 0}));
  EXPECT_EQ(narrow(1.0f, cnrtHalf), 0x3c00);
  EXPECT_EQ(narrow(1.0f, cnrtBfloat), 0x3f80);
  std::uint16_t halfs[4];
  ASSERT_EQ(cnrtCastDataType_V2(in, cnrtFloat, halfs, cnrtHalf, 3, nullptr, cnrtRounding_rm), cnrtSuccess);
  float back[3];
  ASSERT_EQ(cnrtCastDataType_V2(halfs, cnrtHalf, back, cnrtFloat, 3, nullptr, cnrtRounding_rm), cnrtSuccess);
  EXPECT_EQ(back[1], -2.5f);
  EXPECT_EQ(back[2], 300.0f);
  cnrtQuantizedParam_t q = nullptr;
  ASSERT_EQ(cnrtCreateQuantizedParam(&q, 1, 2.0f, 3), cnrtSuccess);
  ASSERT_EQ(cnrtCastDataType_V2(in, cnrtFloat, small, cnrtChar, 2, q, cnrtRounding_rd), cnrtSuccess);
  EXPECT_EQ(small[0], 5) << "round(1.5 * 2 / 2^1 + 3), ties away from zero";
  ASSERT_EQ(cnrtDestroyQuantizedParam(q), cnrtSuccess);
  EXPECT_EQ(cnrtCastDataType_V2(nullptr, cnrtFloat, small, cnrtChar, 1, nullptr, cnrtRounding_rm),
            cnrtErrorArgsInvalid);
  EXPECT_EQ(cnrtCastDataType_V2(in, static_cast<cnrtDataType_V2_t>(77), small, cnrtChar, 1, nullptr, cnrtRounding_rm),
            cnrtErrorArgsInvalid);
  cnrtGetLastError();
}

}  // namespace
}  // namespace neuware_test
