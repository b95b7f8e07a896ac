// The suite itself: every kind of misbehaviour has to be noticed. The calls are the real ones, followed by damage.
#include <cmath>
#include <cstring>
#include <functional>

#include "test/op/suite.h"
#include "test/support/encode.h"
#include "test/support/metrics.h"

namespace mluops::test {
namespace {

using Damage = std::function<void(Problem&)>;

constexpr const char* kCase = "three_interpolate_backward b=2 c=7 m=9 n=20 indices=valid seed=1";

// The verdict on a call that did its work on cpu and then the damage.
Report report_of(const Damage& damage, mluOpStatus_t status = MLUOP_STATUS_SUCCESS,
                 mluOpDataType_t dtype = MLUOP_DTYPE_FLOAT) {
  Problem p = make_problem(Case::parse(kCase), dtype);
  const auto call = p.call;
  p.call = [&, call](mluOpHandle_t handle) {
    if (status == MLUOP_STATUS_SUCCESS) call(handle);
    damage(p);
    return status;
  };
  const Handle handle("cpu");
  const Tolerance tolerance = tolerance_of("cpu", dtype);
  return run_and_check(p, handle, "cpu", p.expect(tolerance.coordinates), tolerance);
}

void expect_caught(const Damage& damage, const std::string& words, mluOpStatus_t status = MLUOP_STATUS_SUCCESS,
                   mluOpDataType_t dtype = MLUOP_DTYPE_FLOAT) {
  const Report report = report_of(damage, status, dtype);
  EXPECT_EQ(report.outcome, Outcome::kFailed);
  EXPECT_NE(report.text.find(words), std::string::npos) << report.text;
}

void scale_one(Tensor& t, std::size_t i, double factor) {
  reference::Values v = t.values();
  v[i] *= factor;
  t.fill(v);
}

TEST(Harness, AcceptsGoodWork) {
  EXPECT_EQ(report_of([](Problem&) {}).outcome, Outcome::kRan);
  EXPECT_EQ(report_of([](Problem&) {}, MLUOP_STATUS_SUCCESS, MLUOP_DTYPE_HALF).outcome, Outcome::kRan);
}

TEST(Harness, NoticesOneWrongElement) {
  expect_caught([](Problem& p) { scale_one(*p.outputs[0], 5, 1.001); }, "grad_features");
}

TEST(Harness, NoticesOnePercentInOneHalf) {
  expect_caught([](Problem& p) { scale_one(*p.outputs[0], 5, 1.01); }, "element 5", MLUOP_STATUS_SUCCESS,
                MLUOP_DTYPE_HALF);
}

TEST(Harness, NoticesNan) {
  expect_caught([](Problem& p) { scale_one(*p.outputs[0], 3, NAN); }, "NaN");
}

TEST(Harness, NoticesWhatWasNotWritten) {
  expect_caught([](Problem& p) { std::memset(p.outputs[0]->data(), 0xff, 4); }, "NaN");
}

TEST(Harness, NoticesWritesBesideTheOutput) {
  expect_caught([](Problem& p) { static_cast<char*>(p.outputs[0]->data())[-1] = 0; }, "bytes beside grad_features");
  expect_caught([](Problem& p) { static_cast<float*>(p.outputs[0]->data())[p.outputs[0]->count()] = 0; },
                "bytes beside grad_features");
}

TEST(Harness, NoticesChangedInputs) {
  expect_caught([](Problem& p) { static_cast<char*>(p.inputs[1]->data())[0] ^= 1; }, "indices was changed");
}

TEST(Harness, NoticesDeclinesThatTouchedTheOutput) {
  expect_caught([](Problem& p) { std::memset(p.outputs[0]->data(), 0, 1); }, "declined, but",
                MLUOP_STATUS_NOT_SUPPORTED);
  EXPECT_EQ(report_of([](Problem&) {}, MLUOP_STATUS_NOT_SUPPORTED).outcome, Outcome::kDeclined);
}

TEST(Harness, NoticesErrors) {
  expect_caught([](Problem&) {}, "MLUOP_STATUS_EXECUTION_FAILED", MLUOP_STATUS_EXECUTION_FAILED);
}

TEST(Harness, NoticesTheWrongBackend) {
  Problem p = make_problem(Case::parse(kCase), MLUOP_DTYPE_FLOAT);
  const Handle handle("cpu");
  const Tolerance tolerance = tolerance_of("cpu", MLUOP_DTYPE_FLOAT);
  const Report report = run_and_check(p, handle, "mlu_emu", p.expect(tolerance.coordinates), tolerance);
  EXPECT_EQ(report.outcome, Outcome::kFailed);
  EXPECT_EQ(report.text, "ran on \"cpu\", not on mlu_emu");
}

TEST(Harness, CopiesAreComparedToTheBit) {
  Problem p = make_problem(Case::parse("psamask_forward n=1 h=2 w=3 hm=3 wm=3 type=0"), MLUOP_DTYPE_FLOAT);
  const Tolerance tolerance = tolerance_of("cpu", MLUOP_DTYPE_FLOAT);
  const Expected expected = p.expect(tolerance.coordinates);
  p.outputs[0]->fill(expected[0]);
  EXPECT_EQ(mismatch(p, expected, tolerance), "");
  reference::Values nudged = expected[0];
  nudged[0] += spacing(MLUOP_DTYPE_FLOAT, nudged[0]);
  p.outputs[0]->fill(nudged);
  EXPECT_NE(mismatch(p, expected, tolerance), "");
}

TEST(Harness, ArgmaxMayDifferOnlyOnTies) {
  Problem p =
      make_problem(Case::parse("border_align_forward n=1 h=4 w=5 c=2 k=3 p=4 boxes=inside seed=2"), MLUOP_DTYPE_FLOAT);
  const Tolerance tolerance = tolerance_of("cpu", MLUOP_DTYPE_FLOAT);
  const Expected expected = p.expect(tolerance.coordinates);
  p.outputs[0]->fill(expected[0]);
  p.outputs[1]->fill(expected[1]);
  EXPECT_EQ(mismatch(p, expected, tolerance), "");
  for (double wrong : {-1.0, 5.0, expected[1][0] == 0 ? 1.0 : 0.0}) {
    reference::Values argmax = expected[1];
    argmax[0] = wrong;
    p.outputs[1]->fill(argmax);
    EXPECT_NE(mismatch(p, expected, tolerance), "") << wrong;
  }
}

TEST(Harness, MetricsAreThoseOfTheStandard) {
  const Metrics m = measure({1, 2.5, 0, 4}, {1, 2, 1e-9, 5}, 1e-6);
  EXPECT_NEAR(m.diff1, 1.5 / 8, 1e-6);
  EXPECT_NEAR(m.diff2, std::sqrt(1.25 / 30), 1e-6);
  EXPECT_NEAR(m.diff3, 0.25, 1e-6);
  EXPECT_NEAR(m.diff3_2, 1, 1e-12);
  EXPECT_EQ(m.diff4, -1);
  EXPECT_EQ(measure({NAN, INFINITY, 1}, {NAN, INFINITY, INFINITY}, 0).wrong_nonfinite, 1);
  reference::Values low, exact;
  for (int i = 1; i <= 200; ++i) {
    low.push_back(i - 0.1);
    exact.push_back(i);
  }
  EXPECT_EQ(measure(low, exact, 0).diff4, 1);  // all errors on one side
}

}  // namespace
}  // namespace mluops::test
