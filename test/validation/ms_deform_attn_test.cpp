// The layouts that MsDeformAttn takes, its step, and its empty tensors.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "test/validation/op_call.h"

namespace mluops::test {
namespace {

constexpr const char* kShape = " b=2 q=5 m=3 d=7 l=2 p=4 h=5 w=6";

/// Dimension `axis` of the tensors of locations and weights.
std::function<void(OpCall&)> of_samples(std::size_t axis, std::int64_t n) {
  return [=](OpCall& c) {
    for (Arg& a : c.args) {
      if (a.dims.size() > 4) a.dims[axis] = n;
    }
  };
}

/// Programs describe tensors of numbers as NCHW or NCDHW, as mmcv does all of four or five dimensions: the call has
/// the result it has with ARRAY.
void expect_any_layout(OpCall base, const std::vector<std::string>& of_numbers) {
  ASSERT_EQ(base.make(), MLUOP_STATUS_SUCCESS) << mluOpExtGetLastErrorText();
  OpCall other = base;
  for (const std::string& name : of_numbers) other.arg(name).layout = MLUOP_LAYOUT_NCHW;
  ASSERT_EQ(other.make(), MLUOP_STATUS_SUCCESS) << mluOpExtGetLastErrorText();
  for (const Arg& a : base.args) EXPECT_EQ(a.memory, other.arg(a.name).memory) << a.name;
}

TEST(MsDeformAttnValidation, AnyLayout) {
  expect_any_layout(OpCall(Case::parse(std::string("ms_deform_attn_forward") + kShape)),
                    {"data_value", "data_sampling_loc", "data_attn_weight", "data_col"});
  expect_any_layout(
      OpCall(Case::parse(std::string("ms_deform_attn_backward") + kShape)),
      {"value", "sampling_loc", "attn_weight", "grad_output", "grad_value", "grad_sampling_loc", "grad_attn_weight"});
}

TEST(MsDeformAttnValidation, TheStepDividesTheBatch) {
  OpCall call(Case::parse("ms_deform_attn_forward b=6 q=2 m=1 d=3 l=1 p=1 h=2 w=2"));
  for (const int step : {-1, 0, 1, 2, 3, 4, 5, 6, 64}) {
    call.call = [step](mluOpHandle_t handle, const Arguments& t) {
      return mluOpMsDeformAttnForward(handle, t[0].desc, t[0].data, t[1].desc, t[1].data, t[2].desc, t[2].data,
                                      t[3].desc, t[3].data, t[4].desc, t[4].data, step, t[5].desc, t[5].data);
    };
    const bool right = step > 0 && (step > 6 || 6 % step == 0);
    EXPECT_EQ(call.make(), right ? MLUOP_STATUS_SUCCESS : MLUOP_STATUS_BAD_PARAM) << step;
    EXPECT_EQ(call.outputs_touched(), right) << step;
  }
  EXPECT_EQ(call.function, "mluOpMsDeformAttnForward");
}

/// Every byte of the arguments of this name, as the last call left them.
bool is_zero(OpCall& call, const std::string& name) {
  const Arg& a = call.arg(name);
  std::size_t bytes = sizeof(float);
  for (const std::int64_t d : a.dims) bytes *= static_cast<std::size_t>(d);
  return std::all_of(a.memory.begin(), a.memory.begin() + static_cast<std::ptrdiff_t>(bytes),
                     [](std::uint8_t b) { return b == 0; });
}

TEST(MsDeformAttnValidation, WithoutPointsEverythingIsZero) {
  OpCall forward(Case::parse(std::string("ms_deform_attn_forward") + kShape));
  of_samples(4, 0)(forward);
  ASSERT_EQ(forward.make(), MLUOP_STATUS_SUCCESS) << mluOpExtGetLastErrorText();
  EXPECT_TRUE(is_zero(forward, "data_col"));
  OpCall backward(Case::parse(std::string("ms_deform_attn_backward") + kShape));
  of_samples(4, 0)(backward);
  ASSERT_EQ(backward.make(), MLUOP_STATUS_SUCCESS) << mluOpExtGetLastErrorText();
  EXPECT_TRUE(is_zero(backward, "grad_value"));
}

TEST(MsDeformAttnValidation, WithoutPixelsEverythingIsZero) {
  OpCall backward(Case::parse(std::string("ms_deform_attn_backward") + kShape));
  for (const char* name : {"value", "grad_value"}) backward.arg(name).dims[1] = 0;
  for (const char* name : {"spatial_shapes", "level_start_index"}) {
    auto& data = backward.arg(name).data;
    std::fill(data.begin(), data.end(), std::uint8_t{0});
  }
  ASSERT_EQ(backward.make(), MLUOP_STATUS_SUCCESS) << mluOpExtGetLastErrorText();
  EXPECT_TRUE(is_zero(backward, "grad_sampling_loc"));
  EXPECT_TRUE(is_zero(backward, "grad_attn_weight"));
}

}  // namespace
}  // namespace mluops::test
