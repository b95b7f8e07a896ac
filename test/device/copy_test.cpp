// Copies between GDRAM and NRAM and within NRAM: what they move, and when it can be seen.
#include <cmath>
#include <numeric>

#include "test/device/rig.h"

namespace mluops::emu::test {
namespace {

std::vector<float> ramp(std::size_t n) {
  std::vector<float> v(n);
  std::iota(v.begin(), v.end(), 0.0f);
  return v;
}

class Copies : public testing::Test {
 protected:
  Copies() { rig.tensor("in", in, Access::kRead).tensor("out", out, Access::kWrite); }
  std::vector<float> in = ramp(256), out = std::vector<float>(256, -1.0f);
  Rig rig;
};

TEST_F(Copies, PlainRoundTrip) {
  EXPECT_EQ(rig.run([&](char* nram) {
    __memcpy(nram + 4, in.data(), 1024, GDRAM2NRAM);
    EXPECT_EQ(reinterpret_cast<float*>(nram)[2], 1.0f) << "seen at once, at any alignment";
    __memcpy(out.data(), nram + 4, 1024, NRAM2GDRAM);
  }),
            "");
  EXPECT_EQ(out, in);
}

TEST_F(Copies, StridesAreInBytesAndSegmentsCountFromZero) {
  EXPECT_EQ(rig.run([&](char* nram) {
    __memcpy(nram, in.data(), 8, GDRAM2NRAM, 12, 32, 3);  // 4 pieces of two floats
    const auto* f = reinterpret_cast<const float*>(nram);
    for (int piece = 0; piece < 4; ++piece) {
      EXPECT_EQ(f[piece * 3], 8.0f * piece);
      EXPECT_EQ(f[piece * 3 + 1], 8.0f * piece + 1);
      EXPECT_TRUE(std::isnan(f[piece * 3 + 2])) << "between the pieces nothing changes";
    }
    __memcpy(out.data() + 1, nram, 4, NRAM2GDRAM, 8, 12, 3);
  }),
            "");
  EXPECT_EQ(std::vector<float>(out.begin(), out.begin() + 9), (std::vector<float>{-1, 0, -1, 8, -1, 16, -1, 24, -1}));
}

TEST_F(Copies, ZeroSourceStrideRepeats) {
  EXPECT_EQ(rig.run([&](char* nram) {
    __memcpy(nram, in.data() + 7, 4, GDRAM2NRAM, 4, 0, 9);
    __memcpy(out.data(), nram, 40, NRAM2GDRAM);
  }),
            "");
  EXPECT_EQ(out[9], 7.0f);
}

// Compaction in place towards lower addresses, as a store of padded rows does it.
TEST_F(Copies, WithinNramSegmentsAscend) {
  EXPECT_EQ(rig.run([&](char* nram) {
    __memcpy(nram, in.data(), 1024, GDRAM2NRAM);
    __memcpy(nram, nram, 12, NRAM2NRAM, 12, 16, 63);
    __memcpy(out.data(), nram, 64 * 12, NRAM2GDRAM);
    __memcpy(nram, nram + 4, 764, NRAM2NRAM);  // overlapping in one piece
    EXPECT_EQ(reinterpret_cast<float*>(nram)[3], 5.0f);
  }),
            "");
  for (int i = 0; i < 192; ++i) EXPECT_EQ(out[i], i / 3 * 4 + i % 3) << i;
}

TEST_F(Copies, AsyncIsSeenAtTheBarrierOnly) {
  EXPECT_EQ(rig.run([&](char* nram) {
    const auto* f = reinterpret_cast<const float*>(nram);
    __memcpy_async(nram, in.data() + 4, 64, GDRAM2NRAM);
    EXPECT_TRUE(std::isnan(f[0]));
    __sync_compute();
    __sync_move();
    EXPECT_TRUE(std::isnan(f[0])) << "neither engine does this copy";
    __sync_io();
    EXPECT_EQ(f[0], 4.0f);
    __memcpy_async(out.data(), nram, 64, NRAM2GDRAM);
    EXPECT_EQ(out[0], -1.0f);
    __sync();
    EXPECT_EQ(out[0], 4.0f);
  }),
            "");
}

TEST_F(Copies, OlderBarriersWaitForTheirDirectionsEngine) {
  EXPECT_EQ(rig.run([&](char* nram) {
    const auto* f = reinterpret_cast<const float*>(nram);
    __memcpy_async(nram, in.data() + 4, 64, GDRAM2NRAM);
    __sync_copy_sram_to_nram();
    __sync_copy_nram_to_nram();
    EXPECT_TRUE(std::isnan(f[0])) << "neither engine does this copy";
    __sync_copy_dram_to_nram();
    EXPECT_EQ(f[0], 4.0f);
    __memcpy_async(nram + 128, nram, 32, NRAM2NRAM, 32, 32, 1);
    __memcpy_async(out.data(), nram, 64, NRAM2GDRAM);
    __sync_copy_nram_to_dram();
    EXPECT_EQ(out[0], 4.0f);
    EXPECT_TRUE(std::isnan(f[32])) << "copies within NRAM have a barrier of their own";
    __sync_copy_nram_to_nram();
    EXPECT_EQ(f[32], 4.0f);
  }),
            "");
}

TEST_F(Copies, AsyncWithinNramWaitsForTheMoveEngine) {
  EXPECT_EQ(rig.run([&](char* nram) {
    __memcpy(nram, in.data() + 4, 64, GDRAM2NRAM);
    __memcpy_async(nram + 128, nram, 32, NRAM2NRAM, 32, 32, 1);
    __sync_io();
    EXPECT_TRUE(std::isnan(*reinterpret_cast<float*>(nram + 128)));
    __sync_move();
    EXPECT_EQ(*reinterpret_cast<float*>(nram + 128), 4.0f);
  }),
            "");
}

TEST_F(Copies, AsyncOfOnePieceWithinNramIsInOrderWithTheVectorUnit) {
  EXPECT_EQ(rig.run([&](char* nram) {
    auto* lanes = reinterpret_cast<float*>(nram);
    __bang_write_value(lanes, 16, 2.0f);
    __memcpy_async(lanes + 32, lanes, 64, NRAM2NRAM);
    __bang_add(lanes, lanes + 32, lanes, 16);
    __memcpy_async(lanes + 64, lanes, 64, NRAM2NRAM);
    EXPECT_EQ(lanes[64], 4.0f);
  }),
            "");
}

TEST_F(Copies, AsyncWithinNramIsCompleteBehindSyncCompute) {
  EXPECT_EQ(rig.run([&](char* nram) {
    __memcpy(nram, in.data() + 4, 64, GDRAM2NRAM);
    __memcpy_async(nram + 128, nram, 64, NRAM2NRAM);
    __sync_compute();
    EXPECT_EQ(*reinterpret_cast<float*>(nram + 128), 4.0f);
  }),
            "");
}

TEST_F(Copies, ASynchronousCopyCompletesTheQueueOfItsEngine) {
  EXPECT_EQ(rig.run([&](char* nram) {
    __memcpy_async(nram, in.data(), 64, GDRAM2NRAM);
    __memcpy(out.data(), nram, 64, NRAM2GDRAM);
    __memcpy_async(nram + 64, nram, 64, NRAM2NRAM);
    __memcpy(nram + 128, nram + 64, 64, NRAM2NRAM);
    EXPECT_EQ(reinterpret_cast<float*>(nram)[32 + 3], 3.0f);
  }),
            "");
  EXPECT_EQ(out[3], 3.0f);
}

TEST_F(Copies, TheEndOfATaskCompletesItsQueues) {
  EXPECT_EQ(rig.run([&](char* nram) {
    __memcpy(nram, in.data() + 32, 128, GDRAM2NRAM);
    __memcpy_async(out.data(), nram, 128, NRAM2GDRAM);
  }),
            "");
  EXPECT_EQ(out[31], 63.0f);
}

// One engine works in order: load a buffer, store it, load it again, all queued.
TEST_F(Copies, OneEngineKeepsItsOrder) {
  EXPECT_EQ(rig.run([&](char* nram) {
    __memcpy_async(nram, in.data(), 64, GDRAM2NRAM);
    __memcpy_async(out.data(), nram, 64, NRAM2GDRAM);
    __memcpy_async(nram, in.data() + 100, 64, GDRAM2NRAM);
    __memcpy_async(out.data() + 16, nram, 64, NRAM2GDRAM);
    __sync();
  }),
            "");
  EXPECT_EQ(out[1], 1.0f);
  EXPECT_EQ(out[17], 101.0f);
}

TEST_F(Copies, EmptyOnesDoNothing) {
  EXPECT_EQ(rig.run([&](char* nram) {
    __memcpy(nram, in.data() + 256, 0, GDRAM2NRAM);
    __memcpy_async(nullptr, nullptr, 0, NRAM2NRAM);
  }),
            "");
}

TEST_F(Copies, AreCounted) {
  EXPECT_EQ(rig.run([&](char* nram) {
    __memcpy(nram, in.data(), 8, GDRAM2NRAM, 12, 32, 3);
    __memcpy(nram + 256, nram, 4, NRAM2NRAM);
    __memcpy(out.data(), nram, 4, NRAM2GDRAM, 8, 12, 3);
  }),
            "");
  const CoreStats& c = rig.report().cores[0];
  EXPECT_EQ(c.loads, 1);
  EXPECT_EQ(c.stores, 1);
  EXPECT_EQ(c.segments, 8);
  EXPECT_EQ(c.moves, 1);
  EXPECT_EQ(c.move_bytes, 4);
  EXPECT_EQ(rig.report().traffic[0].read, 32);
  EXPECT_EQ(rig.report().traffic[1].written, 16);
}

}  // namespace
}  // namespace mluops::emu::test
