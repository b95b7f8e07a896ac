#include "backends/mlu_emu/device/settings.h"

#include <gtest/gtest.h>

#include <clocale>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>

#include "backends/mlu_emu/device/report.h"
#include "mlu_op.h"
#include "mlu_op_ext.h"
#include "test/support/environment.h"

namespace mluops::emu::test {
namespace {

using mluops::test::Environment;

TEST(Arch, PresetsHaveTheDocumentedSizes) {
  const std::map<std::string, std::int64_t> nram = {
      {"mtp_220", 393216}, {"mtp_270", 393216}, {"mtp_290", 393216}, {"mtp_372", 655360}, {"mtp_592", 393216}};
  for (const auto& [name, bytes] : nram) {
    const Arch* arch = find_arch(name);
    ASSERT_NE(arch, nullptr) << name;
    EXPECT_EQ(arch->nram_bytes, bytes) << name;
    EXPECT_EQ(arch->cores_per_cluster, 4) << name;
    EXPECT_EQ(arch->vector_alignment(), arch->number < 300 ? 128 : 1) << name;
  }
  EXPECT_EQ(find_arch("mtp_372")->sram_bytes, 4063232);
  EXPECT_EQ(find_arch("mtp_371"), nullptr);
  EXPECT_EQ(Settings().arch.name, kDefaultArch);
}

TEST(Arch, CardsAreArchitecturesWithTheirClusters) {
  ASSERT_NE(find_card("mlu370-x4"), nullptr);
  EXPECT_EQ(find_card("mlu370-x4")->name, "mtp_372");
  EXPECT_EQ(find_card("mlu370-x4")->clusters, 8);
  EXPECT_EQ(find_card("mlu370-x4")->nram_bytes, find_arch("mtp_372")->nram_bytes);
  EXPECT_EQ(find_card("mlu370-x8")->clusters, 4);
  EXPECT_EQ(find_card("mlu370"), nullptr);
  EXPECT_EQ(card_of_programs(372).card, "mlu370-x4");
  EXPECT_EQ(card_of_programs(592).card, "mlu590");
  EXPECT_EQ(Settings().arch.card, "mlu370-x8") << "the machine of the documents";
}

TEST(Settings, ACardComesAfterTheArchitecture) {
  Settings s;
  EXPECT_EQ(s.set("device", "mlu370-x4"), "");
  EXPECT_EQ(s.arch.clusters, 8);
  EXPECT_EQ(s.set("device", "mlu1"),
            "wanted one of mlu220, mlu270, mlu290, mlu370-x8, mlu590, mlu370-x4, got \"mlu1\"");
  EXPECT_EQ(s.arch.clusters, 8);
  const Environment env{{"MLUOP_EMU_ARCH", "mtp_270"}, {"MLUOP_EMU_DEVICE", "mlu590"}, {"MLUOP_EMU_CLUSTERS", "3"}};
  Settings chosen;
  EXPECT_EQ(chosen.read_environment(), "");
  EXPECT_EQ(chosen.arch.name, "mtp_592");
  EXPECT_EQ(chosen.arch.clusters, 3);
}

TEST(Settings, NramIsWholeLines) {
  Settings s;
  EXPECT_EQ(s.set("nram_bytes", "65536"), "");
  for (const char* bytes : {"65537", "65535", "65600", "896", "67108992", "0", "-128", "64k", ""}) {
    EXPECT_NE(s.set("nram_bytes", bytes), "") << bytes;
    EXPECT_EQ(s.arch.nram_bytes, 65536) << bytes;
  }
  EXPECT_EQ(s.set("nram_bytes", "1024"), "");
  EXPECT_EQ(s.set("nram_bytes", "67108864"), "");
}

TEST(Settings, SizesOfTheLaunchIncludeBothEnds) {
  Settings s;
  for (const int clusters : {1, 1024}) {
    EXPECT_EQ(s.set("clusters", std::to_string(clusters)), "");
    EXPECT_EQ(s.arch.clusters, clusters);
  }
  EXPECT_NE(s.set("clusters", "1025"), "");
  for (const int cores : {1, 64}) {
    EXPECT_EQ(s.set("cores_per_cluster", std::to_string(cores)), "");
    EXPECT_EQ(s.arch.cores_per_cluster, cores);
  }
  EXPECT_NE(s.set("cores_per_cluster", "65"), "");
}

TEST(Settings, ATraceIsOffOnOrANumberOfEvents) {
  Settings s;
  EXPECT_EQ(s.trace_events, 0);
  EXPECT_EQ(s.set("trace", "on"), "");
  EXPECT_EQ(s.trace_events, 1 << 20);
  EXPECT_EQ(s.set("trace", std::to_string(1 << 26)), "");
  EXPECT_EQ(s.trace_events, 1 << 26);
  EXPECT_NE(s.set("trace", std::to_string((1 << 26) + 1)), "");
  EXPECT_EQ(s.set("trace", "off"), "");
  EXPECT_EQ(s.trace_events, 0);
}

TEST(Settings, ALimitIsOfWordsOrOfSeconds) {
  Settings s;
  const auto expect = [&](const std::string& text, std::int64_t words, std::int64_t seconds) {
    EXPECT_EQ(s.set("limit", text), "") << text;
    EXPECT_EQ(s.word_limit, words) << text;
    EXPECT_EQ(s.seconds_limit, seconds) << text;
  };
  expect("7", 7, 0);
  expect("1s", 0, 1);
  expect("250", 250, 0);
  expect("30s", 0, 30);
  expect("off", 0, 0);
}

TEST(Settings, RatesHaveBounds) {
  Settings s;
  for (const char* rate : {"1e-6", "1e9", "12.5"}) EXPECT_EQ(s.set("rates", std::string("clock_ghz=") + rate), "");
  for (const char* rate : {"1e-7", "1.1e9", "1e308", "1e-310", "inf", "nan", "-1", "0", "", "1,5", "1.5x", " 1"}) {
    EXPECT_NE(s.set("rates", std::string("clock_ghz=") + rate), "") << rate;
  }
}

TEST(Settings, FieldsOverrideThePresetOneByOne) {
  const Environment env{{"MLUOP_EMU_ARCH", "mtp_270"},       {"MLUOP_EMU_NRAM_BYTES", "65536"},
                        {"MLUOP_EMU_CLUSTERS", "3"},         {"MLUOP_EMU_CORES_PER_CLUSTER", "5"},
                        {"MLUOP_EMU_CHECK", "init,race"},    {"MLUOP_EMU_ORDER", "shuffled:7"},
                        {"MLUOP_EMU_RATES", "clock_ghz=1.5"}};
  Settings s;
  ASSERT_EQ(s.read_environment(), "");
  EXPECT_EQ(s.arch.name, "mtp_270");
  EXPECT_EQ(s.arch.nram_bytes, 65536);
  EXPECT_EQ(s.arch.clusters, 3);
  EXPECT_EQ(s.arch.cores_per_cluster, 5);
  EXPECT_TRUE(s.checks.init && s.checks.race && !s.checks.memory && !s.checks.overlap);
  EXPECT_EQ(s.order, Order::kShuffled);
  EXPECT_EQ(s.seed, 7u);
  EXPECT_EQ(s.rates.clock_ghz, 1.5);
  EXPECT_EQ(s.rates.gdram_gbps, 102.4);
}

TEST(Settings, ImpossibleValuesSayWhatWasWanted) {
  const std::vector<std::vector<std::string>> wrong = {{"arch", "mtp_999", "mtp_372"},
                                                       {"nram_bytes", "100", "multiple of 128"},
                                                       {"nram_bytes", "1000000000000", "["},
                                                       {"nram_bytes", "64k", "64k"},
                                                       {"clusters", "0", "[1, 1024]"},
                                                       {"cores_per_cluster", "-1", "[1, 64]"},
                                                       {"check", "speed", "race"},
                                                       {"check", "", "off"},
                                                       {"order", "shuffled:x", "SEED"},
                                                       {"order", "any", "parallel"},
                                                       {"trace", "yes", "on, off"},
                                                       {"trace", "-3", "on, off"},
                                                       {"rates", "clock_ghz=-1", "number in [1e-6, 1e9]"},
                                                       {"rates", "speed=1", "speed"},
                                                       {"nonsense", "1", "unknown option"}};
  for (const auto& w : wrong) {
    Settings s;
    const std::string problem = s.set(w[0], w[1]);
    EXPECT_NE(problem.find(w[2]), std::string::npos) << w[0] << "=" << w[1] << ": \"" << problem << "\"";
    EXPECT_EQ(s.arch.nram_bytes, 655360) << "a refused value changed something";
  }
}

TEST(Settings, CheckOffAndAll) {
  Settings s;
  ASSERT_EQ(s.set("check", "off"), "");
  EXPECT_FALSE(s.checks.memory || s.checks.init || s.checks.race || s.checks.overlap);
  ASSERT_EQ(s.set("check", "all"), "");
  EXPECT_TRUE(s.checks.memory && s.checks.init && s.checks.race && s.checks.overlap);
}

// Through the C API: a handle that names an unknown machine is not made, and the text says what is known.
TEST(Handle, UnknownArchIsNotInitialized) {
  const Environment env{{"MLUOP_BACKEND", "mlu_emu"}, {"MLUOP_EMU_ARCH", "mtp_1000"}};
  mluOpHandle_t handle = nullptr;
  EXPECT_EQ(mluOpCreate(&handle), MLUOP_STATUS_NOT_INITIALIZED);
  const std::string text = mluOpExtGetLastErrorText();
  EXPECT_NE(text.find("MLUOP_EMU_ARCH"), std::string::npos) << text;
  EXPECT_NE(text.find("mtp_290"), std::string::npos) << text;
}

TEST(Handle, OptionsAndQueries) {
  const Environment env{{"MLUOP_BACKEND", "mlu_emu"}};
  mluOpHandle_t handle = nullptr;
  ASSERT_EQ(mluOpCreate(&handle), MLUOP_STATUS_SUCCESS) << mluOpExtGetLastErrorText();
  EXPECT_EQ(mluOpExtSetOption(handle, "mlu_emu", "arch", "mtp_290"), MLUOP_STATUS_SUCCESS);
  EXPECT_EQ(mluOpExtSetOption(handle, "mlu_emu", "arch", "mtp_1"), MLUOP_STATUS_BAD_PARAM);
  EXPECT_NE(std::string(mluOpExtGetLastErrorText()).find("mtp_592"), std::string::npos) << mluOpExtGetLastErrorText();
  EXPECT_EQ(mluOpExtSetOption(handle, "mlu_emu", "colour", "red"), MLUOP_STATUS_BAD_PARAM);
  char buffer[4096];
  size_t length = 0;
  ASSERT_EQ(mluOpExtQuery(handle, "mlu_emu", "arch", buffer, sizeof(buffer), &length), MLUOP_STATUS_SUCCESS);
  EXPECT_EQ(std::string(buffer).size(), length);
  EXPECT_NE(std::string(buffer).find("\"mtp_290\""), std::string::npos) << buffer;
  char few[8];
  EXPECT_EQ(mluOpExtQuery(handle, "mlu_emu", "arch", few, sizeof(few), &length), MLUOP_STATUS_SUCCESS);
  EXPECT_EQ(std::string(few), std::string(buffer).substr(0, 7));
  EXPECT_EQ(mluOpExtQuery(handle, "mlu_emu", "weather", nullptr, 0, &length), MLUOP_STATUS_BAD_PARAM);
  EXPECT_EQ(mluOpDestroy(handle), MLUOP_STATUS_SUCCESS);
}

}  // namespace
}  // namespace mluops::emu::test
