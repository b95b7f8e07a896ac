// The descriptor of deformable convolution, and its workspace.
#include <gtest/gtest.h>

#include "test/validation/op_call.h"

namespace mluops::test {
namespace {

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

TEST(DcnValidation, AWorkspaceWithASizeIsThere) {
  const auto call = [](mluOpHandle_t handle, const Arguments& t) {
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
  expect_bad_param(OpCall(Case::parse("dcn_backward_weight n=2 h=5 w=6 ci=4 co=6 kh=2 kw=3 g=2 dg=2 stride=2")), call,
                   "workspace: wanted a pointer, got NULL");
}

}  // namespace
}  // namespace mluops::test
