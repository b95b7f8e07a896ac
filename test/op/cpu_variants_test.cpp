// The ways cpu can be told to work: every instruction set, both thread runtimes, the caller's own pool, atomic sums.
#include <algorithm>
#include <memory>

#include "test/op/paths.h"
#include "test/op/suite.h"

namespace mluops::test {
namespace {

struct Variant {
  std::string option;  // key=value, or a word for the name
  std::string op;
};

std::ostream& operator<<(std::ostream& out, const Variant& v) {
  return out << v.option << " " << v.op;
}

std::vector<Variant> variants(const std::vector<std::string>& options) {
  std::vector<Variant> all;
  for (const std::string& option : options) {
    for (const std::string& op : operators()) all.push_back({option, op});
  }
  return all;
}

std::string variant_name(const ::testing::TestParamInfo<Variant>& info) {
  const std::string& option = info.param.option;
  return option.substr(option.find('=') + 1) + "_" + info.param.op;
}

constexpr int kCases = 8;

// check(problem, tolerance) for some problems of the operator in every type.
template <class Check>
void for_each_problem(const std::string& op, std::uint64_t seed, Check check) {
  for (mluOpDataType_t dtype : float_dtypes()) {
    if (duty("cpu", op, dtype) == Duty::kNone) continue;
    for (const Case& text : random_cases(op, seed, scaled(kCases))) {
      Problem problem = make_problem(text, dtype);
      check(problem, tolerance_of("cpu", dtype));
    }
  }
}

class IsaTest : public ::testing::TestWithParam<Variant> {};

TEST_P(IsaTest, MatchesTheReference) {
  const Variant& v = GetParam();
  Handle handle("cpu", 2);
  handle.contract(MLUOP_EXT_CONTRACT_EXTENDED);
  const std::string isa = v.option.substr(v.option.find('=') + 1);
  const std::vector<std::string> usable = cpu_levels();
  if (std::find(usable.begin(), usable.end(), isa) == usable.end()) {
    GTEST_SKIP() << "this machine or this build has no level " << isa;
  }
  ASSERT_EQ(mluOpExtSetOption(handle.get(), "cpu", "isa", isa.c_str()), MLUOP_STATUS_SUCCESS);
  for_each_problem(v.op, 21, [&](Problem& problem, const Tolerance& t) {
    const Report report = run_and_check(problem, handle, "cpu", problem.expect(t.coordinates), t);
    EXPECT_EQ(report.outcome, Outcome::kRan) << report.text << how_to_repeat(problem, v.option);
  });
}

INSTANTIATE_TEST_SUITE_P(Cpu, IsaTest,
                         ::testing::ValuesIn(variants({"isa=sse2", "isa=sse4", "isa=avx2", "isa=avx512"})),
                         variant_name);

class AtomicScatterTest : public ::testing::TestWithParam<Variant> {};

TEST_P(AtomicScatterTest, MatchesTheReferenceAndNeedsLeave) {
  const Variant& v = GetParam();
  Handle handle("cpu", 4, {v.option});
  handle.contract(MLUOP_EXT_CONTRACT_EXTENDED);
  const bool scatters = find_operator(v.op).scatters;
  for (mluOpAtomicsMode_t mode : {MLUOP_ATOMICS_NOT_ALLOWED, MLUOP_ATOMICS_ALLOWED}) {
    handle.atomics(mode);
    for_each_problem(v.op, 22, [&](Problem& problem, const Tolerance& t) {
      const Report report = run_and_check(problem, handle, "cpu", problem.expect(t.coordinates), t);
      EXPECT_EQ(report.outcome, Outcome::kRan) << report.text << how_to_repeat(problem, "cpu, scatter=atomic");
      if (scatters) {
        EXPECT_EQ(property(handle, "last_scatter"), mode == MLUOP_ATOMICS_ALLOWED ? "atomic" : "owner");
      }
    });
  }
}

INSTANTIATE_TEST_SUITE_P(Cpu, AtomicScatterTest, ::testing::ValuesIn(variants({"scatter=atomic"})), variant_name);

class PathTest : public ::testing::TestWithParam<Variant> {};

TEST_P(PathTest, EachMatchesTheReference) {
  const Variant& v = GetParam();
  Handle handle("cpu", 3, {v.option});
  handle.contract(MLUOP_EXT_CONTRACT_EXTENDED);
  handle.atomics(MLUOP_ATOMICS_ALLOWED);
  for (mluOpDataType_t dtype : float_dtypes()) {
    if (duty("cpu", v.op, dtype) == Duty::kNone) continue;
    for (const Case& text : cases_of({"cpu", v.op, dtype, "edge"})) {
      Problem problem = make_problem(text, dtype);
      check_every_path(handle, problem, tolerance_of("cpu", dtype));
    }
  }
  for_each_problem(v.op, 24, [&](Problem& problem, const Tolerance& t) { check_every_path(handle, problem, t); });
}

INSTANTIATE_TEST_SUITE_P(Cpu, PathTest, ::testing::ValuesIn(variants({"isa=auto", "isa=avx2"})), variant_name);

std::vector<unsigned char> bits(Problem& problem, const Handle& handle) {
  EXPECT_EQ(run(problem, handle), MLUOP_STATUS_SUCCESS) << mluOpExtGetLastErrorText();
  std::vector<unsigned char> all;
  for (const auto& out : problem.outputs) {
    const std::vector<unsigned char> bytes = out->bytes();
    all.insert(all.end(), bytes.begin(), bytes.end());
  }
  return all;
}

// Last task first, all on the caller's thread.
void backwards(void*, std::int64_t tasks, void (*body)(void*, std::int64_t), void* arg) {
  while (tasks > 0) body(arg, --tasks);
}

#ifdef _WIN32
const std::vector<const char*> kRuntimes = {"threading=threads"};
#else
const std::vector<const char*> kRuntimes = {"threading=openmp", "threading=tbb"};
#endif

class RuntimeTest : public ::testing::TestWithParam<Variant> {};

TEST_P(RuntimeTest, SameBitsOnEveryThreadRuntime) {
  const Variant& v = GetParam();
  Handle pool("cpu", 3);
  const mluOpExtExecutor_t executor = {nullptr, backwards};
  ASSERT_EQ(mluOpExtSetExecutor(pool.get(), &executor), MLUOP_STATUS_SUCCESS);
  pool.contract(MLUOP_EXT_CONTRACT_EXTENDED);
  std::vector<std::unique_ptr<Handle>> handles;
  for (const char* const runtime : kRuntimes) {
    handles.push_back(std::make_unique<Handle>("cpu", 3, std::vector<std::string>{runtime}));
    handles.back()->contract(MLUOP_EXT_CONTRACT_EXTENDED);
  }
  for_each_problem(v.op, 23, [&](Problem& problem, const Tolerance&) {
    const std::vector<unsigned char> expected = bits(problem, pool);
    for (std::size_t i = 0; i < handles.size(); ++i) {
      EXPECT_TRUE(bits(problem, *handles[i]) == expected) << how_to_repeat(
          problem, std::string("cpu, ") + kRuntimes[i] + ", beside an executor that runs tasks backwards");
    }
  });
}

INSTANTIATE_TEST_SUITE_P(Cpu, RuntimeTest, ::testing::ValuesIn(variants({"all"})), variant_name);

}  // namespace
}  // namespace mluops::test
