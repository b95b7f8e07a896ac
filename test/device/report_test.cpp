// Statistics, the cost model's clock, reports as JSON.
#include <algorithm>

#include "test/device/rig.h"

namespace mluops::emu::test {
namespace {

/// Rates with round numbers, so that times can be worked out by hand: 1 byte a ns from GDRAM for one core. Each task
/// starts in 1000 ns.
constexpr const char* kRoundRates =
    "gdram_gbps=1,core_gdram_gbps=1,clock_ghz=1,vector_bytes_cycle=1,move_bytes_cycle=1,gdram_latency_ns=100,"
    "gdram_segment_ns=10,move_latency_ns=7,move_segment_ns=5,vector_latency_cycles=3,"
    "elementary_cost=4,convert_cost=2,rearrange_cost=3,pool_cost=6,reduce_cost=5,tensor_macs_cycle=1024,"
    "tensor_latency_cycles=9,atomic_ns=200,task_ns=1000,launch_us=1";
constexpr double kStart = 1000;

class Reports : public testing::Test {
 protected:
  Reports() {
    rig.set("rates", kRoundRates).set("trace", "on");
    rig.tensor("in", in, Access::kRead).tensor("out", out, Access::kWrite);
    rig.spec.nram = {{"rows", 0, 2048}};
  }
  const CoreStats& core() const { return rig.report().cores[0]; }
  std::vector<float> in = std::vector<float>(512, 1.0f), out = std::vector<float>(512);
  Rig rig;
};

TEST_F(Reports, SynchronousWordsAddUp) {
  EXPECT_EQ(rig.run([&](char* nram) {
    __memcpy(nram, in.data(), 256, GDRAM2NRAM);                                                   // 100 + 256
    __bang_mul_scalar(reinterpret_cast<float*>(nram), reinterpret_cast<float*>(nram), 2.0f, 64);  // 3 + 256
    __memcpy(nram + 256, nram, 64, NRAM2NRAM);                                                    // 7 + 64
    __memcpy(out.data(), nram, 64, NRAM2GDRAM, 128, 64, 3);  // 100 + 3 * 10 + 4 * 64
  }),
            "");
  EXPECT_DOUBLE_EQ(core().time, kStart + 356 + 259 + 71 + 386);
  EXPECT_DOUBLE_EQ(core().busy[0], 356 + 386);
  EXPECT_DOUBLE_EQ(core().busy[1], 0) << "one piece within NRAM is the vector unit's";
  EXPECT_DOUBLE_EQ(core().busy[2], 259 + 71);
  EXPECT_DOUBLE_EQ(core().hidden_io, 0);
  EXPECT_EQ(core().vector_words, 1);
  EXPECT_EQ(core().vector_lanes, 64);
}

TEST_F(Reports, GdramMovesWholeGranules) {
  EXPECT_EQ(rig.run([&](char* nram) { __memcpy(nram, in.data() + 15, 8, GDRAM2NRAM); }), "");
  EXPECT_DOUBLE_EQ(core().time, kStart + 100 + 128) << "8 bytes across a border of 64";
}

TEST_F(Reports, AnAsyncCopyHidesBehindWork) {
  EXPECT_EQ(rig.run([&](char* nram) {
    __bang_write_value(nram, 64, 1.0f);                       // 0 .. 259
    __memcpy_async(nram + 1024, in.data(), 256, GDRAM2NRAM);  // 259 .. 615
    __bang_write_value(nram + 256, 64, 1.0f);                 // 259 .. 518, all of it beside the copy
    __sync();                                                 // 615
    __bang_write_value(nram, 64, 1.0f);                       // .. 874
  }),
            "");
  EXPECT_DOUBLE_EQ(core().time, kStart + 874);
  EXPECT_DOUBLE_EQ(core().hidden_io, 259);
}

TEST_F(Reports, CoresShareTheBandwidth) {
  rig.dims(4);
  EXPECT_EQ(rig.run([&](char* nram) { __memcpy(nram, in.data(), 256, GDRAM2NRAM); }), "");
  for (const CoreStats& c : rig.report().cores) EXPECT_DOUBLE_EQ(c.time, kStart + 100 + 4 * 256);
  EXPECT_DOUBLE_EQ(rig.report().time, kStart + 1124);
}

TEST_F(Reports, TheTraceHasEveryWord) {
  EXPECT_EQ(rig.run([&](char* nram) {
    __memcpy(nram, in.data(), 256, GDRAM2NRAM);
    __bang_write_value(nram, 64, 1.0f);
  }),
            "");
  const auto& events = rig.report().events[0];
  ASSERT_EQ(events.size(), 2u);
  EXPECT_STREQ(events[1].word, "__bang_write_value");
  EXPECT_DOUBLE_EQ(events[1].start, kStart + 356);
  EXPECT_DOUBLE_EQ(events[1].duration, 259);
  const std::string json = trace_json(rig.context.report());
  for (const char* part : {"\"traceEvents\"", "\"ph\": \"X\"", "\"__memcpy\"", "\"cluster 0 core 0\"", "\"IO-DMA\""})
    EXPECT_NE(json.find(part), std::string::npos) << part;
}

/// Times of words, each the only one of a task.
class TimesOfWords : public Reports {
 protected:
  template <class Body>
  double ns(Body&& body) {
    const double empty = run([](float*) {});
    return run(body) - empty;
  }

 private:
  template <class Body>
  double run(Body&& body) {
    rig.set("check", "off");
    EXPECT_EQ(rig.run([&](char* nram) { body(reinterpret_cast<float*>(nram)); }), "");
    return core().time;
  }
};

TEST_F(TimesOfWords, KindsOfVectorWordsHaveTheirPrice) {
  EXPECT_DOUBLE_EQ(ns([](float* x) { __bang_add(x, x, x, 64); }), 3 + 256);
  EXPECT_DOUBLE_EQ(ns([](float* x) { __bang_active_exp(x, x, 64); }), 3 + 4 * 256);
  EXPECT_DOUBLE_EQ(ns([](float* x) { __bang_div(x, x, x, 64); }), 3 + 4 * 256);
  EXPECT_DOUBLE_EQ(ns([](float* x) { __bang_float2half_rn(reinterpret_cast<half*>(x), x, 64); }), 3 + 2 * 128);
  EXPECT_DOUBLE_EQ(ns([](float* x) { __bang_transpose(x + 64, x, 8, 8); }), 3 + 3 * 256);
  EXPECT_DOUBLE_EQ(ns([](float* x) { __bang_reduce_sum(x, x, 64); }), 3 + 5 * 256);
}

TEST_F(TimesOfWords, APoolTakesTheTimeOfItsWindows) {
  constexpr int kPixels = 4, kChannels = 32;  // a line of floats
  for (const int window : {2, 4}) {
    const double results = 1.0 * kChannels * kPixels / window * kPixels / window, values = results * window * window;
    EXPECT_DOUBLE_EQ(ns([&](float* x) { __bang_maxpool(x + 512, x, kChannels, kPixels, kPixels, window, window); }),
                     3 + 6 * 4 * values)
        << window;
  }
  const auto overlapping = [&](int window) {
    return ns([&](float* x) { __bang_maxpool(x + 4096, x, kChannels, 8, 8, window, window, 1, 1); });
  };
  EXPECT_DOUBLE_EQ(overlapping(3), 3 + 6 * 4 * 36 * 9.0 * kChannels);
  EXPECT_DOUBLE_EQ(ns([](float* x) { __bang_maxpool(x + 512, x, 1, 4, 4, 2, 2); }), 3 + 6 * 128 * 4 * 4.0)
      << "one channel takes the time of a line of them";
}

TEST_F(TimesOfWords, SegmentsWithinTheChipCost) {
  EXPECT_DOUBLE_EQ(ns([](float* x) { __memcpy(x + 1024, x, 60, NRAM2NRAM, 256, 128, 3); }), 7 + 4 * 60 + 3 * 5);
  EXPECT_DOUBLE_EQ(ns([](float* x) { __memcpy(x + 1024, x, 60, NRAM2NRAM); }), 7 + 60);
}

TEST_F(TimesOfWords, ScatteredSegmentsOnEitherSideOfACopyCost) {
  EXPECT_DOUBLE_EQ(ns([&](float* x) { __memcpy(x, in.data(), 64, GDRAM2NRAM, 64, 128, 3); }), 100 + 4 * 64 + 3 * 10);
  EXPECT_DOUBLE_EQ(ns([&](float* x) { __memcpy(x, in.data(), 64, GDRAM2NRAM, 128, 64, 3); }), 100 + 4 * 64 + 3 * 10);
  EXPECT_DOUBLE_EQ(ns([&](float* x) { __memcpy(x, in.data(), 64, GDRAM2NRAM, 64, 64, 3); }), 100 + 4 * 64);
}

TEST_F(TimesOfWords, OneCoreDoesNotGetAllOfTheMemory) {
  rig.set("rates", "gdram_gbps=32,core_gdram_gbps=2");
  EXPECT_DOUBLE_EQ(ns([&](float* x) { __memcpy(x, in.data(), 256, GDRAM2NRAM); }), 100 + 128);
}

TEST_F(TimesOfWords, AtomicsHaveAStartOfTheirOwn) {
  EXPECT_DOUBLE_EQ(ns([&](float* x) { __bang_atomic_reduce_add(out.data(), x, 64); }), 200 + 2 * 256);
}

TEST_F(Reports, TheRooflineNamesWhatBounds) {
  rig.set("rates", "gdram_gbps=1000,core_gdram_gbps=1000");
  EXPECT_EQ(rig.run([&](char* nram) {
    __bang_write_value(nram, 512, 1.0f);
    for (int i = 0; i < 50; ++i) __bang_active_exp(reinterpret_cast<float*>(nram), reinterpret_cast<float*>(nram), 512);
    __memcpy(out.data(), nram, 2048, NRAM2GDRAM);
  }),
            "");
  const std::string json = report_json(rig.context.report());
  for (const char* part : {"\"roofline\": {\"card\": \"mlu370-x8\", \"bytes\": 2048, \"operations\": 26112",
                           "\"bound\": \"vector\"", "\"time_spread\": {\"half\": "}) {
    EXPECT_NE(json.find(part), std::string::npos) << part << " in\n" << json;
  }
}

TEST_F(Reports, NoEventsUnlessTraced) {
  rig.set("trace", "off");
  EXPECT_EQ(rig.run([&](char* nram) { __bang_write_value(nram, 64, 1.0f); }), "");
  EXPECT_TRUE(rig.report().events[0].empty());
}

TEST_F(Reports, TheMinimumCountsEachTensorOnce) {
  EXPECT_EQ(rig.run([&](char* nram) {
    for (int i = 0; i < 3; ++i) __memcpy(nram, in.data(), 2048, GDRAM2NRAM);
    __memcpy(out.data(), nram, 2048, NRAM2GDRAM);
  }),
            "");
  const std::string json = report_json(rig.context.report());
  for (const char* part : {"\"gdram_minimum_bytes\": 4096", "\"gdram_moved_bytes\": 8192", "\"name\": \"rows\"",
                           "\"kernel\": \"test_kernel\"", "\"type\": \"BLOCK\"", "\"dim\": [1, 1, 1]"})
    EXPECT_NE(json.find(part), std::string::npos) << part << " in\n" << json;
}

TEST_F(Reports, BracketsBalance) {
  EXPECT_EQ(rig.dims(3).run([&](char* nram) { __bang_write_value(nram, 64, 1.0f); }), "");
  rig.context.begin_call("empty");
  for (const std::string& json :
       {report_json(rig.context.report()), trace_json(rig.context.report()), arch_json(rig.context.settings)}) {
    EXPECT_EQ(std::count(json.begin(), json.end(), '{'), std::count(json.begin(), json.end(), '}'));
    EXPECT_EQ(std::count(json.begin(), json.end(), '['), std::count(json.begin(), json.end(), ']'));
    EXPECT_EQ(json.find(", ,"), std::string::npos) << json;
    EXPECT_EQ(json.find("{,"), std::string::npos) << json;
  }
}

/// Of that many cores of clusters and memory cores; each has one event.
LaunchReport launch_of(std::size_t cores, std::size_t memory_cores) {
  LaunchReport launch;
  launch.spec.kernel = "kernel";
  launch.time = 1000;
  launch.cores.resize(cores + memory_cores);
  launch.events.resize(cores + memory_cores);
  for (std::size_t c = 0; c < launch.cores.size(); ++c) {
    launch.cores[c].memory_core = c >= cores;
    Event event = {};
    event.word = c < cores ? "of_core" : "of_memory_core";
    launch.events[c].push_back(event);
  }
  return launch;
}

TEST(ReportsOfClusters, AMemoryCoreHasItsNameInEveryLaunch) {
  CallReport report = {"call", {}, {launch_of(4, 1), launch_of(8, 2), launch_of(1, 0)}};
  ASSERT_EQ(report.settings.arch.cores(), 16);
  const std::string json = trace_json(report);
  const auto count = [&](const std::string& part) {
    int n = 0;
    for (std::size_t at = json.find(part); at != std::string::npos; at = json.find(part, at + 1)) ++n;
    return n;
  };
  EXPECT_EQ(count("\"cluster 1 core 3\""), 1);
  EXPECT_EQ(count("\"cluster 0 memory core\""), 1);
  EXPECT_EQ(count("\"cluster 1 memory core\""), 1);
  EXPECT_EQ(count("\"process_name\""), 8 + 2);
  EXPECT_EQ(count("\"of_memory_core\", \"pid\": 16,"), 2) << json;
  EXPECT_EQ(count("\"of_memory_core\", \"pid\": 17,"), 1);
  EXPECT_EQ(count("\"of_core\", \"pid\": 4,"), 1);
}

TEST(ReportsOfClusters, TheRooflineCountsWhatScalarCodeMoves) {
  CallReport report = {"call", {}, {launch_of(4, 1)}};
  report.launches[0].traffic.push_back({"in", 4096, 1000, 0, Access::kRead});
  report.launches[0].cores[0].scalar.gdram_bytes = 300;
  report.launches[0].cores[4].scalar.gdram_bytes = 4;
  const std::string json = report_json(report);
  for (const char* part :
       {"\"bytes\": 1304,", "\"bound\": \"memory\"", "\"scalar_bytes\": 304", "\"gdram_moved_bytes\": 1000,"}) {
    EXPECT_NE(json.find(part), std::string::npos) << part << "\n" << json;
  }
}

}  // namespace
}  // namespace mluops::emu::test
