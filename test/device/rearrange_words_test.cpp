// Words that turn, pad and pool: each against plain loops.
#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include "test/device/rig.h"

namespace mluops::emu::test {
namespace {

std::vector<float> numbers(std::int64_t n) {
  std::mt19937 random(7);
  std::vector<float> v(static_cast<std::size_t>(n));
  for (float& x : v) x = static_cast<float>(random() % 1000);
  return v;
}

/// word(dst, src, other) on NRAM; `results` lanes of dst.
template <class W>
std::vector<float> on_device(const std::vector<float>& in, std::int64_t results, W word) {
  std::vector<float> source = in, out(static_cast<std::size_t>(results));
  Rig rig("mtp_592");
  rig.tensor("in", source, Access::kRead).tensor("out", out, Access::kWrite);
  EXPECT_EQ(rig.run([&](char* nram) {
    auto* src = reinterpret_cast<float*>(nram);
    float* dst = src + source.size();
    __memcpy(src, source.data(), static_cast<std::int64_t>(source.size()) * 4, GDRAM2NRAM);
    word(dst, src);
    __memcpy(out.data(), dst, results * 4, NRAM2GDRAM);
  }),
            "");
  return out;
}

TEST(Rearrange, TurnsClockwise) {
  constexpr std::int64_t kH = 3, kW = 5;
  const std::vector<float> in = numbers(kH * kW);
  const auto r90 = on_device(in, kH * kW, [](float* d, float* s) { __bang_rotate90(d, s, kH, kW); });
  const auto r180 = on_device(in, kH * kW, [](float* d, float* s) { __bang_rotate180(d, s, kH, kW); });
  const auto r270 = on_device(in, kH * kW, [](float* d, float* s) { __bang_rotate270(d, s, kH, kW); });
  const auto mirror = on_device(in, kH * kW, [](float* d, float* s) { __bang_mirror(d, s, kH, kW); });
  const auto turned = on_device(in, kH * kW, [](float* d, float* s) { __bang_transpose(d, s, kH, kW); });
  for (std::size_t y = 0; y < kH; ++y) {
    for (std::size_t x = 0; x < kW; ++x) {
      const float value = in[y * kW + x];
      EXPECT_EQ(r90[x * kH + (kH - 1 - y)], value) << "the first row becomes the last column";
      EXPECT_EQ(r180[(kH - 1 - y) * kW + (kW - 1 - x)], value);
      EXPECT_EQ(r270[(kW - 1 - x) * kH + y], value) << "the first row becomes the first column, upwards";
      EXPECT_EQ(mirror[y * kW + (kW - 1 - x)], value);
      EXPECT_EQ(turned[x * kH + y], value);
    }
  }
}

TEST(Rearrange, PadsWithZeros) {
  const std::vector<float> in = numbers(2 * 3 * 4);  // [h 2, w 3, channel 4]
  constexpr std::size_t kRow = (1 + 3 + 2) * 4;
  const auto out = on_device(in, (2 + 2 + 1) * kRow, [](float* d, float* s) { __bang_pad(d, s, 4, 2, 3, 2, 1, 1, 2); });
  for (std::size_t y = 0; y < 5; ++y) {
    for (std::size_t x = 0; x < 6; ++x) {
      for (std::size_t c = 0; c < 4; ++c) {
        const bool inside = y >= 2 && y < 4 && x >= 1 && x < 4;
        const float wanted = inside ? in[((y - 2) * 3 + x - 1) * 4 + c] : 0.0f;
        EXPECT_EQ(out[y * kRow + x * 4 + c], wanted);
      }
    }
  }
}

TEST(Rearrange, PadsBothSidesAlike) {
  const std::vector<float> in = numbers(2 * 3 * 4);
  const auto both = on_device(in, 6 * 5 * 4, [](float* d, float* s) { __bang_pad(d, s, 4, 2, 3, 2, 1); });
  const auto each = on_device(in, 6 * 5 * 4, [](float* d, float* s) { __bang_pad(d, s, 4, 2, 3, 2, 2, 1, 1); });
  EXPECT_EQ(both, each);
}

TEST(Rearrange, PadsWithAValue) {
  const std::vector<float> in = numbers(2 * 3 * 4);
  auto wanted = on_device(in, 6 * 5 * 4, [](float* d, float* s) { __bang_pad(d, s, 4, 2, 3, 2, 1); });
  const auto around = on_device(in, 6 * 5 * 4, [](float* d, float* s) { __bang_pad(d, s, 4, 2, 3, 2, 1, -7.5f); });
  for (std::int64_t y = 0; y < 6; ++y) {
    for (std::int64_t x = 0; x < 5; ++x) {
      if (y < 2 || y >= 4 || x < 1 || x >= 4) std::fill_n(wanted.begin() + (y * 5 + x) * 4, 4, -7.5f);
    }
  }
  EXPECT_EQ(around, wanted);
}

TEST(Rearrange, ChannelsFirstAndLast) {
  constexpr std::size_t kN = 2, kH = 3, kW = 5, kC = 4, kAll = kN * kH * kW * kC;
  const std::vector<float> in = numbers(kAll);
  const auto first = on_device(in, kAll, [](float* d, float* s) { __bang_reshape_nhwc2nchw(d, s, kN, kH, kW, kC); });
  const auto last = on_device(first, kAll, [](float* d, float* s) { __bang_reshape_nchw2nhwc(d, s, kN, kH, kW, kC); });
  for (std::size_t i = 0; i < kAll; ++i) {
    const std::size_t c = i % kC, pixel = i / kC % (kH * kW), n = i / (kC * kH * kW);
    EXPECT_EQ(first[(n * kC + c) * kH * kW + pixel], in[i]) << i;
  }
  EXPECT_EQ(last, in);
}

TEST(Rearrange, PoolsExtremes) {
  constexpr std::size_t kC = 5, kH = 4, kW = 6;  // windows of 2 x 3, strides x 3, y 2: 2 x 2 results
  const std::vector<float> in = numbers(kC * kH * kW);
  const auto largest = on_device(in, 4 * kC, [](float* d, float* s) { __bang_maxpool(d, s, kC, kH, kW, 2, 3, 3, 2); });
  const auto smallest = on_device(in, 4 * kC, [](float* d, float* s) { __bang_minpool(d, s, kC, kH, kW, 2, 3, 3, 2); });
  std::vector<std::uint32_t> where(4 * kC);
  const auto both = on_device(in, 4 * kC, [&](float* d, float* s) {
    __bang_maxpool_value_index(d, s, kC, kH, kW, 2, 3, 3, 2, 1024);
    std::copy_n(reinterpret_cast<std::uint32_t*>(d + 256), where.size(), where.data());
  });
  for (std::size_t i = 0; i < 4 * kC; ++i) {
    const std::size_t c = i % kC, x = i / kC % 2 * 3, y = i / kC / 2 * 2;
    float high = -1, low = 2000;
    std::uint32_t at = 0;
    for (std::uint32_t k = 0; k < 6; ++k) {
      const float value = in[((y + k / 3) * kW + x + k % 3) * kC + c];
      low = std::min(low, value);
      if (value > high) high = value, at = k;
    }
    EXPECT_EQ(largest[i], high);
    EXPECT_EQ(smallest[i], low);
    EXPECT_EQ(both[i], high);
    EXPECT_EQ(where[i], at);
  }
}

TEST(Rearrange, PoolsTakeNanWhereThereIsNothingElse) {
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  const std::vector<float> in = {kNan, kNan, kNan, 1, kNan, kNan, 2, 3, kNan, kNan, -4, kNan};  // 4 lanes of 3
  const auto largest = on_device(in, 3, [](float* d, float* s) { __bang_maxpool(d, s, 3, 1, 4, 1, 4, 1, 1); });
  const auto smallest = on_device(in, 3, [](float* d, float* s) { __bang_minpool(d, s, 3, 1, 4, 1, 4, 1, 1); });
  std::vector<std::uint32_t> where(3);
  const auto both = on_device(in, 3, [&](float* d, float* s) {
    __bang_maxpool_value_index(d, s, 3, 1, 4, 1, 4, 1, 1, 1024);
    std::copy_n(reinterpret_cast<std::uint32_t*>(d + 256), where.size(), where.data());
  });
  EXPECT_EQ(largest[0], 2);
  EXPECT_EQ(largest[1], 3);
  EXPECT_TRUE(std::isnan(largest[2]));
  EXPECT_EQ(smallest[0], 1);
  EXPECT_EQ(smallest[1], -4);
  EXPECT_TRUE(std::isnan(smallest[2]));
  EXPECT_EQ(both[0], 2);
  EXPECT_EQ(both[1], 3);
  EXPECT_TRUE(std::isnan(both[2]));
  EXPECT_EQ(where[0], 2u);
  EXPECT_EQ(where[1], 2u);
}

TEST(Rearrange, UndefinedLanesTravelAlong) {
  Rig rig("mtp_592");
  std::vector<float> out(64);
  rig.tensor("out", out, Access::kWrite);
  const auto store = [&](std::int64_t first) {
    return rig.run([&](char* nram) {
      auto* x = reinterpret_cast<float*>(nram);
      __bang_write_value(x, 16, 1.0f);  // the first two of eight rows
      __bang_rotate90(x + 64, x, 8, 8);
      __memcpy(out.data(), x + 64 + first, 4, NRAM2GDRAM);
    });
  };
  EXPECT_EQ(store(7), "") << "the first row is the last column";
  expect_fault(store(0), {"never written"});
}

/// The value's type selects the lane: the vendor's border_align fills int32 lanes through a half*.
TEST(Fill, LanesAreThoseOfTheValue) {
  Rig rig;
  std::vector<std::uint8_t> out(64);
  rig.tensor("out", out, Access::kWrite);
  const auto filled = [&](auto word) {
    EXPECT_EQ(rig.run([&](char* nram) {
      __memset_nram(nram, 64, std::uint8_t{0xee});
      word(reinterpret_cast<half*>(nram));
      __memcpy(out.data(), nram, 64, NRAM2GDRAM);
    }),
              "");
    return std::count(out.begin(), out.end(), std::uint8_t{0});
  };
  EXPECT_EQ(filled([](half* p) { __bang_write_value(p, 5, 0.0f); }), 20);
  EXPECT_EQ(filled([](half* p) { __bang_write_value(p, 5, 0); }), 20);
  EXPECT_EQ(filled([](half* p) { __bang_write_value(p, 5, half(0.0f)); }), 10);
  EXPECT_EQ(filled([](half* p) { __bang_write_zero(p, 5); }), 10) << "the pointer's, where there is no value";
  EXPECT_EQ(filled([](half* p) { __bang_write_value(p, 2, half(0.0f), 8, 1, 32, 1); }), 16) << "four rows";
  EXPECT_EQ(filled([](half* p) { __memset_nram(p, 5, 0); }), 20);
  EXPECT_EQ(filled([](half* p) { __memset_nram(p, 5, 0.0); }), 20) << "a double fills floats";
  EXPECT_EQ(filled([](half* p) { __memset_nram(p, 3, std::int16_t{0}, 16, 2); }), 18);
  EXPECT_EQ(filled([](half* p) { __nramset(static_cast<void*>(p), 5, std::int8_t{0}); }), 5);
  EXPECT_EQ(filled([](half* p) { __nramset(static_cast<void*>(p), 1, 0, 16, 3); }), 16);
  EXPECT_EQ(filled([](half* p) { __nramset(p, 5, 0); }), 10) << "the older word: the pointer's";
  EXPECT_EQ(filled([](half* p) { __nramset_half(p, 5, half(0.0f)); }), 10);
  EXPECT_EQ(filled([](half* p) { __nramset_short(reinterpret_cast<std::int16_t*>(p), 5, 0); }), 10);
  EXPECT_EQ(filled([](half* p) { __nramset_int(reinterpret_cast<std::int32_t*>(p), 5, 0); }), 20);
}

TEST(Fill, CopiesByTheOlderName) {
  const std::vector<float> in = numbers(16);
  EXPECT_EQ(on_device(in, 16, [](float* d, float* s) { __memcpy_nram_to_nram(d, s, 64); }), in);
  EXPECT_EQ(on_device(in, 16, [](float* d, float* s) { __memcpy_nram_to_nram(d, s, 16, 16, 16, 4); }), in);
}

TEST(Fill, AtomicSumsOfTheQueuedWord) {
  Rig rig;
  std::vector<float> sums = {1, 2, 3};
  rig.tensor("sums", sums, Access::kReadWrite).dims(4);
  EXPECT_EQ(rig.run([&](char* nram) {
    auto* x = reinterpret_cast<float*>(nram);
    __bang_write_value(x, 3, 0.5f);
    __bang_atomic_reduce_add_async(sums.data(), x, 3);
    __sync();
  }),
            "");
  EXPECT_EQ(sums, (std::vector<float>{3, 4, 5}));
}

TEST(Rearrange, NotInPlace) {
  Rig rig("mtp_592");
  expect_fault(rig.run([&](char* nram) {
    auto* x = reinterpret_cast<float*>(nram);
    __bang_rotate180(x, x + 1, 4, 4);
  }),
               {"__bang_rotate180", "in place"});
}

}  // namespace
}  // namespace mluops::emu::test
