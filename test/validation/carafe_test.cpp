// What CARAFE refuses beyond what its description tells.
#include <gtest/gtest.h>

#include <memory>

#include "test/validation/op_call.h"

namespace mluops::test {
namespace {

OpCall forward() {
  return OpCall(Case::parse("carafe_forward n=2 h=3 w=4 c=6 k=3 g=2 s=2"));
}

OpCall backward() {
  return OpCall(Case::parse("carafe_backward n=2 h=3 w=4 c=6 k=3 g=2 s=2"));
}

/// The call with another CARAFE descriptor than the case's.
std::function<void(OpCall&)> described_by(mluOpCarafeDescriptor_t desc) {
  return [=](OpCall& c) {
    c.call = [forward = c.args.size() == 3, desc](mluOpHandle_t handle, const Arguments& t) {
      return forward
                 ? mluOpCarafeForward(handle, desc, t[0].desc, t[0].data, t[1].desc, t[1].data, t[2].desc, t[2].data)
                 : mluOpCarafeBackward(handle, desc, t[0].desc, t[0].data, t[1].desc, t[1].data, t[2].desc, t[2].data,
                                       t[3].desc, t[3].data, t[4].desc, t[4].data);
    };
  };
}

std::function<void(OpCall&)> never_set() {
  return [](OpCall& c) {
    mluOpCarafeDescriptor_t desc = nullptr;
    EXPECT_EQ(mluOpCreateCarafeDescriptor(&desc), MLUOP_STATUS_SUCCESS);
    described_by(desc)(c);
    c.call = [call = c.call, owner = std::shared_ptr<mluOpCarafeStruct>(desc, mluOpDestroyCarafeDescriptor)](
                 mluOpHandle_t handle, const Arguments& t) { return call(handle, t); };
  };
}

std::function<void(OpCall&)> batch(std::int64_t n) {
  return [=](OpCall& c) {
    for (Arg& a : c.args) a.dims[0] = n;
  };
}

/// Kernel size and scale with shapes that fit them.
std::function<void(OpCall&)> sized(int kernel, int scale, mluOpExtContract_t contract) {
  return [=](OpCall& c) {
    c.contract = contract;
    c.set("k", kernel).set("s", scale);
    for (Arg& a : c.args) {
      const bool low = a.name == "input" || a.name == "grad_input";
      a.dims[0] = 1;
      a.dims[1] = low ? 1 : scale;
      a.dims[2] = low ? 1 : scale;
      if (a.name == "mask" || a.name == "grad_mask") a.dims[3] = 2 * kernel * kernel;
    }
  };
}

std::vector<Wrong> own_wrongs() {
  return {
      {"no carafe descriptor", described_by(nullptr), MLUOP_STATUS_BAD_PARAM, "carafe_desc: wanted a pointer"},
      {"carafe descriptor never set", never_set(), MLUOP_STATUS_BAD_PARAM, "dimNb"},
      {"channels not divisible by groups",
       [](OpCall& c) {
         c.set("g", 4);
         for (Arg& a : c.args) {
           if (a.name.find("mask") != std::string::npos) a.dims[3] = 36;
         }
       },
       MLUOP_STATUS_BAD_PARAM, "input: wanted channels divisible by group_size 4, got 6"},
      {"groups that the mask has not", [](OpCall& c) { c.set("g", 3); }, MLUOP_STATUS_BAD_PARAM,
       "group_size * kernel_size * kernel_size"},
      {"kernel size that the mask has not", [](OpCall& c) { c.set("k", 5); }, MLUOP_STATUS_BAD_PARAM,
       "group_size * kernel_size * kernel_size"},
      {"scale that the output has not", [](OpCall& c) { c.set("s", 3); }, MLUOP_STATUS_BAD_PARAM,
       "scale_factor * height of input"},
      {"empty batch without data",
       [](OpCall& c) {
         batch(0)(c);
         for (Arg& a : c.args) a.no_data = true;
       },
       MLUOP_STATUS_SUCCESS, ""},
  };
}

TEST(CarafeValidation, Forward) {
  const OpCall base = forward();
  check_table(base, own_wrongs());
  check_table(base, {{"kernel_size 47", sized(47, 2, MLUOP_EXT_CONTRACT_STRICT), MLUOP_STATUS_NOT_SUPPORTED,
                      "kernel_size: wanted <= 45, got 47"},
                     {"scale_factor 6", sized(3, 6, MLUOP_EXT_CONTRACT_STRICT), MLUOP_STATUS_NOT_SUPPORTED,
                      "scale_factor: wanted <= 5, got 6"}});
}

TEST(CarafeValidation, Backward) {
  const OpCall base = backward();
  check_table(base, own_wrongs());
  check_table(base, {{"kernel_size 139", sized(139, 1, MLUOP_EXT_CONTRACT_STRICT), MLUOP_STATUS_NOT_SUPPORTED,
                      "kernel_size: wanted <= 137, got 139"}});
}

TEST(CarafeValidation, ExtendedGoesBeyondTheLimitsOfTheApi) {
  OpCall larger = forward();
  sized(47, 6, MLUOP_EXT_CONTRACT_EXTENDED)(larger);
  EXPECT_EQ(larger.make(), MLUOP_STATUS_SUCCESS) << mluOpExtGetLastErrorText();
  EXPECT_TRUE(larger.outputs_touched());
  OpCall largest = backward();
  sized(139, 1, MLUOP_EXT_CONTRACT_EXTENDED)(largest);
  EXPECT_EQ(largest.make(), MLUOP_STATUS_SUCCESS) << mluOpExtGetLastErrorText();
}

TEST(CarafeValidation, Descriptor) {
  EXPECT_EQ(mluOpCreateCarafeDescriptor(nullptr), MLUOP_STATUS_BAD_PARAM);
  EXPECT_EQ(mluOpDestroyCarafeDescriptor(nullptr), MLUOP_STATUS_BAD_PARAM);
  EXPECT_EQ(mluOpSetCarafeDescriptor(nullptr, 4, 3, 1, 2), MLUOP_STATUS_BAD_PARAM);
  mluOpCarafeDescriptor_t desc = nullptr;
  ASSERT_EQ(mluOpCreateCarafeDescriptor(&desc), MLUOP_STATUS_SUCCESS);
  const struct {
    int dim_nb, kernel, group, scale;
    const char* text;
  } wrong[] = {{3, 3, 1, 2, "dimNb"},         {4, 0, 1, 2, "kernel_size"}, {4, -3, 1, 2, "kernel_size"},
               {4, 4, 1, 2, "an odd number"}, {4, 3, 0, 2, "group_size"},  {4, 3, 1, 0, "scale_factor"}};
  for (const auto& w : wrong) {
    EXPECT_EQ(mluOpSetCarafeDescriptor(desc, w.dim_nb, w.kernel, w.group, w.scale), MLUOP_STATUS_BAD_PARAM);
    EXPECT_NE(std::string(mluOpExtGetLastErrorText()).find(w.text), std::string::npos) << mluOpExtGetLastErrorText();
  }
  EXPECT_EQ(mluOpSetCarafeDescriptor(desc, 4, 137, 1, 1), MLUOP_STATUS_SUCCESS);
  EXPECT_EQ(mluOpDestroyCarafeDescriptor(desc), MLUOP_STATUS_SUCCESS);
}

}  // namespace
}  // namespace mluops::test
