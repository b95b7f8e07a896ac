// The table of the guide's rules: each row holds for each of its names, as kernels of a toolchain meet it.
#include "backends/mlu_emu/device/guide.h"

#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "backends/mlu_emu/bang/operands.h"
#include "backends/mlu_emu/device/fault.h"
#include "test/device/rig.h"

namespace mluops::emu::test {
namespace {

/// Keeps what is told.
class Told : public KernelSource {
 public:
  std::vector<Finding> findings;

  CallSite where() const override { return {"kernel.mlu", 1}; }
  const NramRegion* object_at(Space, std::int64_t) const override { return nullptr; }
  bool holds(Space, std::int64_t, std::int64_t) const override { return true; }
  const std::vector<NramRegion>* laid_out() const override { return nullptr; }
  void found(const Finding& f) override { findings.push_back(f); }
  ScalarWork take_scalar_work() override { return {}; }
  const NamedPointer* parameter_at(const Tensor&, const char*) const override { return nullptr; }
  std::string freed_at(const void*) const override { return ""; }
  std::string beside(const void*) const override { return ""; }
  [[noreturn]] void out_of_stack() override { throw Fault("no stack"); }
  void use(ScalarSpans*) override {}
};

/// A core of that machine that runs a kernel somebody compiled.
class Machine {
 public:
  explicit Machine(const char* arch) {
    EXPECT_EQ(settings_.set("arch", arch), "");
    spec_.kernel = "kernel";
  }

  /// What `use` is told: the fault, or the texts of all warnings and notes.
  template <class Use>
  std::string told(Use use, Gdram* memory = nullptr, int task = 0) {
    Gdram none({}, true);
    Told source;
    LaunchState state{spec_, settings_, memory == nullptr ? none : *memory, false, 1};
    state.source = &source;
    Core core(settings_.arch.nram_bytes);
    Timeline timeline;
    timeline.stats.read.resize(state.gdram.windows().size());
    timeline.stats.written.resize(state.gdram.windows().size());
    core.begin_task(state, task_builtins_of(spec_, settings_.arch, task), timeline);
    std::string text;
    try {
      use(core.nram().base());
    } catch (const Fault& fault) {
      text = fault.what();
    }
    core.leave();
    for (const Finding& f : source.findings) text += f.severity == Severity::kFault ? "" : f.text;
    return text;
  }

 private:
  Settings settings_;
  LaunchSpec spec_;
};

struct Row {
  std::string name;
  const GuideRow* row;
};

std::vector<Row> read_rows() {
  constexpr std::string_view kNames[] = {
#define MLUOPS_GUIDE(least, without, bytes, lanes, aliasing, pipeline, names) names,
#include "backends/mlu_emu/device/guide.inc"
#undef MLUOPS_GUIDE
  };
  std::vector<Row> all;
  for (std::string_view names : kNames) {
    while (!names.empty()) {
      const std::size_t end = std::min(names.find(' '), names.size());
      const std::string name(names.substr(0, end));
      all.push_back({name, guide_row(name)});
      names.remove_prefix(std::min(end + 1, names.size()));
    }
  }
  return all;
}

/// Their names stay where they are, as literals do.
const std::vector<Row>& rows() {
  static const std::vector<Row> all = read_rows();
  return all;
}

bool has(const std::string& text, const char* part) {
  return text.find(part) != std::string::npos;
}

TEST(Guide, KnowsEachNameOnce) {
  EXPECT_EQ(rows().size(), 1225u);
  for (const Row& r : rows()) {
    ASSERT_NE(r.row, nullptr) << r.name;
    EXPECT_EQ(r.row->aliasing == Aliasing::kApart, guide_row_of_literal(r.name.c_str())->aliasing == Aliasing::kApart);
  }
  EXPECT_EQ(guide_row("__bang_no_such_builtin"), nullptr);
}

TEST(Guide, EachBuiltinRunsOnItsMachinesOnly) {
  for (const auto& [arch, number] : {std::pair("mtp_220", 220), std::pair("mtp_270", 270), std::pair("mtp_290", 290),
                                     std::pair("mtp_372", 372), std::pair("mtp_592", 592)}) {
    Machine machine(arch);
    for (const Row& r : rows()) {
      const bool lacks = has(std::string(r.row->without), std::to_string(number).c_str());
      const bool runs = number >= r.row->least_arch && !lacks;
      const std::string text = machine.told([&](char*) { Core::current().computed(r.name.c_str(), 4, 1, 1); });
      EXPECT_EQ(text.empty(), runs) << r.name << " on " << arch << ": " << text;
      if (!runs) {
        EXPECT_TRUE(has(text, ("this launch runs on " + std::string(arch)).c_str())) << text;
      }
    }
  }
}

TEST(Guide, The200SeriesWantsMultiples) {
  Machine machine("mtp_270");
  for (const Row& r : rows()) {
    if (!r.row->runs_on(270)) continue;
    const std::int64_t bytes = std::max(r.row->bytes, 1), lanes = std::max(r.row->lanes, 1);
    const auto source = [&](std::int64_t offset, std::int64_t lane, std::int64_t n) {
      return machine.told(
          [&](char* nram) { Core::current().source(r.name.c_str(), "source", nram + offset, lane, n); });
    };
    const std::int64_t right = 1024;  // lanes of 4 bytes
    EXPECT_EQ(source(0, 4, right), "") << r.name;
    EXPECT_TRUE(has(source(32, 4, right), "multiple of 64 bytes")) << r.name;
    if (bytes > 1) {
      EXPECT_TRUE(has(source(0, 1, bytes + 1), "the length must be a multiple of")) << r.name;
    }
    if (lanes > 1) {
      EXPECT_TRUE(has(source(0, 4, lanes + 32), "the count must be a multiple of")) << r.name;
    }
  }
}

TEST(Guide, SourceAndDestinationOverlapWhereItAllowsThat) {
  Machine machine("mtp_592");
  for (const Row& r : rows()) {
    if (!r.row->runs_on(592) || r.row->aliasing == Aliasing::kUnsaid) continue;
    const std::string text = machine.told([&](char* nram) {
      bang::Word word(r.name.c_str());
      auto* lanes = reinterpret_cast<float*>(nram);
      word.lanes_of(lanes, 64);
      word.destination(lanes + 32, 64);
    });
    EXPECT_EQ(has(text, "the guide forbids it"), r.row->aliasing == Aliasing::kApart) << r.name << ": " << text;
  }
}

// ---- copies of several tasks to one place --------------------------------------------------------------------------

/// What two tasks are told, one after the other; `use` is called with a core's NRAM, 64 floats, all 1, and the task.
template <class Use>
std::string told_two_tasks(Use use) {
  std::vector<float> g(64, 1), from(64, 2);
  const Tensor tensors[] = {{"g", reinterpret_cast<char*>(g.data()), 256, Access::kReadWrite},
                            {"from", reinterpret_cast<char*>(from.data()), 256, Access::kRead}};
  Gdram gdram({tensors[0], tensors[1]}, true);
  Machine machine("mtp_372");
  std::string text;
  for (int task = 0; task < 2; ++task) {
    text += machine.told([&](char* nram) { use(nram, g.data(), from.data(), task); }, &gdram, task);
  }
  return text;
}

TEST(Race, OfEqualCopiesIsAWarning) {
  const std::string whole =
      told_two_tasks([](char*, float* g, const float* from, int) { __memcpy(g, from, 256, GDRAM2GDRAM); });
  EXPECT_TRUE(has(whole, "a race of equal values")) << whole;
  EXPECT_FALSE(has(whole, "atomically")) << whole;
}

TEST(Race, OfOtherCopiesIsAFault) {
  const std::string text = told_two_tasks([](char*, float* g, const float* from, int task) {
    __memcpy(g + 1, task == 0 ? from : g + 32, 64, GDRAM2GDRAM);  // twos, then ones
  });
  EXPECT_TRUE(has(text, "a race unless all of them add atomically")) << text;
  const std::string results = told_two_tasks([](char* nram, float* g, const float*, int) {
    auto* x = reinterpret_cast<float*>(nram);
    __bang_write_value(x, 64, 3.0f);
    __memcpy(g, x, 256, NRAM2GDRAM);
  });
  EXPECT_TRUE(has(results, "a race unless all of them add atomically")) << "each its result: " << results;
  EXPECT_EQ(told_two_tasks([](char* nram, float* g, const float*, int task) {
              auto* x = reinterpret_cast<float*>(nram);
              __bang_write_value(x, 32, 3.0f);
              __memcpy(g + 32 * task, x, 128, NRAM2GDRAM);
            }),
            "");
}

// ---- numbers that are not finite (5.2) -----------------------------------------------------------------------------

constexpr float kInf = std::numeric_limits<float>::infinity(), kMost = std::numeric_limits<float>::max();
constexpr float kMostHalf = 65504;
const float kNan = std::nanf("");

/// The first four of 64 results, of as many numbers and 1 behind them.
template <class To, class From, class Use>
std::vector<float> results_on(const char* arch, const std::vector<float>& first, Use use) {
  std::vector<float> out;
  const std::string told = Machine(arch).told([&](char* nram) {
    auto* x = reinterpret_cast<From*>(nram);
    auto* y = reinterpret_cast<To*>(nram + 1024);
    __bang_write_value(x, 64, From(1.0f));
    __bang_write_value(y, 64, To(1.0f));
    for (std::size_t i = 0; i < first.size(); ++i) x[i] = From(first[i]);
    use(y, x);
    for (int i = 0; i < 4; ++i) out.push_back(static_cast<float>(y[i]));
  });
  EXPECT_FALSE(has(told, "fault")) << told;
  return out;
}
template <class T, class Use>
std::vector<float> results_on(const char* arch, const std::vector<float>& first, Use use) {
  return results_on<T, T>(arch, first, use);
}

struct Case {
  const char* name;
  std::vector<float> later, series_200;
  std::function<std::vector<float>(const char*)> on;
};
/// NaN equals NaN; what NaN saturates to may have either sign.
void expect_results(const Case& c, const char* arch, const std::vector<float>& wanted) {
  const std::vector<float> got = c.on(arch);
  ASSERT_EQ(got.size(), 4u) << c.name << " on " << arch;
  for (std::size_t i = 0; i < 4; ++i) {
    if (std::isnan(wanted[i])) {
      EXPECT_TRUE(std::isnan(got[i])) << c.name << " on " << arch << ", lane " << i << ": " << got[i];
    } else if (std::isnan(c.later[i])) {
      EXPECT_EQ(std::fabs(got[i]), wanted[i]) << c.name << " on " << arch << ", lane " << i;
    } else {
      EXPECT_EQ(got[i], wanted[i]) << c.name << " on " << arch << ", lane " << i;
    }
  }
}
void expect_cases(const std::vector<Case>& cases) {
  for (const Case& c : cases) {
    for (const char* arch : {"mtp_220", "mtp_270", "mtp_290"}) expect_results(c, arch, c.series_200);
    for (const char* arch : {"mtp_372", "mtp_592"}) expect_results(c, arch, c.later);
  }
}

TEST(Guide, OperationsSaturateOnThe200Series) {
  const float h = kMostHalf;
  const std::vector<float> large = {60000, -60000, kInf, kNan}, most = {kMost, -kMost, kInf, kNan};
  const auto of = [](auto use) { return use; };
  const auto twice = of([](auto* y, auto* x) { __bang_add(y, x, x, 64); });
  const auto by_value = of([](auto* y, auto* x) { __bang_mul_scalar(y, x, 4.0f, 64); });
  const auto repeated = of([](auto* y, auto* x) { __bang_cycle_add(y, x, x, 64, 64); });
  const auto squared = of([](auto* y, auto* x) { __bang_square(y, x, 64); });
  const auto windows = of([](auto* y, auto* x) { __bang_sumpool(y, x, 64, 1, 1, 1, 1, 1, 1); });
  const std::vector<float> later = {kInf, -kInf, kInf, kNan}, finite = {h, -h, h, h},
                           wide = {kMost, -kMost, kMost, kMost};
  expect_cases({
      {"add of half", later, finite, [=](const char* a) { return results_on<half>(a, large, twice); }},
      {"add of float", later, wide, [=](const char* a) { return results_on<float>(a, most, twice); }},
      {"mul_scalar of half", later, finite, [=](const char* a) { return results_on<half>(a, large, by_value); }},
      {"mul_scalar of float", later, wide, [=](const char* a) { return results_on<float>(a, most, by_value); }},
      {"cycle_add of half", later, finite, [=](const char* a) { return results_on<half>(a, large, repeated); }},
      {"square of half",
       {kInf, kInf, kInf, kNan},
       {h, h, h, h},
       [=](const char* a) { return results_on<half>(a, large, squared); }},
      {"sumpool of half",
       {60000 - 32, -60000 + 32, kInf, kNan},
       {60000 - 32, -60000 + 32, h, h},
       [=](const char* a) {
         return results_on<half>(a, {60000 - 32, -60000 + 32, kInf, kNan}, windows);
       }},
  });
}

TEST(Guide, FunctionsSaturateOnThe200Series) {
  for (const char* arch : {"mtp_220", "mtp_270", "mtp_290"}) {
    const std::vector<float> got =
        results_on<half>(arch, {0, kNan, kInf, -kInf}, [](half* y, half* x) { __bang_active_recip(y, x, 64); });
    for (float x : got) EXPECT_TRUE(std::isfinite(x)) << arch << ": " << x;
  }
}

TEST(Guide, ConversionsSaturateOnThe200Series) {
  const float h = kMostHalf;
  expect_cases({
      {"float2half",
       {kInf, -kInf, kInf, kNan},
       {h, -h, h, h},
       [](const char* a) {
         return results_on<half, float>(a, {1e6f, -1e6f, kInf, kNan},
                                        [](half* y, float* x) { __bang_float2half_rd(y, x, 64); });
       }},
      {"half2float",
       {kInf, -kInf, 2, kNan},
       {kMost, -kMost, 2, kMost},
       [](const char* a) {
         return results_on<float, half>(a, {kInf, -kInf, 2, kNan},
                                        [](float* y, half* x) { __bang_half2float(y, x, 64); });
       }},
      {"float2half of one number",
       {kInf, -kInf, kInf, kNan},
       {h, -h, h, h},
       [](const char* a) {
         return results_on<half, float>(a, {1e6f, -1e6f, kInf, kNan}, [](half* y, float* x) {
           for (int i = 0; i < 4; ++i) y[i] = __float2half_rd(x[i]);
         });
       }},
      {"int2half",
       {kInf, -kInf, 2, 0},
       {h, -h, 2, 0},
       [](const char* a) {
         return results_on<half, float>(a, {100000, -100000, 2, 0}, [](half* y, float* x) {
           for (int i = 0; i < 4; ++i) y[i] = __int2half_rd(static_cast<int>(x[i]));
         });
       }},
  });
}

TEST(Guide, LargerAndSmallerLanesAndMovesKeepInfinity) {
  const std::vector<float> in = {kInf, -kInf, 2, kNan};
  expect_cases({
      {"maxequal",
       {kInf, -kInf, 2, kNan},
       {kInf, -kInf, 2, kMostHalf},
       [=](const char* a) { return results_on<half>(a, in, [](half* y, half* x) { __bang_maxequal(y, x, x, 64); }); }},
      {"memcpy",
       in,
       {kInf, -kInf, 2, kNan},
       [=](const char* a) {
         return results_on<half>(a, in, [](half* y, half* x) { __memcpy(y, x, 128, NRAM2NRAM); });
       }},
      {"bor",
       in,
       {kInf, -kInf, 2, kNan},
       [=](const char* a) {
         return results_on<half>(a, in, [](half* y, half* x) {
           __bang_bor(reinterpret_cast<char*>(y), reinterpret_cast<char*>(x), reinterpret_cast<char*>(x), 128);
         });
       }},
  });
}

TEST(Guide, KernelsOfThisLibraryKeepInfinityOnThe200Series) {
  std::vector<half> out(64);
  Rig rig("mtp_270");
  rig.tensor("out", out, Access::kWrite);
  EXPECT_EQ(rig.run([&](char* nram) {
    auto* x = reinterpret_cast<half*>(nram);
    __bang_write_value(x, 64, half(60000.0f));
    __bang_add(x, x, x, 64);
    __memcpy(out.data(), x, 128, NRAM2GDRAM);
  }),
            "");
  EXPECT_EQ(static_cast<float>(out[0]), kInf);
}

}  // namespace
}  // namespace mluops::emu::test
