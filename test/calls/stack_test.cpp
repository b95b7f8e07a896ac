// Threads of a program that is thrifty with stacks: every operator runs on the documented 64 KiB.
#include <pthread.h>

#include "test/calls/suite.h"
#include "test/support/sanitized.h"

namespace mluops::test {
namespace {

constexpr std::size_t kStack = std::size_t{64} << 10;

/// The call on a thread of its own with a small stack.
mluOpStatus_t call_on_small_stack(Problem& problem, mluOpHandle_t handle) {
  struct Work {
    Problem& problem;
    mluOpHandle_t handle;
    mluOpStatus_t status;
  } work{problem, handle, MLUOP_STATUS_INTERNAL_ERROR};
  pthread_attr_t attributes;
  pthread_t thread;
  EXPECT_EQ(pthread_attr_init(&attributes), 0);
  EXPECT_EQ(pthread_attr_setstacksize(&attributes, kStack), 0);
  const auto body = [](void* arg) -> void* {
    auto& w = *static_cast<Work*>(arg);
    w.status = w.problem.call(w.handle);
    return nullptr;
  };
  EXPECT_EQ(pthread_create(&thread, &attributes, body, &work), 0);
  pthread_join(thread, nullptr);
  pthread_attr_destroy(&attributes);
  return work.status;
}

class SmallStack : public OperatorCallTest {};

TEST_P(SmallStack, ServesEveryOperator) {
  if (MLUOPS_TEST_SANITIZED) GTEST_SKIP() << "a sanitizer's frames are larger";
  for (const CallVariant& v : large_calls(GetParam())) {
    Problem problem = make_problem(v.text, v.dtype);
    const auto handle = make_handle(v, 2);
    EXPECT_EQ(call_on_small_stack(problem, handle->get()), MLUOP_STATUS_SUCCESS) << v;
  }
  if (duty("mlu_emu", GetParam(), MLUOP_DTYPE_FLOAT) == Duty::kNone) return;  // the device lacks the operator
  for (const CallVariant& v : small_calls(GetParam())) {
    if (v.dtype != MLUOP_DTYPE_FLOAT) continue;
    Problem problem = make_problem(v.text, v.dtype);
    const Handle emulator("mlu_emu");
    EXPECT_EQ(call_on_small_stack(problem, emulator.get()), MLUOP_STATUS_SUCCESS) << v;
  }
}

INSTANTIATE_TEST_SUITE_P(All, SmallStack, ::testing::ValuesIn(operators()), operator_name);

}  // namespace
}  // namespace mluops::test
