// Gathers, scatters, nested copies, fills and single numbers.
#include <numeric>

#include "test/device/rig.h"

namespace mluops::emu::test {
namespace {

constexpr std::int64_t kCount = 20, kPiece = 3;

class Scattered : public testing::Test {
 protected:
  Scattered() : table(kCount * kPiece), out(kCount * kPiece, -1.0f) {
    std::iota(table.begin(), table.end(), 0.0f);
    rig.tensor("table", table, Access::kReadWrite).tensor("out", out, Access::kReadWrite);
  }
  /// Fills offsets (bytes) and a mask with every third bit clear, behind `nram`.
  static std::uint32_t* offsets(char* nram) {
    auto* o = reinterpret_cast<std::uint32_t*>(nram);
    for (std::uint32_t i = 0; i < kCount; ++i) o[i] = (i * 7 % kCount) * kPiece * 4;
    return o;
  }
  static std::uint8_t* mask(char* nram) {
    auto* m = reinterpret_cast<std::uint8_t*>(nram);
    for (int k = 0; k < 3; ++k) m[k] = 0;
    for (int i = 0; i < kCount; ++i) m[i / 8] = static_cast<std::uint8_t>(m[i / 8] | ((i % 3 != 0) << (i % 8)));
    return m;
  }
  std::vector<float> table, out;
  Rig rig{"mtp_592"};
};

TEST_F(Scattered, GathersByOffset) {
  for (const bool masked : {false, true}) {
    EXPECT_EQ(rig.run([&](char* nram) {
      auto* dst = reinterpret_cast<float*>(nram);
      __bang_write_value(dst, kCount * 4, -2.0f);
      std::uint32_t* o = offsets(nram + 4096);
      masked ? __gather(dst, table.data(), o, mask(nram + 8192), kPiece * 4, GDRAM2NRAM, 16, kCount)
             : __gather(dst, table.data(), o, kPiece * 4, GDRAM2NRAM, 16, kCount);
      __memcpy(out.data(), dst, kPiece * 4, NRAM2GDRAM, kPiece * 4, 16, kCount - 1);
    }),
              "");
    for (std::size_t i = 0; i < kCount; ++i) {
      const bool moved = !masked || i % 3 != 0;
      for (std::size_t k = 0; k < kPiece; ++k) {
        EXPECT_EQ(out[i * kPiece + k], moved ? table[(i * 7 % kCount) * kPiece + k] : -2.0f);
      }
    }
  }
}

/// Offsets of 8 and 16 bits bring the same pieces.
TEST_F(Scattered, OffsetsMayBeNarrow) {
  const auto gathered = [&](auto narrow) {
    EXPECT_EQ(rig.run([&](char* nram) {
      auto* dst = reinterpret_cast<float*>(nram);
      auto* o = reinterpret_cast<decltype(narrow)*>(nram + 4096);
      __bang_write_value(o, 4, narrow);
      for (int i = 0; i < 4; ++i) o[i] = static_cast<decltype(narrow)>((3 - i) * 60);
      __gather(dst, table.data(), o, 4, GDRAM2NRAM, 4, 4);
      __memcpy(out.data(), dst, 16, NRAM2GDRAM);
    }),
              "");
    return std::vector<float>(out.begin(), out.begin() + 4);
  };
  const std::vector<float> wanted = {table[45], table[30], table[15], table[0]};
  EXPECT_EQ(gathered(std::uint8_t{0}), wanted);
  EXPECT_EQ(gathered(std::uint16_t{0}), wanted);
  EXPECT_EQ(gathered(std::uint32_t{0}), wanted);
}

TEST_F(Scattered, ScattersByOffset) {
  EXPECT_EQ(rig.run([&](char* nram) {
    auto* src = reinterpret_cast<float*>(nram);
    __memcpy(src, table.data(), kCount * kPiece * 4, GDRAM2NRAM);
    __scatter(out.data(), src, offsets(nram + 4096), mask(nram + 8192), kPiece * 4, NRAM2GDRAM, kPiece * 4, kCount);
  }),
            "");
  for (std::size_t i = 0; i < kCount; ++i) {
    for (std::size_t k = 0; k < kPiece; ++k) {
      EXPECT_EQ(out[(i * 7 % kCount) * kPiece + k], i % 3 != 0 ? table[i * kPiece + k] : -1.0f);
    }
  }
}

TEST_F(Scattered, QueuedGathersArriveAtTheBarrier) {
  float before = 0, after = 0;
  EXPECT_EQ(rig.run([&](char* nram) {
    auto* dst = reinterpret_cast<float*>(nram);
    std::uint32_t* o = offsets(nram + 4096);
    __bang_gather_async(dst, table.data() + 1, o, mask(nram + 8192), 4, 4, kCount);
    before = dst[1];
    __sync();
    after = dst[1];
  }),
            "");
  EXPECT_NE(before, before) << "not there yet: NaN";
  EXPECT_EQ(after, table[7 * kPiece + 1]);
  expect_fault(rig.run([&](char* nram) {
    auto* dst = reinterpret_cast<float*>(nram);
    __gather_async(dst, table.data(), offsets(nram + 4096), 4, GDRAM2NRAM, 4, kCount);
    __bang_add(dst, dst, dst, 8);
  }),
               {"__bang_add", "still in flight", "__gather_async"});
}

TEST_F(Scattered, PiecesOutsideAreFaults) {
  expect_fault(rig.run([&](char* nram) {
    auto* o = reinterpret_cast<std::uint32_t*>(nram + 4096);
    o[0] = 0, o[1] = kCount * kPiece * 4;
    __gather(nram, table.data(), o, 4, GDRAM2NRAM, 4, 2);
  }),
               {"__gather", "table"});
  expect_fault(rig.run([&](char* nram) {
    __gather(nram, table.data(), reinterpret_cast<std::uint32_t*>(nram + 4096), 4, GDRAM2NRAM, 4, 2);
  }),
               {"__gather", "offset", "never written"});
}

TEST_F(Scattered, StridesAndCountsHave32Bits) {
  constexpr std::int64_t kHuge = std::int64_t{1} << 62;
  expect_fault(
      rig.run([&](char* nram) { __gather(nram, table.data(), offsets(nram + 4096), 4, GDRAM2NRAM, kHuge, 3); }),
      {"__gather", "the stride must fit 32 bits"});
  expect_fault(
      rig.run([&](char* nram) { __gather(nram, table.data(), offsets(nram + 4096), 4, GDRAM2NRAM, 4, kHuge); }),
      {"__gather", "the number of pieces"});
  expect_fault(rig.run([&](char* nram) { __bang_move(nram, nram + 64, 0, 64, 64, kHuge); }), {"__bang_move", "count"});
  expect_fault(rig.run([&](char* nram) { __bang_move(nram, nram + 64, 4, 64, kHuge, 2); }), {"__bang_move", "strides"});
  expect_fault(rig.run([&](char* nram) { __memcpy(nram, table.data(), 8, GDRAM2NRAM, kHuge, 4, 40, 1, 12, 4, 60, 1); }),
               {"__memcpy", "strides of 32 bits"});
}

TEST_F(Scattered, NestedCopies) {
  for (const bool queued : {false, true}) {
    EXPECT_EQ(rig.run([&](char* nram) {
      // 2 x 5 pieces of two floats: read every other column pair, written back to front by rows of five.
      if (queued) {
        __memcpy_async(nram, table.data(), 8, GDRAM2NRAM, 8, 4, 40, 1, 12, 4, 60, 1);
        __sync_io();
      } else {
        __memcpy(nram, table.data(), 8, GDRAM2NRAM, 8, 4, 40, 1, 12, 4, 60, 1);
      }
      __memcpy(out.data(), nram, 80, NRAM2GDRAM);
    }),
              "");
    for (std::size_t i = 0; i < 10; ++i) {
      EXPECT_EQ(out[2 * i], static_cast<float>(i / 5 * 15 + i % 5 * 3));
      EXPECT_EQ(out[2 * i + 1], static_cast<float>(i / 5 * 15 + i % 5 * 3 + 1));
    }
  }
  expect_fault(rig.run([&](char* nram) { __memcpy(nram, table.data(), 8, GDRAM2NRAM, 8, 4, 40, 1, 12, 3, 60, 1); }),
               {"__memcpy", "as many pieces"});
}

TEST_F(Scattered, RepeatsElements) {
  EXPECT_EQ(rig.run([&](char* nram) {
    auto* times = reinterpret_cast<std::uint8_t*>(nram + 4096);
    __bang_write_value(times, 4, std::uint8_t{2});
    times[1] = 0, times[2] = 3;
    __memcpy(nram, table.data(), 16, GDRAM2NRAM);
    __extension(nram + 1024, nram, times, 4, NRAM2NRAM, 4);
    __memcpy(out.data(), nram + 1024, 7 * 4, NRAM2GDRAM);
  }),
            "");
  EXPECT_EQ(std::vector<float>(out.begin(), out.begin() + 8), (std::vector<float>{0, 0, 2, 2, 2, 3, 3, -1}));
}

TEST_F(Scattered, Fills) {
  EXPECT_EQ(rig.run([&](char* nram) {
    auto* x = reinterpret_cast<float*>(nram);
    __gdramset(out.data() + 1, 5, 4.5f);
    __nramset_async(x, 16, 1.0f, 0, 0);
    __nramset_async(x + 2, 1, 2.0f, 16, 3);  // goes through the queue behind the first
    __sync();
    __memcpy(out.data() + 8, x, 64, NRAM2GDRAM);
  }),
            "");
  EXPECT_EQ(std::vector<float>(out.begin(), out.begin() + 7),
            (std::vector<float>{-1, 4.5f, 4.5f, 4.5f, 4.5f, 4.5f, -1}));
  for (std::size_t i = 0; i < 16; ++i) EXPECT_EQ(out[8 + i], i % 4 == 2 ? 2.0f : 1.0f);
  expect_fault(rig.run([&](char*) { __gdramset(out.data(), kCount * kPiece + 1, 0.0f); }), {"__gdramset", "out"});
}

TEST_F(Scattered, SingleNumbers) {
  float got = 0;
  EXPECT_EQ(rig.run([&](char* nram) {
    auto* x = reinterpret_cast<float*>(nram);
    EXPECT_TRUE(__is_dram(table.data()));
    EXPECT_FALSE(__is_dram(x));
    __store_nram(x, __load_gdram(table.data() + 9));
    __store_gdram(out.data(), __load_nram(x));
    got = __load_gdram(out.data());
  }),
            "");
  EXPECT_EQ(got, 9.0f);
  expect_fault(rig.run([&](char* nram) { __load_nram(reinterpret_cast<float*>(nram)); }),
               {"__load_nram", "never written"});
  expect_fault(rig.run([&](char*) { __load_gdram(table.data() + table.size()); }), {"__load_gdram", "table"});
}

TEST_F(Scattered, AtomicsOfOtherKinds) {
  EXPECT_EQ(rig.run([&](char* nram) {
    auto* x = reinterpret_cast<float*>(nram);
    __bang_write_value(x, 16, 2.5f);
    __bang_atomic_reduce_max(table.data(), x, 4);
    __bang_atomic_reduce_min(table.data() + 4, x, 4);
    __bang_atomic_reduce_add(table.data() + 8, 10.0f, 2);
    __bang_atomic_add(x + 16, table.data() + 10, x, 1);
    EXPECT_EQ(x[16], 10.0f);
    // 2 x 2 pieces of one float: 0, 2, 6 and 8 behind `out`.
    __bang_atomic_reduce_add(out.data(), x, 1, 1, 1, 8, 24, 4, 8);
  }),
            "");
  EXPECT_EQ(std::vector<float>(table.begin(), table.begin() + 11),
            (std::vector<float>{2.5f, 2.5f, 2.5f, 3, 2.5f, 2.5f, 2.5f, 2.5f, 18, 19, 12.5f}));
  EXPECT_EQ(std::vector<float>(out.begin(), out.begin() + 9),
            (std::vector<float>{1.5f, -1, 1.5f, -1, -1, -1, 1.5f, -1, 1.5f}));
}

}  // namespace
}  // namespace mluops::emu::test
