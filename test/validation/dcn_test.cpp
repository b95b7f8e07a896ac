// The descriptor of deformable convolution.
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

}  // namespace
}  // namespace mluops::test
