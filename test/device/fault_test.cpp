// Kernels that are wrong on purpose: each check fires, says where, and can be switched off.
#include <cmath>
#include <functional>

#include "test/device/rig.h"

namespace mluops::emu::test {
namespace {

class Faults : public testing::Test {
 protected:
  Faults() {
    rig.tensor("input", input, Access::kRead).tensor("output", output, Access::kWrite);
    rig.spec.nram = {{"ping", 0, 1024}, {"pong", 1024, 1024}};
  }
  std::vector<float> input = std::vector<float>(256, 1.0f), output = std::vector<float>(256);
  Rig rig;
};

TEST_F(Faults, NramBounds) {
  const std::int64_t end = rig.context.settings.arch.nram_bytes;
  expect_fault(rig.run([&](char* nram) { __memcpy(nram + end - 64, input.data(), 128, GDRAM2NRAM); }),
               {"test_kernel", "task 0", "__memcpy", "destination", std::to_string(end - 64), "outside of NRAM"});
  expect_fault(rig.run([&](char* nram) { __bang_write_value(nram + end, 64, 1.0f); }), {"outside of NRAM"});
  expect_fault(rig.run([&](char* nram) { __bang_write_value(nram - 64, 64, 1.0f); }), {"outside of NRAM", "-64"});
  expect_fault(rig.run([&](char*) { __bang_write_value(output.data(), 64, 1.0f); }), {"not in NRAM", "output+0"});
}

TEST_F(Faults, ScalarStoresBeyondNram) {
  expect_fault(rig.run([&](char* nram) { nram[nram_bytes() + 10] = 0; }), {"scalar code", "outside of NRAM"});
}

TEST_F(Faults, GdramBounds) {
  expect_fault(rig.run([&](char* nram) { __memcpy(nram, input.data() + 255, 8, GDRAM2NRAM); }),
               {"source", "input+1020", "1024 bytes"});
  expect_fault(rig.run([&](char* nram) { __memcpy(nram, input.data(), 8, GDRAM2NRAM, 8, 512, 2); }),
               {"input+0", "1024 bytes"});
  std::vector<float> other(4);
  expect_fault(rig.run([&](char* nram) { __memcpy(nram, other.data(), 8, GDRAM2NRAM); }), {"no tensor"});
  expect_fault(rig.run([&](char* nram) { __memcpy(nram, nram + 128, 8, GDRAM2NRAM); }), {"wanted GDRAM"});
}

TEST_F(Faults, WrongUseOfATensor) {
  expect_fault(rig.run([&](char* nram) {
    __bang_write_value(nram, 16, 1.0f);
    __memcpy(input.data(), nram, 64, NRAM2GDRAM);
  }),
               {"input+0", "only read"});
  expect_fault(rig.run([&](char* nram) { __memcpy(nram, output.data(), 64, GDRAM2NRAM); }), {"output", "only written"});
}

TEST_F(Faults, AlignmentFollowsTheArchitecture) {
  const auto at_32 = [](char* nram) { __bang_move(nram + 32, nram + 1024, 256); };  // to offset 32
  const auto odd_length = [](char* nram) { __bang_move(nram, nram + 1024, 12); };
  for (const char* arch : {"mtp_220", "mtp_270", "mtp_290"}) {
    expect_fault(rig.set("arch", arch).run(at_32), {"ping+32", "a multiple of 64 bytes", arch});
    expect_fault(rig.run(odd_length), {"12 bytes", "a multiple of 128 bytes"});
  }
  for (const char* arch : {"mtp_372", "mtp_592"}) {
    EXPECT_EQ(rig.set("arch", arch).run(at_32), "");
    EXPECT_EQ(rig.run(odd_length), "") << "newer vector units take any address and length";
  }
}

/// People's kernels do so on a 372.
TEST_F(Faults, TransposesAndPoolsTakeAnySizeOnNewerUnits) {
  for (const char* arch : {"mtp_372", "mtp_592"}) {
    EXPECT_EQ(rig.set("arch", arch).run([](char* nram) {
      auto *x = reinterpret_cast<float*>(nram), *y = reinterpret_cast<float*>(nram + 1024);
      __bang_write_value(x, 45, 1.0f);
      __bang_transpose(y, x, 5, 9);
      __bang_maxpool(y, x, 5, 3, 3, 2, 2, 1, 1);
      __bang_sumpool(y, x, 5, 3, 3, 2, 2, 1, 1);
    }),
              "");
  }
}

TEST_F(Faults, NeverWritten) {
  expect_fault(rig.run([&](char* nram) { __memcpy(output.data(), nram, 64, NRAM2GDRAM); }), {"never written"});
}

// What nobody wrote may be computed with, as padding is; it must not leave NRAM.
TEST_F(Faults, UndefinedLanesTravelThroughWords) {
  const auto with = [&](std::int64_t stored, auto word) {
    return rig.run([&](char* nram) {
      __bang_write_value(nram, 32, 1.0f);
      word(reinterpret_cast<float*>(nram), reinterpret_cast<float*>(nram + 1024));
      __memcpy(output.data(), nram + 1024, stored * 4, NRAM2GDRAM);
    });
  };
  const auto expect_33rd = [&](auto word) {
    EXPECT_EQ(with(32, word), "");
    expect_fault(with(33, word), {"__memcpy", "source pong+0", "never written", "pong+128"});
  };
  expect_33rd([](float* x, float* y) { __bang_add(y, x, x, 48); });
  expect_33rd([](float* x, float* y) { __bang_mul_scalar(y, x, 0.0f, 48); });
  expect_33rd([](float* x, float* y) { __bang_not(y, x, 48); });
  expect_33rd([](float* x, float* y) { __bang_move(y, x, 48 * 4); });
  expect_33rd([](float* x, float* y) { __memcpy(y, x, 16, NRAM2NRAM, 16, 16, 11); });
  expect_33rd([](float* x, float* y) { __bang_cycle_add(y, x, x, 64, 16); });
  expect_33rd([](float* x, float* y) { __bang_fusion(FUSION_FMA, y, x, 2.0f, x, 64, 32); });
  expect_33rd([](float* x, float* y) { __bang_sumpool(y, x, 32, 2, 1, 1, 1, 1, 1); });
  expect_33rd([](float* x, float* y) { __bang_float2int32(reinterpret_cast<std::int32_t*>(y), x, 48, 0); });
  expect_33rd([](float* x, float* y) {
    __bang_transpose(y, x, 1 << 4, 1 << 4), __bang_transpose(x, y, 16, 16);
    __bang_move(y, x, 256);
  });
}

TEST_F(Faults, UndefinedLanesMustNotDecide) {
  const auto lanes = [](char* nram) { return reinterpret_cast<float*>(nram); };
  expect_fault(rig.run([&](char* nram) {
    __bang_write_value(nram, 32, 1.0f);
    __bang_sum(lanes(nram), 48);
  }),
               {"__bang_sum", "ping+0", "never written", "ping+128"});
  expect_fault(rig.run([&](char* nram) {
    __bang_write_value(nram, 32, 1.0f);
    __bang_atomic_reduce_add(output.data(), lanes(nram), 33);
  }),
               {"__bang_atomic_reduce_add", "never written", "ping+128"});
}

TEST_F(Faults, LookUpsWithUndefinedIndicesAreUndefined) {
  const auto store = [&](std::int64_t lanes) {
    return rig.run([&](char* nram) {
      auto* index = reinterpret_cast<std::int32_t*>(nram);
      auto *table = reinterpret_cast<float*>(nram) + 128, *found = table + 64;
      __bang_write_value(index, 32, std::int32_t{5});
      __bang_write_value(table, 6, 2.0f);
      for (int i = 0; i < 4; ++i) index[i] = 6;  // an entry nobody wrote
      __bang_lut(found, index, table, 64, 64);
      __memcpy(output.data(), found + 4, lanes * 4, NRAM2GDRAM);
      EXPECT_TRUE(std::isnan(found[0]));
    });
  };
  EXPECT_EQ(store(28), "");
  expect_fault(store(29), {"never written"});
}

TEST_F(Faults, DefinedAgainOnceOverwritten) {
  EXPECT_EQ(rig.run([&](char* nram) {
    auto* lanes = reinterpret_cast<float*>(nram);
    __bang_add(lanes, lanes, lanes, 64);
    __bang_write_value(lanes, 64, 3.0f);
    __memcpy(output.data(), lanes, 256, NRAM2GDRAM);
  }),
            "");
}

TEST_F(Faults, ScalarStoresCountAsWritten) {
  EXPECT_EQ(rig.run([&](char* nram) {
    auto* lanes = reinterpret_cast<float*>(nram);
    for (int i = 0; i < 32; ++i) lanes[i] = 0.0f;
    __bang_add(lanes, lanes, lanes, 32);
    auto* numbers = reinterpret_cast<std::int32_t*>(nram + 256);
    for (int i = 0; i < 16; ++i) numbers[i] = -1;
    __memcpy(output.data(), numbers, 64, NRAM2GDRAM);
  }),
            "");
}

TEST_F(Faults, UseBeforeTheBarrier) {
  const auto load = [&](char* nram) { __memcpy_async(nram, input.data(), 1024, GDRAM2NRAM); };
  expect_fault(rig.run([&](char* nram) {
    load(nram);
    __bang_mul_scalar(reinterpret_cast<float*>(nram + 1024), reinterpret_cast<float*>(nram + 512), 2.0f, 32);
    __sync();
  }),
               {"__bang_mul_scalar", "source", "ping+512", "in flight"});
  expect_fault(rig.run([&](char* nram) {
    load(nram);
    __bang_write_value(nram, 32, 0.0f);
    __sync();
  }),
               {"__bang_write_value", "destination", "in flight"});
  expect_fault(rig.run([&](char* nram) {
    load(nram);
    __memcpy(nram + 2048, nram, 64, NRAM2NRAM);
    __sync();
  }),
               {"__memcpy", "source", "in flight"});
  expect_fault(rig.run([&](char* nram) {
    load(nram);
    __sync_move();
    __bang_add_scalar(reinterpret_cast<float*>(nram), reinterpret_cast<float*>(nram), 1.0f, 32);
  }),
               {"in flight"});
}

TEST_F(Faults, OverwriteBeforeTheBarrier) {
  expect_fault(rig.run([&](char* nram) {
    __bang_write_value(nram, 32, 1.0f);
    __memcpy_async(output.data(), nram, 128, NRAM2GDRAM);
    __bang_write_value(nram, 32, 2.0f);
    __sync();
  }),
               {"__bang_write_value", "the source of a copy still in flight"});
}

TEST_F(Faults, ReadingTheSourceOfAQueuedStoreIsFine) {
  EXPECT_EQ(rig.run([&](char* nram) {
    __bang_write_value(nram, 32, 1.0f);
    __memcpy_async(output.data(), nram, 128, NRAM2GDRAM);
    __bang_add(reinterpret_cast<float*>(nram + 128), reinterpret_cast<float*>(nram), reinterpret_cast<float*>(nram),
               32);
    __sync();
  }),
            "");
}

TEST_F(Faults, BetweenThePiecesOfAStridedCopyIsFree) {
  const auto between = [&](std::int64_t offset) {
    return rig.run([&](char* nram) {
      __memcpy_async(nram, input.data(), 64, GDRAM2NRAM, 128, 64, 3);
      __bang_write_value(nram + offset, 16, 1.0f);
      __sync();
    });
  };
  EXPECT_EQ(between(64), "");
  EXPECT_EQ(between(64 + 128), "");
  EXPECT_EQ(between(448), "");
  expect_fault(between(128), {"in flight"});
  expect_fault(between(384), {"in flight"});
}

TEST_F(Faults, EnginesAreOrderedByBarriersOnly) {
  expect_fault(rig.run([&](char* nram) {
    __memcpy_async(nram, input.data(), 64, GDRAM2NRAM);
    __memcpy_async(nram + 1024, nram, 32, NRAM2NRAM, 32, 32, 1);
    __sync();
  }),
               {"__memcpy_async", "another engine"});
}

// A queued store of undefined bytes is found at the latest when it happens.
TEST_F(Faults, QueuedStoresOfUndefinedBytes) {
  expect_fault(rig.run([&](char* nram) { __memcpy_async(output.data(), nram, 64, NRAM2GDRAM); }), {"never written"});
  expect_fault(rig.run([&](char* nram) {
    __memcpy_async(nram, input.data(), 64, GDRAM2NRAM);
    __memcpy_async(output.data(), nram, 65, NRAM2GDRAM);
    __sync();
  }),
               {"__memcpy_async", "never written", "ping+64"});
}

TEST_F(Faults, TwoTasksWritingTheSameBytes) {
  rig.dims(4);
  expect_fault(rig.run([&](char* nram) {
    __bang_write_value(nram, 32, 1.0f);
    __memcpy(output.data() + taskId * 30, nram, 128, NRAM2GDRAM);
  }),
               {"task 1", "output+120", "race"});
  EXPECT_EQ(rig.run([&](char* nram) {
    __bang_write_value(nram, 32, 1.0f);
    __memcpy(output.data() + taskId * 32, nram, 128, NRAM2GDRAM);
  }),
            "");
}

TEST_F(Faults, AtomicAndPlainWritesDoNotMix) {
  Rig own;
  own.dims(2).tensor("sum", output, Access::kReadWrite);
  expect_fault(own.run([&](char* nram) {
    __bang_write_value(nram, 32, 1.0f);
    if (taskId == 0) __bang_atomic_reduce_add(output.data(), reinterpret_cast<float*>(nram), 32);
    if (taskId == 1) __memcpy(output.data() + 31, nram, 4, NRAM2GDRAM);
  }),
               {"task 1", "sum+124", "race"});
  expect_fault(own.run([&](char* nram) {
    if (taskId == 0) __bang_atomic_reduce_add(output.data(), 1.0f);
    if (taskId == 1) __memcpy(nram, output.data(), 4, GDRAM2NRAM);
  }),
               {"task 1", "sum+0", "race"});
}

TEST_F(Faults, AtomicBounds) {
  expect_fault(rig.run([&](char* nram) {
    __bang_write_value(nram, 32, 1.0f);
    __bang_atomic_reduce_add(output.data() + 240, reinterpret_cast<float*>(nram), 32);
  }),
               {"__bang_atomic_reduce_add", "output+960"});
  expect_fault(rig.run([&](char*) { __bang_atomic_reduce_add(input.data(), 1.0f); }), {"input+0", "only read"});
}

TEST_F(Faults, RulesOfTheWords) {
  const auto lanes = [](char* nram) { return reinterpret_cast<float*>(nram); };
  const auto with_ones = [&](auto body) {
    return rig.run([&](char* nram) {
      __bang_write_value(nram, 1024, 1.0f);
      body(lanes(nram));
    });
  };
  expect_fault(with_ones([](float* p) { __bang_transpose(p, p, 16, 16); }), {"in place"});
  expect_fault(with_ones([](float* p) { __bang_cycle_mul(p, p, p + 512, 64, 48); }), {"multiple of the cycle"});
  expect_fault(with_ones([](float* p) { __bang_maxpool(p, p, 32, 2, 1, 2, 1, 1, 1, 1, 1, 2, 1); }), {"as 1 only"});
  EXPECT_EQ(with_ones([](float* p) { __bang_transpose(p + 512, p, 3, 5); }), "") << "any height and width";
  EXPECT_EQ(with_ones([](float* p) { __bang_sumpool(p + 512, p, 1, 7, 3, 2, 2, 1, 1); }), "") << "any channels";
  expect_fault(with_ones([](float* p) { __bang_sumpool(p, p, 32, 2, 1, 3, 1, 1, 1); }), {"window"});
  expect_fault(with_ones([](float* p) { __bang_float2int32(reinterpret_cast<std::int32_t*>(p), p, 64, 128); }),
               {"position must lie in [-127, 127]"});
  expect_fault(with_ones([&](float* p) { __memcpy(p, input.data(), 4, GDRAM2NRAM, 4, std::int64_t{1} << 31, 1); }),
               {"source stride"});
}

TEST_F(Faults, EachCheckCanBeSwitchedOff) {
  const auto unwritten = [&](char* nram) { __memcpy(output.data(), nram, 64, NRAM2GDRAM); };
  const auto race = [&](char* nram) {
    __bang_write_value(nram, 16, 1.0f);
    __memcpy(output.data(), nram, 64, NRAM2GDRAM);
  };
  const auto in_flight = [&](char* nram) {
    __bang_write_value(nram, 16, 1.0f);
    __memcpy_async(nram, input.data(), 64, GDRAM2NRAM);
    __bang_mul_scalar(reinterpret_cast<float*>(nram), reinterpret_cast<float*>(nram), 2.0f, 16);
  };
  const auto misaligned = [&](char* nram) { __bang_write_value(nram + 4, 3, 1.0f); };
  rig.dims(2);
  EXPECT_EQ(rig.set("check", "memory,race,overlap").dims(1).run(unwritten), "");
  EXPECT_EQ(rig.set("check", "memory,init,overlap").dims(2).run(race), "");
  EXPECT_EQ(rig.set("check", "memory,init,race").run(in_flight), "");
  EXPECT_EQ(rig.set("check", "init,race,overlap").run(misaligned), "");
  rig.set("check", "off");
  for (const KernelBody& body :
       {KernelBody(unwritten), KernelBody(race), KernelBody(in_flight), KernelBody(misaligned)})
    EXPECT_EQ(rig.run(body), "");
}

// Scalar code is not watched, but finds NaN where a queued copy has not arrived.
TEST_F(Faults, ScalarReadsOfAQueuedTargetGiveNan) {
  EXPECT_EQ(rig.run([&](char* nram) {
    __bang_write_value(nram, 32, 5.0f);
    __memcpy_async(nram, input.data(), 128, GDRAM2NRAM);
    EXPECT_TRUE(std::isnan(reinterpret_cast<float*>(nram)[3]));
    __sync();
    EXPECT_EQ(reinterpret_cast<float*>(nram)[3], 1.0f);
  }),
            "");
}

TEST(Limit, EndsWhatWouldLoopForEver) {
  std::vector<float> in(8);
  const std::vector<std::function<void(char*)>> bodies = {
      [](char* nram) { __bang_write_value(nram, 8, 1.0f); },
      [&](char* nram) { __memcpy(nram, in.data(), 4, GDRAM2NRAM); },
      [](char*) { __sync(); },
      [&](char*) { __load_gdram(in.data()); },
      [&](char*) { __bang_atomic_reduce_add(in.data() + 1, 1.0f); },
  };
  for (const auto& body : bodies) {
    Rig rig;
    rig.set("limit", "1000").tensor("in", in, Access::kReadWrite);
    expect_fault(rig.run([&](char* nram) {
      while (true) body(nram);
    }),
                 {"test_kernel, task 0", "1000 builtins", "MLUOP_EMU_LIMIT"});
    EXPECT_EQ(rig.run([&](char* nram) {
      for (int i = 0; i < 200; ++i) body(nram);
    }),
              "")
        << "the count starts anew";
  }
  Rig timed;
  expect_fault(timed.set("limit", "1s").run([](char*) {
    while (true) __sync();
  }),
               {"test_kernel, task 0", "1 s MLUOP_EMU_LIMIT"});
  EXPECT_NE(Rig().context.settings.set("limit", "0"), "");
  EXPECT_NE(Rig().context.settings.set("limit", "many"), "");
  EXPECT_NE(Rig().context.settings.set("limit", "s"), "");
  EXPECT_NE(Rig().context.settings.set("limit", "-1s"), "");
}

}  // namespace
}  // namespace mluops::emu::test
