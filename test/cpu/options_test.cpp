// Settings of a cpu context: environment, options, queries, and which instruction-set level runs.
#include <hwy/highway.h>

#include "backends/cpu/runtime/context.h"
#include "test/cpu/support.h"
#include "test/support/environment.h"

namespace mluops::cpu::test {
namespace {

using mluops::test::Environment;

TEST(CpuOptions, EnvironmentIsReadWhenAContextIsMade) {
  const std::string level = Backend().option("isa", kLowestLevel).query("isa");
  const Environment environment{
      {"MLUOP_CPU_ISA", kLowestLevel}, {"MLUOP_CPU_THREADING", "tbb"}, {"MLUOP_CPU_SCATTER", "atomic"}};
  const Backend backend;
  EXPECT_EQ(backend.query("isa"), level);
  EXPECT_EQ(backend.query("threading"), "tbb");
  EXPECT_EQ(backend.query("scatter"), "atomic");
}

TEST(CpuOptions, UnknownEnvironmentValuesMakeCreateFailWithAText) {
  const std::pair<const char*, const char*> wrong[] = {
      {"MLUOP_CPU_ISA", "altivec"}, {"MLUOP_CPU_THREADING", "cilk"}, {"MLUOP_CPU_SCATTER", "gather"}};
  for (const auto& [name, value] : wrong) {
    const Environment variable{{name, value}};
    void* context = nullptr;
    last_error.clear();
    EXPECT_EQ(mluops_backend_cpu.create(note_error, &context), MLUOP_STATUS_NOT_INITIALIZED) << name;
    EXPECT_EQ(context, nullptr);
    EXPECT_NE(last_error.find(name), std::string::npos) << last_error;
    EXPECT_NE(last_error.find(value), std::string::npos) << last_error;
  }
}

TEST(CpuOptions, UnknownKeysAndValuesAreBadParamAndChangeNothing) {
  Backend backend;
  backend.option("scatter", "owner");
  EXPECT_EQ(mluops_backend_cpu.set_option(backend.context(), "scatter", "both", note_error), MLUOP_STATUS_BAD_PARAM);
  EXPECT_EQ(last_error, "wanted one of auto, owner, atomic, got \"both\"");
  EXPECT_EQ(mluops_backend_cpu.set_option(backend.context(), "colour", "owner", note_error), MLUOP_STATUS_BAD_PARAM);
  EXPECT_EQ(last_error, "unknown option; known: isa, threading, scatter, path, memory");
  EXPECT_EQ(backend.query("scatter"), "owner");
  EXPECT_EQ(mluops_backend_cpu.query(backend.context(), "colour", nullptr, 0), -1);
}

TEST(CpuOptions, QueryAnswersLikeSnprintf) {
  Backend backend;
  backend.option("threading", "openmp");
  char text[4] = "xyz";
  EXPECT_EQ(mluops_backend_cpu.query(backend.context(), "threading", text, sizeof text), 6);
  EXPECT_STREQ(text, "ope");
}

TEST(CpuOptions, EachIsaLevelOfThisMachineCanBeForced) {
  if ((HWY_TARGETS & (HWY_TARGETS - 1)) == 0) GTEST_SKIP() << "this build has one level";
  struct Level {
    const char* key;
    const char* name;
    std::int64_t target;
  };
  const Level levels[] = {{"sse4", "SSE4", HWY_SSE4}, {"avx2", "AVX2", HWY_AVX2}, {"avx512", "AVX512", HWY_AVX3}};
  const std::int64_t here = hwy::SupportedTargets() & HWY_TARGETS;  // of those that this build has
  std::string best = "SSE2";
  Backend backend;
  backend.option("isa", "sse2");
  EXPECT_EQ(backend.query("isa"), "SSE2");
  for (const Level& level : levels) {
    if ((here & level.target) != 0) best = level.name;
    backend.option("isa", level.key);
    EXPECT_EQ(backend.query("isa"), best) << "capped at " << level.key;
  }
  const std::string capped = backend.query("isa");
  backend.option("isa", "avx3");  // Highway's word for the last of these
  EXPECT_EQ(backend.query("isa"), capped);
  backend.option("isa", "auto");
  EXPECT_EQ(backend.query("isa"), best);
}

TEST(CpuOptions, LevelsRunDifferentCode) {
  Backend backend;
  std::vector<std::size_t> rows;
  for (const char* isa : kLevels) {
    backend.option("isa", isa);
    rows.push_back(static_cast<Context*>(backend.context())->isa.index);
  }
  EXPECT_TRUE(std::is_sorted(rows.rbegin(), rows.rend()));  // better targets stand earlier in the tables
  constexpr std::int64_t kAll = HWY_SSE4 | HWY_AVX2 | HWY_AVX3;
  if ((hwy::SupportedTargets() & HWY_TARGETS & kAll) == kAll) {
    EXPECT_EQ(std::adjacent_find(rows.begin(), rows.end()), rows.end());
  }
}

}  // namespace
}  // namespace mluops::cpu::test
