// What deformable convolution refuses beyond what all operators do.
#include <gtest/gtest.h>

#include <string>

#include "test/support/handle.h"
#include "test/support/tensor.h"
#include "test/validation/op_call.h"

namespace mluops::test {
namespace {

const char* const kCase = " n=2 h=5 w=6 ci=4 co=6 kh=2 kw=3 g=2 dg=2 stride=2";

OpCall call(const std::string& op) {
  return OpCall(Case::parse(op + kCase));
}

std::function<void(OpCall&)> set(const std::string& name, double value) {
  return [=](OpCall& c) { c.set(name, value); };
}

std::function<void(OpCall&)> dim(const std::string& name, std::size_t axis, std::int64_t n) {
  return [=](OpCall& c) { c.arg(name).dims[axis] = n; };
}

std::function<void(OpCall&)> absent(const std::string& name) {
  return [=](OpCall& c) { c.arg(name).no_desc = c.arg(name).no_data = true; };
}

std::vector<Wrong> wrongs(const std::string& filter) {
  return {
      {"a filter too high", dim(filter, 1, 9), MLUOP_STATUS_BAD_PARAM, filter + ": wanted height that fits"},
      {"no filter", dim(filter, 1, 0), MLUOP_STATUS_BAD_PARAM, filter + ": wanted a non-empty tensor"},
      {"mask without data", [](OpCall& c) { c.arg("mask").no_data = true; }, MLUOP_STATUS_BAD_PARAM,
       "mask: wanted descriptor and data both given or both NULL"},
      {"3 groups", set("g", 3), MLUOP_STATUS_BAD_PARAM, "conv_group: wanted a divisor of the 4 channels of input"},
      {"3 deformable groups", set("dg", 3), MLUOP_STATUS_BAD_PARAM, "deformable_group: wanted a divisor of the 4"},
      {"4 groups", set("g", 4), MLUOP_STATUS_BAD_PARAM, "conv_group: wanted a divisor of the 6 channels of"},
  };
}

TEST(DcnValidation, Forward) {
  check_table(call("dcn_forward"), wrongs("filter"));
}

TEST(DcnValidation, BackwardData) {
  check_table(call("dcn_backward_data"), wrongs("filter"));
  check_table(call("dcn_backward_data"), {{"grad_mask alone", absent("mask"), MLUOP_STATUS_BAD_PARAM,
                                           "grad_mask: wanted it exactly when mask is given, got only grad_mask"},
                                          {"mask alone", absent("grad_mask"), MLUOP_STATUS_BAD_PARAM,
                                           "grad_mask: wanted it exactly when mask is given, got only mask"}});
}

TEST(DcnValidation, BackwardWeight) {
  check_table(call("dcn_backward_weight"), wrongs("grad_filter"));
}

TEST(DcnValidation, Descriptor) {
  mluOpDCNDescriptor_t desc = nullptr;
  ASSERT_EQ(mluOpCreateDCNDescriptor(&desc), MLUOP_STATUS_SUCCESS);
  const int pad[] = {0, 0, 0, 0}, one[] = {1, 1}, less[] = {-1, 0, 0, 0}, zero[] = {1, 0};
  const auto made = [&](int dimensions, const int* pads, const int* strides, const int* dilations, int groups, int step,
                        mluOpDataType_t type) {
    return mluOpSetDCNDescriptor(desc, dimensions, pads, strides, dilations, groups, groups, step, type);
  };
  EXPECT_EQ(made(4, pad, one, one, 1, 1, MLUOP_DTYPE_FLOAT), MLUOP_STATUS_SUCCESS);
  EXPECT_EQ(made(5, pad, one, one, 1, 1, MLUOP_DTYPE_FLOAT), MLUOP_STATUS_BAD_PARAM);
  EXPECT_EQ(made(4, nullptr, one, one, 1, 1, MLUOP_DTYPE_FLOAT), MLUOP_STATUS_BAD_PARAM);
  EXPECT_EQ(made(4, less, one, one, 1, 1, MLUOP_DTYPE_FLOAT), MLUOP_STATUS_BAD_PARAM);
  EXPECT_EQ(made(4, pad, zero, one, 1, 1, MLUOP_DTYPE_FLOAT), MLUOP_STATUS_BAD_PARAM);
  EXPECT_EQ(made(4, pad, one, zero, 1, 1, MLUOP_DTYPE_FLOAT), MLUOP_STATUS_BAD_PARAM);
  EXPECT_EQ(made(4, pad, one, one, 0, 1, MLUOP_DTYPE_FLOAT), MLUOP_STATUS_BAD_PARAM);
  EXPECT_EQ(made(4, pad, one, one, 1, 0, MLUOP_DTYPE_FLOAT), MLUOP_STATUS_BAD_PARAM);
  EXPECT_EQ(made(4, pad, one, one, 1, 1, MLUOP_DTYPE_HALF), MLUOP_STATUS_BAD_PARAM);
  EXPECT_EQ(mluOpSetDCNDescriptor(nullptr, 4, pad, one, one, 1, 1, 1, MLUOP_DTYPE_FLOAT), MLUOP_STATUS_BAD_PARAM);
  EXPECT_EQ(mluOpDestroyDCNDescriptor(desc), MLUOP_STATUS_SUCCESS);
  EXPECT_EQ(mluOpDestroyDCNDescriptor(nullptr), MLUOP_STATUS_BAD_PARAM);
  EXPECT_EQ(mluOpCreateDCNDescriptor(nullptr), MLUOP_STATUS_BAD_PARAM);
}

/// The functions for the workspace answer 0 and check what the calls check.
TEST(DcnValidation, Workspace) {
  mluOpDCNDescriptor_t desc = nullptr;
  ASSERT_EQ(mluOpCreateDCNDescriptor(&desc), MLUOP_STATUS_SUCCESS);
  const Handle handle("cpu");
  const auto image = [](std::vector<std::int64_t> dims) {
    return Descriptor(MLUOP_LAYOUT_NHWC, MLUOP_DTYPE_FLOAT, dims);
  };
  const Descriptor input = image({1, 3, 3, 2}), offset = image({1, 3, 3, 2}), mask = image({1, 3, 3, 1}),
                   filter = image({4, 1, 1, 2}), output = image({1, 3, 3, 4});
  const auto sizes = [&](std::size_t* size) {
    return std::vector<mluOpStatus_t>{
        mluOpGetDCNForwardWorkspaceSize(handle.get(), desc, input.get(), offset.get(), mask.get(), filter.get(),
                                        nullptr, output.get(), size),
        mluOpGetDCNBackwardWeightWorkspaceSize(handle.get(), desc, input.get(), offset.get(), nullptr, output.get(),
                                               filter.get(), nullptr, size),
        mluOpGetDCNBakcwardDataWorkspaceSize(handle.get(), desc, input.get(), offset.get(), mask.get(), filter.get(),
                                             output.get(), input.get(), offset.get(), mask.get(), size)};
  };
  std::size_t size = 7;
  for (const mluOpStatus_t status : sizes(&size)) EXPECT_EQ(status, MLUOP_STATUS_BAD_PARAM);  // never set
  const int pad[] = {0, 0, 0, 0}, one[] = {1, 1};
  ASSERT_EQ(mluOpSetDCNDescriptor(desc, 4, pad, one, one, 1, 1, 1, MLUOP_DTYPE_FLOAT), MLUOP_STATUS_SUCCESS);
  for (const mluOpStatus_t status : sizes(nullptr)) EXPECT_EQ(status, MLUOP_STATUS_BAD_PARAM);
  EXPECT_EQ(size, 7u);
  for (const mluOpStatus_t status : sizes(&size)) EXPECT_EQ(status, MLUOP_STATUS_SUCCESS) << mluOpExtGetLastErrorText();
  EXPECT_EQ(size, 0u);
  mluOpDestroyDCNDescriptor(desc);
}

TEST(DcnValidation, AWorkspaceWithASizeIsThere) {
  OpCall c = call("dcn_backward_weight");
  c.call = [](mluOpHandle_t handle, const Arguments& t) {
    mluOpDCNDescriptor_t desc = nullptr;
    mluOpCreateDCNDescriptor(&desc);
    const int pad[] = {1, 1, 1, 1}, stride[] = {2, 2}, one[] = {1, 1};
    mluOpSetDCNDescriptor(desc, 4, pad, stride, one, 2, 2, 1, MLUOP_DTYPE_FLOAT);
    const mluOpStatus_t status =
        mluOpDCNBackwardWeight(handle, desc, t[0].desc, t[0].data, t[1].desc, t[1].data, t[2].desc, t[2].data,
                               t[3].desc, t[3].data, nullptr, 64, t[4].desc, t[4].data, t[5].desc, t[5].data);
    mluOpDestroyDCNDescriptor(desc);
    return status;
  };
  EXPECT_EQ(c.make(), MLUOP_STATUS_BAD_PARAM);
  EXPECT_NE(std::string(mluOpExtGetLastErrorText()).find("workspace: wanted a pointer, got NULL"), std::string::npos);
  EXPECT_FALSE(c.outputs_touched());
}

}  // namespace
}  // namespace mluops::test
