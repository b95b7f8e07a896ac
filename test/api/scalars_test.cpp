// mluOpExtSetScalars: whose call it is for, what must hold, when it ends, and what it changes.
#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <string>
#include <thread>
#include <vector>

#include "test/support/run.h"

namespace mluops::test {
namespace {

using cases::OperatorCases;

/// The last, so the largest, of the operator's smallest cases, in a dtype it has under STRICT.
Problem small_problem(const OperatorCases& op) {
  return make_problem(cases::cases_of(op, op.smallest).back(), op.dtypes.strict.back());
}

/// What the call answers: "" for SUCCESS.
std::string answer(Problem& problem, const Handle& handle) {
  return run(problem, handle) == MLUOP_STATUS_SUCCESS ? "" : mluOpExtGetLastErrorText();
}

std::vector<double> scalars_of(const OperatorCases& op) {
  std::vector<double> floats =
      cases::describe(cases::cases_of(op, op.smallest).back(), op.dtypes.strict.back()).scalars;
  for (double& v : floats) v = static_cast<double>(static_cast<float>(v));
  return floats;
}

mluOpStatus_t set(const Handle& handle, const std::vector<double>& values) {
  return mluOpExtSetScalars(handle.get(), values.data(), static_cast<int>(values.size()));
}

TEST(Scalars, BadArguments) {
  const Handle handle("cpu");
  const double one = 1;
  EXPECT_EQ(mluOpExtSetScalars(nullptr, &one, 1), MLUOP_STATUS_BAD_PARAM);
  for (const int count : {-1, 17, -2147483647 - 1, 2147483647}) {
    EXPECT_EQ(mluOpExtSetScalars(handle.get(), &one, count), MLUOP_STATUS_BAD_PARAM) << count;
  }
  EXPECT_EQ(mluOpExtSetScalars(handle.get(), nullptr, 1), MLUOP_STATUS_BAD_PARAM);
  EXPECT_EQ(mluOpExtSetScalars(handle.get(), nullptr, 0), MLUOP_STATUS_SUCCESS);
  EXPECT_EQ(mluOpExtSetScalars(handle.get(), &one, 0), MLUOP_STATUS_SUCCESS);
}

/// Every operator's function takes what was given, once, and none overlooks it.
TEST(Scalars, AreAsManyAsTheCallHasFloatsAndForOneCall) {
  const Handle handle("cpu");
  for (const OperatorCases& op : cases::all_operators()) {
    Problem problem = small_problem(op);
    std::vector<double> values = scalars_of(op);
    const std::string wanted = "scalars: wanted " + std::to_string(values.size());
    values.push_back(1);
    ASSERT_EQ(set(handle, values), MLUOP_STATUS_SUCCESS);
    const std::string text = answer(problem, handle);
    EXPECT_NE(text.find(wanted), std::string::npos) << op.op << ": " << text;
    EXPECT_NE(text.find("got " + std::to_string(values.size())), std::string::npos) << op.op << ": " << text;
    EXPECT_EQ(answer(problem, handle), "") << op.op;
  }
}

TEST(Scalars, MustRoundToTheirArguments) {
  const Handle handle("cpu");
  int arguments = 0;
  for (const OperatorCases& op : cases::all_operators()) {
    const std::vector<double> right = scalars_of(op);
    Problem problem = small_problem(op);
    for (std::size_t i = 0; i < right.size(); ++i, ++arguments) {
      std::vector<double> wrong = right;
      wrong[i] = right[i] + 1.5;
      ASSERT_EQ(set(handle, wrong), MLUOP_STATUS_SUCCESS);
      const std::string text = answer(problem, handle);
      EXPECT_NE(text.find(": wanted a scalar that rounds to the argument, "), std::string::npos)
          << op.op << ": " << text;
      wrong[i] = std::nan("");
      set(handle, wrong);
      EXPECT_NE(answer(problem, handle).find("got nan from mluOpExtSetScalars"), std::string::npos) << op.op;
    }
    ASSERT_EQ(set(handle, right), MLUOP_STATUS_SUCCESS);
    EXPECT_EQ(answer(problem, handle), "") << op.op;
  }
  EXPECT_GE(arguments, 22);
}

TEST(Scalars, CountZeroTakesThemBack) {
  const Handle handle("cpu");
  Problem problem = small_problem(cases::find_operator("psamask_forward"));
  set(handle, {1, 2, 3});
  EXPECT_EQ(mluOpExtSetScalars(handle.get(), nullptr, 0), MLUOP_STATUS_SUCCESS);
  EXPECT_EQ(answer(problem, handle), "");
}

/// Tensors that only double tells apart from floats: `handle`'s call keeps a point in the ball, or not.
class Ball {
 public:
  static constexpr float kRadius = 0.7f;  // 0.69999998807907104
  static constexpr double kExact = 0.7;

  Ball() {
    describe(centre_, {1, 1, 3}, MLUOP_DTYPE_DOUBLE);
    describe(points_, {1, 2, 3}, MLUOP_DTYPE_DOUBLE);
    describe(indices_, {1, 1, 2}, MLUOP_DTYPE_INT32);
  }
  Ball(const Ball&) = delete;
  Ball& operator=(const Ball&) = delete;
  ~Ball() {
    for (const auto desc : {centre_, points_, indices_}) mluOpDestroyTensorDescriptor(desc);
  }
  mluOpStatus_t call(const Handle& handle, const double* xyz) {
    const double centre[3] = {};
    found_[0] = found_[1] = -1;
    return mluOpBallQuery(handle.get(), centre_, centre, points_, xyz, 0, kRadius, 2, indices_, found_);
  }
  /// Whether the call found the second point, which is 0.699999995 from the centre.
  bool reaches(const Handle& handle) {
    const double xyz[6] = {0, 0, 0, 0.699999995, 0, 0};
    EXPECT_EQ(call(handle, xyz), MLUOP_STATUS_SUCCESS) << mluOpExtGetLastErrorText();
    EXPECT_EQ(found_[0], 0);
    return found_[1] == 1;
  }

 private:
  static void describe(mluOpTensorDescriptor_t& desc, const std::vector<int>& dims, mluOpDataType_t dtype) {
    EXPECT_EQ(mluOpCreateTensorDescriptor(&desc), MLUOP_STATUS_SUCCESS);
    EXPECT_EQ(mluOpSetTensorDescriptor(desc, MLUOP_LAYOUT_ARRAY, dtype, 3, dims.data()), MLUOP_STATUS_SUCCESS);
  }

  mluOpTensorDescriptor_t centre_ = nullptr, points_ = nullptr, indices_ = nullptr;
  int found_[2] = {};
};

TEST(Scalars, ChangeTheNextCallAlone) {
  Handle handle("cpu");
  handle.contract(MLUOP_EXT_CONTRACT_EXTENDED);
  Ball ball;
  EXPECT_FALSE(ball.reaches(handle));
  set(handle, {0, Ball::kExact});
  EXPECT_TRUE(ball.reaches(handle));
  EXPECT_FALSE(ball.reaches(handle));
}

TEST(Scalars, EndWithACallThatFails) {
  Handle handle("cpu");
  Ball ball;
  set(handle, {0, Ball::kExact});
  EXPECT_EQ(ball.call(handle, nullptr), MLUOP_STATUS_BAD_PARAM);  // STRICT has no double
  handle.contract(MLUOP_EXT_CONTRACT_EXTENDED);
  EXPECT_FALSE(ball.reaches(handle));
  set(handle, {0, Ball::kExact});
  EXPECT_EQ(ball.call(handle, nullptr), MLUOP_STATUS_BAD_PARAM);  // no data
  EXPECT_FALSE(ball.reaches(handle));
}

TEST(Scalars, OutlastCallsThatComputeNothing) {
  Handle handle("cpu");
  handle.contract(MLUOP_EXT_CONTRACT_EXTENDED);
  set(handle, {0, Ball::kExact});
  Ball ball;
  std::size_t size = 0;
  EXPECT_EQ(mluOpExtSetNumThreads(handle.get(), 2), MLUOP_STATUS_SUCCESS);
  EXPECT_EQ(mluOpGetThreeNNForwardWorkspaceSize(handle.get(), nullptr, &size), MLUOP_STATUS_BAD_PARAM);
  EXPECT_TRUE(ball.reaches(handle));
}

TEST(Scalars, AreOfTheHandleAndOfTheThreadThatGaveThem) {
  Handle handle("cpu"), other("cpu");
  for (Handle* h : {&handle, &other}) h->contract(MLUOP_EXT_CONTRACT_EXTENDED);
  set(handle, {0, Ball::kExact});
  Ball ball;
  EXPECT_FALSE(ball.reaches(other));
  std::thread([&] { EXPECT_FALSE(Ball().reaches(handle)); }).join();
  EXPECT_TRUE(ball.reaches(handle));
}

TEST(Scalars, ThreadsThatShareAHandleDoNotMeet) {
  Handle handle("cpu");
  handle.contract(MLUOP_EXT_CONTRACT_EXTENDED);
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, exact = t % 2 == 0] {
      Ball ball;
      for (int i = 0; i < 500; ++i) {
        if (exact) set(handle, {0, Ball::kExact});
        wrong += ball.reaches(handle) != exact;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

TEST(Scalars, LeaveOtherDtypesAsTheyAre) {
  const Handle handle("cpu");
  for (const OperatorCases& op : cases::all_operators()) {
    std::vector<double> exact = scalars_of(op);
    if (exact.empty()) continue;
    Problem plain = small_problem(op), given = small_problem(op);
    ASSERT_EQ(answer(plain, handle), "") << op.op;
    for (double& v : exact) v += v * 0x1p-30;
    set(handle, exact);
    ASSERT_EQ(answer(given, handle), "") << op.op;
    for (std::size_t i = 0; i < plain.outputs.size(); ++i) {
      EXPECT_EQ(plain.outputs[i]->values(), given.outputs[i]->values()) << op.op;
    }
  }
}

}  // namespace
}  // namespace mluops::test
