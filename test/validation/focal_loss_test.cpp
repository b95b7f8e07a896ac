// What the focal losses refuse beyond what all operators do.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "test/validation/op_call.h"

namespace mluops::test {
namespace {

std::function<void(OpCall&)> rows(std::int64_t n) {
  return [=](OpCall& c) {
    for (Arg& a : c.args) {
      if (a.name != "weight") a.dims[0] = n;
    }
  };
}

std::function<void(OpCall&)> number(const std::string& parameter, double value) {
  return [=](OpCall& c) { c.set(parameter, value); };
}

std::function<void(OpCall&)> target_of_row_1(std::int32_t value) {
  return [=](OpCall& c) { std::memcpy(c.arg("target").data.data() + sizeof value, &value, sizeof value); };
}

CommonRules rules() {
  return {.free_dims = {"softmax:1"}, .huge = rows(std::int64_t{1} << 30), .overflow = rows(std::int64_t{1} << 61)};
}

void check_weight(const std::string& text) {
  const OpCall base(Case::parse(text));
  const auto weight = [](auto change) { return [=](OpCall& c) { change(c.arg("weight")); }; };
  check_table(
      base, {{"weight of another type", weight([](Arg& w) { w.dtype = MLUOP_DTYPE_HALF; }), MLUOP_STATUS_BAD_PARAM,
              "weight: wanted the dtype of"},
             {"a weight more", weight([](Arg& w) { ++w.dims[0]; }), MLUOP_STATUS_BAD_PARAM,
              "weight: wanted dimension 0 to be 7 (the classes of the input), got 8"},
             {"two dimensions", weight([](Arg& w) { w.dims.push_back(1); }), MLUOP_STATUS_BAD_PARAM,
              "weight: wanted 1 dimensions"},
             {"strided", weight([](Arg& w) { w.strides = {2}; }), MLUOP_STATUS_NOT_SUPPORTED, "weight: wanted a dense"},
             {"no data", weight([](Arg& w) { w.no_data = true; }), MLUOP_STATUS_BAD_PARAM, "weight: wanted a pointer"},
             {"layout", weight([](Arg& w) { w.layout = MLUOP_LAYOUT_NCHW; }), MLUOP_STATUS_BAD_PARAM,
              "weight: wanted layout"}});
  OpCall empty = base;
  empty.arg("weight").dims[0] = 0;
  empty.arg("weight").no_data = true;
  EXPECT_EQ(empty.make(), MLUOP_STATUS_SUCCESS) << "an empty weight is none: " << mluOpExtGetLastErrorText();
  EXPECT_TRUE(empty.outputs_touched());
}

TEST(FocalLossValidation, Sigmoid) {
  for (const std::string op : {"focal_loss_sigmoid_forward", "focal_loss_sigmoid_backward"}) {
    const OpCall base(Case::parse(op + " n=5 c=7"));
    check_table(base, common_wrongs(base, rules()));
    check_table(base, {{"gamma", number("gamma", -0.5), MLUOP_STATUS_NOT_SUPPORTED, "gamma: wanted >= 0"},
                       {"target", target_of_row_1(8), MLUOP_STATUS_BAD_PARAM,
                        "target: wanted a class or background (at most 7), got 8 in row 1"}});
  }
  const OpCall backward(Case::parse("focal_loss_sigmoid_backward n=5 c=7"));
  check_table(backward,
              {{"gamma", number("gamma", 10001), MLUOP_STATUS_NOT_SUPPORTED, "gamma: wanted >= 0 and <= 10"}});
}

TEST(FocalLossValidation, Softmax) {
  for (const std::string op : {"focal_loss_softmax_forward", "focal_loss_softmax_backward"}) {
    const OpCall base(Case::parse(op + " n=5 c=7"));
    CommonRules common = rules();
    if (op.find("backward") != std::string::npos) common.free_dims.clear();
    check_table(base, common_wrongs(base, common));
    check_table(base, {{"gamma", number("gamma", -0.5), MLUOP_STATUS_NOT_SUPPORTED, "gamma: wanted >= 0"},
                       {"target", target_of_row_1(7), MLUOP_STATUS_BAD_PARAM,
                        "target: wanted a class or a negative number (at most 6), got 7 in row 1"}});
    check_weight(op + " n=5 c=7 weight=1");
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

TEST(FocalLossValidation, NothingToDo) {
  for (const char* op : {"focal_loss_sigmoid_forward", "focal_loss_softmax_backward", "focal_loss_softmax_forward"}) {
    const OpCall base(Case::parse(std::string(op) + " n=5 c=7"));
    check_table(base, {{"N = 0", rows(0), MLUOP_STATUS_SUCCESS, ""}});
  }
}

}  // namespace
}  // namespace mluops::test
