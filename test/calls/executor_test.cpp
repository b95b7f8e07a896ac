// A call goes by the executor it finds when it starts, also when the handle is given another meanwhile.
#include "test/calls/suite.h"

namespace mluops::test {
namespace {

/// A pool on the calling thread that, while it works, takes itself off the handle.
struct LeavingPool {
  mluOpHandle_t handle;
  bool leaves;
  int loops = 0;

  mluOpExtExecutor_t executor() {
    return {this, [](void* context, std::int64_t tasks, void (*body)(void*, std::int64_t), void* arg) {
              auto& self = *static_cast<LeavingPool*>(context);
              const mluOpStatus_t left = self.leaves ? mluOpExtSetExecutor(self.handle, nullptr) : MLUOP_STATUS_SUCCESS;
              EXPECT_EQ(left, MLUOP_STATUS_SUCCESS);
              ++self.loops;
              for (std::int64_t i = 0; i < tasks; ++i) body(arg, i);
            }};
  }
};

class Executor : public OperatorCallTest {};

TEST_P(Executor, OfTheStartServesTheWholeCall) {
  int all_loops = 0;
  for (const CallVariant& v : large_calls(GetParam())) {
    Problem problem = make_problem(v.text, v.dtype);
    const auto handle = make_handle(v, 4);
    int loops[2] = {};
    for (const bool leaves : {false, true}) {
      LeavingPool pool{handle->get(), leaves};
      const mluOpExtExecutor_t executor = pool.executor();
      ASSERT_EQ(mluOpExtSetExecutor(handle->get(), &executor), MLUOP_STATUS_SUCCESS);
      ASSERT_EQ(problem.call(handle->get()), MLUOP_STATUS_SUCCESS) << v << ": " << mluOpExtGetLastErrorText();
      loops[leaves ? 1 : 0] = pool.loops;
    }
    EXPECT_EQ(loops[1], loops[0]) << v;
    all_loops += loops[0];
  }
  if (all_loops == 0) GTEST_SKIP() << "it has no loop that several threads share";
}

INSTANTIATE_TEST_SUITE_P(All, Executor, ::testing::ValuesIn(operators()), operator_name);

}  // namespace
}  // namespace mluops::test
