// Seeded mutations of valid calls: descriptors that lie, hostile sizes, wild data. Whatever the status: no crash,
// inputs unchanged, fences intact, and a refused call leaves its outputs alone. MLUOP_FUZZ_SEED and MLUOP_FUZZ_ROUNDS
// widen it.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <map>

#include "test/fuzz/hostile.h"
#include "test/support/coverage.h"
#include "test/support/lists.h"

namespace mluops::test {
namespace {

std::int64_t setting(const char* name, std::int64_t fallback) {
  const char* text = std::getenv(name);
  return text == nullptr ? fallback : std::atoll(text);
}

void fuzz_once(const std::string& op, Handle& handle, Random& random, std::map<mluOpStatus_t, int>& seen) {
  const mluOpDataType_t dtypes[] = {MLUOP_DTYPE_HALF, MLUOP_DTYPE_FLOAT, MLUOP_DTYPE_DOUBLE, MLUOP_DTYPE_BFLOAT16};
  const mluOpDataType_t dtype = random.pick(dtypes);
  Problem p = make_problem(random_case(op, random, 0.2), dtype);
  RandomChoices choices(random);
  const Lies lies = lie(p, choices);
  const bool strict = lies.about_shape || random.chance(0.5);
  handle.contract(strict ? MLUOP_EXT_CONTRACT_STRICT : MLUOP_EXT_CONTRACT_EXTENDED);
  const Harm harm = call_and_look(p, handle.get());
  ++seen[harm.status];
  ASSERT_EQ(harm.text, "") << p.text().text() << " (" << dtype_name(dtype) << ")" << lies.log;
}

struct Target {
  std::string backend, op;
};

std::ostream& operator<<(std::ostream& out, const Target& t) {
  return out << t.backend << " " << t.op;
}

std::vector<Target> targets() {
  std::vector<Target> all;
  for (const char* backend : {"cpu", "mlu_emu"}) {
    for (const std::string& op : operators()) {
      if (duty(backend, op, MLUOP_DTYPE_FLOAT) != Duty::kNone) all.push_back({backend, op});
    }
  }
  return all;
}

class FuzzTest : public ::testing::TestWithParam<Target> {};

TEST_P(FuzzTest, HostileCallsAreHarmless) {
  const Target& t = GetParam();
  Random random(t.op + std::to_string(setting("MLUOP_FUZZ_SEED", 1)));
  Handle handle(t.backend, 2);
  std::map<mluOpStatus_t, int> seen;
  const int rounds = std::max(scaled(400), 200);  // fewer may meet no legal call
  for (std::int64_t i = setting("MLUOP_FUZZ_ROUNDS", rounds); i > 0 && !HasFatalFailure(); --i) {
    fuzz_once(t.op, handle, random, seen);
  }
  EXPECT_GT(seen[MLUOP_STATUS_SUCCESS], 0);
  EXPECT_GT(seen[MLUOP_STATUS_BAD_PARAM], 0);
}

INSTANTIATE_TEST_SUITE_P(All, FuzzTest, ::testing::ValuesIn(targets()),
                         [](const ::testing::TestParamInfo<Target>& target) {
                           return target.param.backend + "_" + target.param.op;
                         });

}  // namespace
}  // namespace mluops::test
