// The table of the guide's rules: each row holds for each of its names, as kernels of a toolchain meet it.
#include "backends/mlu_emu/device/guide.h"

#include <array>
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
  std::string told(Use use) {
    Gdram gdram({}, true);
    Told source;
    LaunchState state{spec_, settings_, gdram, false, 1};
    state.source = &source;
    Core core(settings_.arch.nram_bytes);
    Timeline timeline;
    core.begin_task(state, task_builtins_of(spec_, settings_.arch, 0), timeline);
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

}  // namespace
}  // namespace mluops::emu::test
