// Lines and changes of a launch: times that can be worked out by hand.
#include <algorithm>

#include "test/device/rig.h"

namespace mluops::emu::test {
namespace {

/// 1 byte a ns from GDRAM for a core, a start of 100 ns; a lane of 4 bytes takes a vector builtin 4 ns.
constexpr const char* kRates =
    "gdram_gbps=1,core_gdram_gbps=1,clock_ghz=1,vector_bytes_cycle=1,move_bytes_cycle=1,gdram_latency_ns=100,"
    "gdram_segment_ns=10,move_latency_ns=7,move_segment_ns=5,vector_latency_cycles=3,"
    "elementary_cost=4,task_ns=1000,barrier_ns=50,launch_us=1";
constexpr double kStart = 1000;

class WhatIfs : public testing::Test {
 protected:
  static constexpr int kTile = 64, kBytes = 256, kSteps = 40;
  static constexpr double kCopy = 100 + kBytes, kWord = 3 + kBytes;

  WhatIfs() {
    rig.set("rates", kRates).set("trace", "on");
    rig.tensor("in", in, Access::kRead).tensor("out", out, Access::kWrite);
  }
  double with(Change change) const { return rig.report().changed[static_cast<std::size_t>(change)]; }
  /// A load, some words in place and a store for each tile.
  void run_tiles(int words) {
    ASSERT_EQ(rig.run([&](char* nram) {
      auto* tile = reinterpret_cast<float*>(nram);
      for (int i = 0; i < kSteps; ++i) {
        __memcpy(tile, in.data() + i * kTile, kBytes, GDRAM2NRAM);
        for (int w = 0; w < words; ++w) __bang_add(tile, tile, tile, kTile);
        __memcpy(out.data() + i * kTile, tile, kBytes, NRAM2GDRAM);
      }
    }),
              "");
    const double sum = kStart + kSteps * (2 * kCopy + words * kWord);
    ASSERT_DOUBLE_EQ(rig.report().time, sum);
  }
  const HotLine& line(Direction direction) const {
    const auto& lines = rig.report().lines;
    return *std::find_if(lines.begin(), lines.end(), [&](const HotLine& l) { return l.direction == direction; });
  }

  std::vector<float> in = std::vector<float>(kSteps * kTile, 1.0f), out = std::vector<float>(kSteps * kTile);
  Rig rig;
};

TEST_F(WhatIfs, TwoBuffersMakeTheLongerOfASum) {
  for (const int words : {1, 2, 3, 4, 8}) {
    run_tiles(words);
    const double copies = kSteps * 2 * kCopy, computing = kSteps * words * kWord;
    const double best = kStart + std::max(copies, computing), both_ends = 2 * kCopy + words * kWord;
    EXPECT_GE(with(Change::kTwoBuffers), best) << words;
    EXPECT_LE(with(Change::kTwoBuffers), best + both_ends) << words;
    EXPECT_LE(with(Change::kTwoBuffers), 1.06 * best) << words;
  }
}

TEST_F(WhatIfs, LoadsBeforeAllWordsGiveTheLongerOfBoth) {
  ASSERT_EQ(rig.run([&](char* nram) {
    auto* tiles = reinterpret_cast<float*>(nram);
    for (int i = 0; i < kSteps; ++i) __memcpy(tiles + i * kTile, in.data() + i * kTile, kBytes, GDRAM2NRAM);
    for (int i = 0; i < kSteps; ++i) __bang_add(tiles + i * kTile, tiles + i * kTile, tiles + i * kTile, kTile);
  }),
            "");
  EXPECT_DOUBLE_EQ(rig.report().time, kStart + kSteps * (kCopy + kWord));
  EXPECT_DOUBLE_EQ(with(Change::kTwoBuffers), kStart + kSteps * kCopy + kWord);
}

TEST_F(WhatIfs, WhatIsReadMustBeThere) {
  // Each load goes where the sum of the one before was: through GDRAM, nothing can be hidden.
  rig.spec.tensors[1].access = Access::kReadWrite;
  ASSERT_EQ(rig.run([&](char* nram) {
    auto* tile = reinterpret_cast<float*>(nram);
    __bang_write_value(tile, kTile, 1.0f);
    for (int i = 0; i < kSteps; ++i) {
      __memcpy(out.data(), tile, kBytes, NRAM2GDRAM);
      __memcpy(tile, out.data(), kBytes, GDRAM2NRAM);
      __bang_add(tile, tile, tile, kTile);
    }
  }),
            "");
  EXPECT_NEAR(with(Change::kTwoBuffers), rig.report().time, 1e-6);
}

TEST_F(WhatIfs, TwoBuffersAreNotThree) {
  // A load of 356 ns beside words of 4 * 259: the third load waits for the first tile's words.
  ASSERT_EQ(rig.run([&](char* nram) {
    auto *tile = reinterpret_cast<float*>(nram), *sum = tile + 4 * kTile;
    __bang_write_value(sum, kTile, 0.0f);
    for (int i = 0; i < 3; ++i) {
      __memcpy(tile, in.data() + i * kTile, kBytes, GDRAM2NRAM);
      for (int w = 0; w < 4; ++w) __bang_add(sum, sum, tile, kTile);
    }
    __memcpy(tile, in.data(), kBytes, GDRAM2NRAM);
  }),
            "");
  EXPECT_DOUBLE_EQ(with(Change::kTwoBuffers), kStart + kCopy + 12 * kWord) << "the first word waits beside that load";
}

TEST_F(WhatIfs, LargerTilesHaveHalfAsManyStarts) {
  run_tiles(2);
  EXPECT_DOUBLE_EQ(with(Change::kLargerTiles), rig.report().time - kSteps * (2 * 100 + 2 * 3) / 2.0);
  EXPECT_DOUBLE_EQ(with(Change::kWholeCopies), rig.report().time) << "they are in one piece";
}

TEST_F(WhatIfs, CopiesInOnePieceTakeTheirBytes) {
  ASSERT_EQ(rig.run([&](char* nram) { __memcpy(nram, in.data(), 64, GDRAM2NRAM, 64, 128, 3); }), "");
  EXPECT_DOUBLE_EQ(rig.report().time, kStart + 100 + 3 * 10 + 4 * 64);
  EXPECT_DOUBLE_EQ(with(Change::kWholeCopies), kStart + 100 + 4 * 64);
}

TEST_F(WhatIfs, HalfOfTheClustersDoTheWorkOfTwo) {
  run_tiles(1);
  EXPECT_DOUBLE_EQ(with(Change::kHalfTheClusters), 0) << "one core is less than a cluster";
  const Arch& arch = rig.context.settings.arch;
  rig.dims(arch.cores());
  ASSERT_EQ(rig.run([&](char* nram) { __memcpy(nram, in.data(), kBytes, GDRAM2NRAM); }), "");
  const double shared = arch.cores() * kBytes;
  EXPECT_DOUBLE_EQ(rig.report().time, kStart + 100 + shared);
  EXPECT_DOUBLE_EQ(with(Change::kHalfTheClusters), 2 * (kStart + 100 + shared / 2));
}

TEST_F(WhatIfs, TheLinesHoldTheWholeTime) {
  run_tiles(3);
  double held = 0;
  for (const HotLine& l : rig.report().lines) held += l.held;
  EXPECT_DOUBLE_EQ(held, rig.report().time);
  EXPECT_DOUBLE_EQ(line(Direction::kLoad).held, kSteps * kCopy);
  EXPECT_EQ(line(Direction::kLoad).bytes, kSteps * kBytes);
  EXPECT_EQ(line(Direction::kStore).times, kSteps);
}

TEST_F(WhatIfs, WaitingIsTheCopysNotTheBarriers) {
  ASSERT_EQ(rig.run([&](char* nram) {
    auto* other = reinterpret_cast<float*>(nram) + 4 * kTile;
    __memcpy_async(nram, in.data(), kBytes, GDRAM2NRAM);  // 356
    __bang_write_value(other, kTile, 1.0f);               // 259, beside it
    __sync();                                             // the other 97
  }),
            "");
  EXPECT_DOUBLE_EQ(line(Direction::kLoad).busy, kCopy);
  EXPECT_DOUBLE_EQ(line(Direction::kLoad).held, kCopy - kWord);
}

TEST_F(WhatIfs, SentencesNameTheWordAndTheChange) {
  run_tiles(3);
  const std::string json = report_json(rig.context.report());
  EXPECT_NE(json.find("waits for loads from GDRAM, __memcpy; two buffers in turn"), std::string::npos) << json;
  EXPECT_NE(json.find("\"two_buffers\": "), std::string::npos);
}

TEST_F(WhatIfs, NothingIsWatchedUnasked) {
  rig.set("trace", "off");
  ASSERT_EQ(rig.run([&](char* nram) { __memcpy(nram, in.data(), kBytes, GDRAM2NRAM); }), "");
  EXPECT_TRUE(rig.report().lines.empty());
  EXPECT_EQ(report_json(rig.context.report()).find("what_if"), std::string::npos);
}

}  // namespace
}  // namespace mluops::emu::test
