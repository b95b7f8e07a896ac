// Three implementations that share no arithmetic, over random problems and several emulated machines. The small
// machines force every way a plan can split a problem. A failure prints the case and how to run it alone.
#include <gtest/gtest.h>

#include "test/support/coverage.h"
#include "test/support/lists.h"
#include "test/support/metrics.h"
#include "test/support/run.h"

namespace mluops::test {
namespace {

struct Machine {
  std::string name;
  std::uint64_t seed;
  std::vector<std::string> options;
};

std::vector<Machine> machines() {
  return {
      {"mtp_220", 11, {"arch=mtp_220"}},
      {"mtp_372", 12, {"arch=mtp_372"}},
      {"tiny", 13, {"clusters=3", "cores_per_cluster=3", "nram_bytes=65536"}},
      {"shuffled", 15, {"clusters=3", "cores_per_cluster=3", "nram_bytes=65536", "order=shuffled:5"}},
      {"parallel", 16, {"clusters=3", "cores_per_cluster=3", "nram_bytes=65536", "order=parallel"}},
      {"minute", 14, {"clusters=1", "cores_per_cluster=2", "nram_bytes=40960"}},
  };
}

struct Crossing {
  Machine machine;
  std::string op;
  mluOpDataType_t dtype;
};

std::ostream& operator<<(std::ostream& out, const Crossing& c) {
  return out << c.machine.name << " " << c.op << " " << dtype_name(c.dtype);
}

std::vector<Crossing> crossings() {
  std::vector<Crossing> all;
  for (const Machine& machine : machines()) {
    for (const std::string& op : operators()) {
      for (mluOpDataType_t dtype : float_dtypes()) {
        if (duty("mlu_emu", op, dtype) != Duty::kNone) all.push_back({machine, op, dtype});
      }
    }
  }
  return all;
}

class CrossTest : public ::testing::TestWithParam<Crossing> {};

constexpr int kCases = 30;

Cases cases_of(const Crossing& c) {
  if (const auto selected = selected_case()) {
    return selected->op() == c.op && names_dtype(*selected, c.dtype) ? Cases{*selected} : Cases{};
  }
  return random_cases(c.op, c.machine.seed, scaled(kCases), 0.2, filter_for("mlu_emu", c.dtype));
}

// In half the two place their samples differently (coordinates in half and in float): then only the reference, which
// knows both ways, can be compared with.
bool comparable(const Crossing& c) {
  return c.dtype == MLUOP_DTYPE_FLOAT || !find_operator(c.op).coordinates;
}

// The device's outputs, now in `problem`, against those of cpu.
std::string disagreement(const Problem& problem, const Expected& cpu_outputs) {
  Tolerance t = tolerance_of("mlu_emu", problem.dtype());
  t.diff *= 2;  // each may be off by one tolerance
  t.units *= 2;
  t.share *= 2;
  return mismatch(problem, cpu_outputs, t);
}

void cross(const Crossing& c, const Case& text, const Handle& cpu, const Handle& device, int& declined) {
  Problem problem = make_problem(text, c.dtype);
  const Tolerance cpu_tolerance = tolerance_of("cpu", c.dtype), device_tolerance = tolerance_of("mlu_emu", c.dtype);
  const std::string repeat = how_to_repeat(problem, "mlu_emu on " + c.machine.name);
  const Report on_cpu = run_and_check(problem, cpu, "cpu", problem.expect(cpu_tolerance.coordinates), cpu_tolerance);
  EXPECT_EQ(on_cpu.outcome, Outcome::kRan) << "cpu: " << on_cpu.text << repeat;
  Expected cpu_outputs;
  for (const auto& out : problem.outputs) cpu_outputs.push_back(out->values());
  const Report on_device =
      run_and_check(problem, device, "mlu_emu", problem.expect(device_tolerance.coordinates), device_tolerance);
  EXPECT_NE(on_device.outcome, Outcome::kFailed) << "mlu_emu: " << on_device.text << repeat;
  if (on_device.outcome == Outcome::kDeclined) {
    ++declined;
    std::printf("declined on %s: %s: %s\n", c.machine.name.c_str(), text.text().c_str(), on_device.text.c_str());
  } else if (on_device.outcome == Outcome::kRan && comparable(c)) {
    EXPECT_EQ(disagreement(problem, cpu_outputs), "") << "mlu_emu against cpu" << repeat;
  }
}

TEST_P(CrossTest, CpuDeviceAndReferenceAgree) {
  const Crossing& c = GetParam();
  const Handle cpu("cpu", 2), device("mlu_emu", 3, c.machine.options);
  int declined = 0;
  const Cases cases = cases_of(c);
  for (const Case& text : cases) cross(c, text, cpu, device, declined);
  RecordProperty("cases", static_cast<int>(cases.size()));
  RecordProperty("declined", declined);
  if (!selected_case()) {
    EXPECT_LT(2 * declined, static_cast<int>(cases.size())) << "too few problems ran";
  }
}

std::string name_of(const ::testing::TestParamInfo<Crossing>& crossing) {
  const Crossing& c = crossing.param;
  return c.machine.name + "_" + c.op + "_" + dtype_name(c.dtype);
}

INSTANTIATE_TEST_SUITE_P(All, CrossTest, ::testing::ValuesIn(crossings()), name_of);

}  // namespace
}  // namespace mluops::test
