// What the focal losses refuse beyond what their descriptions tell.
#include <gtest/gtest.h>

#include <cstring>
#include <string>

#include "test/validation/described.h"

namespace mluops::test {
namespace {

std::function<void(OpCall&)> target_of_row_1(std::int32_t value) {
  return [=](OpCall& c) { std::memcpy(c.arg("target").data.data() + sizeof value, &value, sizeof value); };
}

void check_weight(const std::string& text) {
  const OpCall base(Case::parse(text));
  check_table(base, described(base));
  OpCall empty = base;
  empty.arg("weight").dims[0] = 0;
  empty.arg("weight").no_data = true;
  EXPECT_EQ(empty.make(), MLUOP_STATUS_SUCCESS) << "an empty weight is none: " << mluOpExtGetLastErrorText();
  EXPECT_TRUE(empty.outputs_touched());
}

TEST(FocalLossValidation, Targets) {
  for (const std::string direction : {"_forward n=5 c=7", "_backward n=5 c=7"}) {
    check_table(OpCall(Case::parse("focal_loss_sigmoid" + direction)),
                {{"target", target_of_row_1(8), MLUOP_STATUS_BAD_PARAM,
                  "target: wanted a class or background (at most 7), got 8 in row 1"}});
    check_table(OpCall(Case::parse("focal_loss_softmax" + direction)),
                {{"target", target_of_row_1(7), MLUOP_STATUS_BAD_PARAM,
                  "target: wanted a class or a negative number (at most 6), got 7 in row 1"}});
    check_weight("focal_loss_softmax" + direction + " weight=1");
  }
}

TEST(FocalLossValidation, Weights) {
  for (const std::string op : {"focal_loss_sigmoid_forward", "focal_loss_sigmoid_backward"}) {
    check_weight(op + " n=5 c=7 weight=1");
    const OpCall base(Case::parse(op + " n=5 c=7 weight=1"));
    for (const std::int32_t value : {-1, 7}) {
      check_table(base, {{"target", target_of_row_1(value), MLUOP_STATUS_BAD_PARAM,
                          "target: wanted a class with a weight (at most 6), got " + std::to_string(value)}});
    }
  }
}

/// The call with other modes.
mluOpStatus_t with_modes(bool forward, mluOpComputationPreference_t prefer, mluOpLossReduction_t reduction) {
  OpCall call(Case::parse(std::string("focal_loss_sigmoid_") + (forward ? "forward" : "backward") + " n=5 c=7"));
  call.call = [=](mluOpHandle_t handle, const Arguments& t) {
    const auto function = forward ? mluOpFocalLossSigmoidForward : mluOpFocalLossSigmoidBackward;
    return function(handle, prefer, reduction, t[0].desc, t[0].data, t[1].desc, t[1].data, nullptr, nullptr, 0.25F, 2,
                    t[2].desc, t[2].data);
  };
  const mluOpStatus_t status = call.make();
  EXPECT_EQ(call.outputs_touched(), status == MLUOP_STATUS_SUCCESS);
  return status;
}

TEST(FocalLossValidation, Modes) {
  const auto none = MLUOP_LOSS_REDUCTION_NONE;
  EXPECT_EQ(with_modes(true, MLUOP_COMPUTATION_FAST, none), MLUOP_STATUS_SUCCESS);
  EXPECT_EQ(with_modes(true, MLUOP_COMPUTATION_HIGH_PRECISION, none), MLUOP_STATUS_SUCCESS);
  EXPECT_EQ(with_modes(true, MLUOP_COMPUTATION_ULTRAHIGH_PRECISION, none), MLUOP_STATUS_NOT_SUPPORTED);
  EXPECT_EQ(with_modes(false, MLUOP_COMPUTATION_HIGH_PRECISION, none), MLUOP_STATUS_SUCCESS);
  EXPECT_EQ(with_modes(false, MLUOP_COMPUTATION_FAST, none), MLUOP_STATUS_NOT_SUPPORTED);
  for (const bool forward : {true, false}) {
    EXPECT_EQ(with_modes(forward, MLUOP_COMPUTATION_HIGH_PRECISION, MLUOP_LOSS_REDUCTION_SUM),
              MLUOP_STATUS_NOT_SUPPORTED);
    EXPECT_EQ(with_modes(forward, MLUOP_COMPUTATION_HIGH_PRECISION, MLUOP_LOSS_REDUCTION_MEAN),
              MLUOP_STATUS_NOT_SUPPORTED);
  }
}

}  // namespace
}  // namespace mluops::test
