// Handles, registry, descriptors, options and plugins used by several threads from their first moment on, on the
// library's threads and on a program's own pool. Results are those of one thread.
#include <gtest/gtest.h>

#include <filesystem>
#include <functional>
#include <latch>
#include <thread>
#include <vector>

#include "test/support/coverage.h"
#include "test/support/environment.h"
#include "test/support/handle.h"
#include "test/support/lists.h"
#include "test/support/problem.h"
#include "test/support/run.h"
#include "test/support/sanitized.h"
#include "test/threads/pool.h"

namespace mluops::test {
namespace {

constexpr int kCallers = 3;

/// body(number) on several threads that start together.
void together(int threads, const std::function<void(int)>& body) {
  std::latch start(threads);
  std::vector<std::jthread> all;
  for (int i = 0; i < threads; ++i) {
    all.emplace_back([&, i] {
      start.arrive_and_wait();
      body(i);
    });
  }
}

using Bytes = std::vector<std::vector<unsigned char>>;

/// Outputs of the call, empty when it failed.
Bytes outputs(Problem& problem, const Handle& handle) {
  Bytes bytes;
  if (run(problem, handle) != MLUOP_STATUS_SUCCESS) return bytes;
  for (const auto& output : problem.outputs) bytes.push_back(output->bytes());
  return bytes;
}

/// The smallest of the cases that are large enough for several threads; a sanitizer's run takes ten times as long.
Case large_case(const std::string& op) {
  const Cases cases = cases_of(find_operator(op), find_operator(op).large);
  const auto bytes = [](const Case& c) { return describe(c, MLUOP_DTYPE_FLOAT).all_bytes(); };
  return *std::min_element(cases.begin(), cases.end(),
                           [&](const Case& a, const Case& b) { return bytes(a) < bytes(b); });
}

TEST(FirstUse, OfTheLibraryByManyThreads) {
  set_variable("MLUOP_BACKEND_PATH", std::filesystem::absolute(PLUGIN).string());
  const char* const chains[] = {"cpu", "mine,cpu", "mlu_emu", "cpu,mlu_emu"};
  together(4, [&](int i) {
    Handle handle(chains[i], 2);
    handle.contract(MLUOP_EXT_CONTRACT_EXTENDED);
    for (const std::string& op : operators()) {
      if (i == 2 && duty("mlu_emu", op, MLUOP_DTYPE_FLOAT) == Duty::kNone) continue;
      Problem problem = make_problem(cases_of(find_operator(op), find_operator(op).smallest).back(), MLUOP_DTYPE_FLOAT);
      EXPECT_FALSE(outputs(problem, handle).empty()) << chains[i] << ", " << op << ": " << mluOpExtGetLastErrorText();
    }
    EXPECT_EQ(mluOpExtGetBackendCount(), 3);
  });
}

TEST(Errors, BelongToTheThreadThatMadeThem) {
  together(kCallers, [](int i) {
    mluOpTensorDescriptor_t desc = nullptr;
    ASSERT_EQ(mluOpCreateTensorDescriptor(&desc), MLUOP_STATUS_SUCCESS);
    for (int round = 0; round < 200; ++round) {
      const int dims[] = {1, -2 - i};
      ASSERT_EQ(mluOpSetTensorDescriptor(desc, MLUOP_LAYOUT_ARRAY, MLUOP_DTYPE_FLOAT, 2, dims), MLUOP_STATUS_BAD_PARAM);
      const std::string text = mluOpExtGetLastErrorText();
      ASSERT_NE(text.find("got " + std::to_string(-2 - i)), std::string::npos) << text;
    }
    EXPECT_EQ(mluOpDestroyTensorDescriptor(desc), MLUOP_STATUS_SUCCESS);
  });
}

class Operators : public ::testing::TestWithParam<std::string> {
 protected:
  const Case text_ = large_case(GetParam());

  Bytes expected() const {
    Problem problem = make_problem(text_, MLUOP_DTYPE_FLOAT);
    Handle handle("cpu", 1);
    handle.contract(MLUOP_EXT_CONTRACT_EXTENDED);
    return outputs(problem, handle);
  }
};

TEST_P(Operators, OnHandlesOfTheirOwnAtOnce) {
  const Bytes wanted = expected();
  ASSERT_FALSE(wanted.empty());
  together(kCallers, [&](int) {
    Problem problem = make_problem(text_, MLUOP_DTYPE_FLOAT);
    Handle handle("cpu", 3, {"threading=threads"});
    handle.contract(MLUOP_EXT_CONTRACT_EXTENDED);
    for (int i = 0; i < 2; ++i) EXPECT_TRUE(outputs(problem, handle) == wanted);
  });
}

TEST_P(Operators, OfOneHandleOnAProgramsPool) {
  const Bytes wanted = expected();
  Pool pool(3);
  const mluOpExtExecutor_t executor = pool.executor();
  Handle shared("cpu", 4);
  shared.contract(MLUOP_EXT_CONTRACT_EXTENDED);
  ASSERT_EQ(mluOpExtSetExecutor(shared.get(), &executor), MLUOP_STATUS_SUCCESS);
  together(kCallers, [&](int) {
    Problem problem = make_problem(text_, MLUOP_DTYPE_FLOAT);
    EXPECT_TRUE(outputs(problem, shared) == wanted);
  });
}

TEST_P(Operators, WithAtomicAdditions) {
  if (!find_operator(GetParam()).scatters) return;
  const Tolerance tolerance = tolerance_of("cpu", MLUOP_DTYPE_FLOAT);
  Problem problem = make_problem(text_, MLUOP_DTYPE_FLOAT);
  Handle handle("cpu", 4, {"threading=threads", "scatter=atomic"});
  handle.contract(MLUOP_EXT_CONTRACT_EXTENDED).atomics(MLUOP_ATOMICS_ALLOWED);
  ASSERT_EQ(run(problem, handle), MLUOP_STATUS_SUCCESS) << mluOpExtGetLastErrorText();
  EXPECT_EQ(mismatch(problem, problem.expect(tolerance.coordinates), tolerance), "");
}

TEST_P(Operators, OnTheEmulatedDevice) {
  if (duty("mlu_emu", GetParam(), MLUOP_DTYPE_FLOAT) == Duty::kNone) return;
  const Case text = cases_of(find_operator(GetParam()), find_operator(GetParam()).smallest).back();
  Problem first = make_problem(text, MLUOP_DTYPE_FLOAT);
  const Bytes wanted = outputs(first, Handle("mlu_emu", 1, {"clusters=2", "cores_per_cluster=2"}));
  ASSERT_FALSE(wanted.empty());
  together(2, [&](int) {
    Problem problem = make_problem(text, MLUOP_DTYPE_FLOAT);
    const Handle handle("mlu_emu", 1, {"clusters=2", "cores_per_cluster=2", "order=parallel", "check=all"});
    EXPECT_TRUE(outputs(problem, handle) == wanted) << mluOpExtGetLastErrorText();
  });
}

std::string name_of(const ::testing::TestParamInfo<std::string>& op) {
  return op.param;
}

INSTANTIATE_TEST_SUITE_P(All, Operators, ::testing::ValuesIn(operators()), name_of);

}  // namespace
}  // namespace mluops::test
