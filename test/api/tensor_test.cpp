// Tensor descriptors: what they keep, what they refuse.
#include <gtest/gtest.h>

#include <array>
#include <string>

#include "mlu_op_ext.h"

namespace {

class Tensor : public ::testing::Test {
 protected:
  void SetUp() override { ASSERT_EQ(mluOpCreateTensorDescriptor(&desc_), MLUOP_STATUS_SUCCESS); }
  void TearDown() override { EXPECT_EQ(mluOpDestroyTensorDescriptor(desc_), MLUOP_STATUS_SUCCESS); }

  void expect(mluOpTensorLayout_t layout, mluOpDataType_t dtype, std::vector<std::int64_t> dims,
              std::vector<std::int64_t> strides) {
    mluOpTensorLayout_t got_layout{};
    mluOpDataType_t got_dtype{};
    int rank = -1;
    std::array<std::int64_t, 16> got_dims{}, got_strides{};
    ASSERT_EQ(mluOpGetTensorDescriptorEx_v2(desc_, &got_layout, &got_dtype, &rank, got_dims.data(), got_strides.data()),
              MLUOP_STATUS_SUCCESS);
    EXPECT_EQ(got_layout, layout);
    EXPECT_EQ(got_dtype, dtype);
    ASSERT_EQ(rank, static_cast<int>(dims.size()));
    for (std::size_t i = 0; i < dims.size(); ++i) {
      EXPECT_EQ(got_dims[i], dims[i]);
      EXPECT_EQ(got_strides[i], strides[i]);
    }
  }

  mluOpTensorDescriptor_t desc_ = nullptr;
};

TEST_F(Tensor, FreshState) {
  expect(MLUOP_LAYOUT_ARRAY, MLUOP_DTYPE_FLOAT, {}, {});
  EXPECT_EQ(mluOpGetTensorElementNum(desc_), 0u);
  mluOpDataType_t onchip = MLUOP_DTYPE_HALF;
  EXPECT_EQ(mluOpGetTensorDescriptorOnchipDataType(desc_, &onchip), MLUOP_STATUS_SUCCESS);
  EXPECT_EQ(onchip, MLUOP_DTYPE_INVALID);
  mluOpPointerMode_t mode = MLUOP_POINTER_MODE_HOST;
  EXPECT_EQ(mluOpGetTensorDescriptorPointerMode(desc_, &mode), MLUOP_STATUS_SUCCESS);
  EXPECT_EQ(mode, MLUOP_POINTER_MODE_DEVICE);
  int position = 9, offset = 9;
  float scale = 9;
  EXPECT_EQ(mluOpGetTensorDescriptorPositionScaleAndOffset(desc_, &position, &scale, &offset), MLUOP_STATUS_SUCCESS);
  EXPECT_EQ(position, 0);
  EXPECT_EQ(scale, 1.0f);
  EXPECT_EQ(offset, 0);
}

TEST_F(Tensor, SetInfersRowMajorStrides) {
  const int dims[] = {2, 25, 38, 256};
  EXPECT_EQ(mluOpSetTensorDescriptor(desc_, MLUOP_LAYOUT_NHWC, MLUOP_DTYPE_HALF, 4, dims), MLUOP_STATUS_SUCCESS);
  expect(MLUOP_LAYOUT_NHWC, MLUOP_DTYPE_HALF, {2, 25, 38, 256}, {25 * 38 * 256, 38 * 256, 256, 1});
  EXPECT_EQ(mluOpGetTensorElementNum(desc_), 2u * 25 * 38 * 256);
  const std::int64_t wide[] = {std::int64_t{1} << 33, 3};
  EXPECT_EQ(mluOpSetTensorDescriptor_v2(desc_, MLUOP_LAYOUT_ARRAY, MLUOP_DTYPE_INT8, 2, wide), MLUOP_STATUS_SUCCESS);
  expect(MLUOP_LAYOUT_ARRAY, MLUOP_DTYPE_INT8, {std::int64_t{1} << 33, 3}, {3, 1});
}

TEST_F(Tensor, SetTwiceWithoutResetIsFine) {
  const int a[] = {4, 5};
  const int b[] = {7};
  EXPECT_EQ(mluOpSetTensorDescriptor(desc_, MLUOP_LAYOUT_ARRAY, MLUOP_DTYPE_FLOAT, 2, a), MLUOP_STATUS_SUCCESS);
  EXPECT_EQ(mluOpSetTensorDescriptor(desc_, MLUOP_LAYOUT_NC, MLUOP_DTYPE_INT32, 1, b), MLUOP_STATUS_SUCCESS);
  expect(MLUOP_LAYOUT_NC, MLUOP_DTYPE_INT32, {7}, {1});
}

TEST_F(Tensor, MoreThanEightDimensions) {
  const int dims[] = {1, 2, 1, 2, 1, 2, 1, 2, 1, 3};
  EXPECT_EQ(mluOpSetTensorDescriptor(desc_, MLUOP_LAYOUT_ARRAY, MLUOP_DTYPE_FLOAT, 10, dims), MLUOP_STATUS_SUCCESS);
  EXPECT_EQ(mluOpGetTensorElementNum(desc_), 48u);
}

TEST_F(Tensor, SetExKeepsStrides) {
  const int dims[] = {2, 3};
  const int strides[] = {10, 2};
  EXPECT_EQ(mluOpSetTensorDescriptorEx(desc_, MLUOP_LAYOUT_ARRAY, MLUOP_DTYPE_FLOAT, 2, dims, strides),
            MLUOP_STATUS_SUCCESS);
  expect(MLUOP_LAYOUT_ARRAY, MLUOP_DTYPE_FLOAT, {2, 3}, {10, 2});
  EXPECT_EQ(mluOpSetTensorDescriptorEx(desc_, MLUOP_LAYOUT_ARRAY, MLUOP_DTYPE_FLOAT, 2, dims, nullptr),
            MLUOP_STATUS_BAD_PARAM);
  const std::int64_t dims64[] = {2, 3}, strides64[] = {std::int64_t{1} << 40, 1};
  EXPECT_EQ(mluOpSetTensorDescriptorEx_v2(desc_, MLUOP_LAYOUT_ARRAY, MLUOP_DTYPE_FLOAT, 2, dims64, strides64),
            MLUOP_STATUS_SUCCESS);
  expect(MLUOP_LAYOUT_ARRAY, MLUOP_DTYPE_FLOAT, {2, 3}, {std::int64_t{1} << 40, 1});
}

TEST_F(Tensor, BadArgumentsLeaveTheDescriptorAsItWas) {
  const int good[] = {2, 3};
  const int negative[] = {2, -3};
  ASSERT_EQ(mluOpSetTensorDescriptor(desc_, MLUOP_LAYOUT_NC, MLUOP_DTYPE_HALF, 2, good), MLUOP_STATUS_SUCCESS);
  const auto array = MLUOP_LAYOUT_ARRAY;
  const auto real = MLUOP_DTYPE_FLOAT;
  EXPECT_EQ(mluOpSetTensorDescriptor(nullptr, array, real, 2, good), MLUOP_STATUS_BAD_PARAM);
  EXPECT_EQ(mluOpSetTensorDescriptor(desc_, static_cast<mluOpTensorLayout_t>(-1), real, 2, good),
            MLUOP_STATUS_BAD_PARAM);
  EXPECT_EQ(mluOpSetTensorDescriptor(desc_, array, static_cast<mluOpDataType_t>(-1), 2, good), MLUOP_STATUS_BAD_PARAM);
  EXPECT_EQ(mluOpSetTensorDescriptor(desc_, array, real, -1, good), MLUOP_STATUS_BAD_PARAM);
  EXPECT_EQ(mluOpSetTensorDescriptor(desc_, array, real, 2, nullptr), MLUOP_STATUS_BAD_PARAM);
  EXPECT_EQ(mluOpSetTensorDescriptor(desc_, array, real, 2, negative), MLUOP_STATUS_BAD_PARAM);
  EXPECT_NE(std::string(mluOpExtGetLastErrorText()).find("dimSize: wanted >= 0, got -3"), std::string::npos);
  EXPECT_EQ(mluOpSetTensorDescriptor(desc_, array, real, 0, good), MLUOP_STATUS_BAD_PARAM);
  expect(MLUOP_LAYOUT_NC, MLUOP_DTYPE_HALF, {2, 3}, {3, 1});
}

TEST_F(Tensor, ZeroDimensionsNeedAHostScalar) {
  EXPECT_EQ(mluOpSetTensorDescriptorPointerMode(desc_, MLUOP_POINTER_MODE_HOST), MLUOP_STATUS_SUCCESS);
  EXPECT_EQ(mluOpSetTensorDescriptor(desc_, MLUOP_LAYOUT_ARRAY, MLUOP_DTYPE_FLOAT, 0, nullptr), MLUOP_STATUS_SUCCESS);
  EXPECT_EQ(mluOpGetTensorElementNum(desc_), 1u);
  EXPECT_EQ(mluOpSetTensorDescriptorPointerMode(desc_, static_cast<mluOpPointerMode_t>(-1)), MLUOP_STATUS_BAD_PARAM);
}

TEST_F(Tensor, SetDimKeepsTypeAndLayout) {
  const int first[] = {2, 3};
  const int dims[] = {4, 5, 6};
  const std::int64_t dims64[] = {9};
  ASSERT_EQ(mluOpSetTensorDescriptor(desc_, MLUOP_LAYOUT_NLC, MLUOP_DTYPE_HALF, 2, first), MLUOP_STATUS_SUCCESS);
  EXPECT_EQ(mluOpSetTensorDescriptorDim(desc_, 3, dims), MLUOP_STATUS_SUCCESS);
  expect(MLUOP_LAYOUT_NLC, MLUOP_DTYPE_HALF, {4, 5, 6}, {30, 6, 1});
  EXPECT_EQ(mluOpSetTensorDescriptorDim_v2(desc_, 1, dims64), MLUOP_STATUS_SUCCESS);
  expect(MLUOP_LAYOUT_NLC, MLUOP_DTYPE_HALF, {9}, {1});
  EXPECT_EQ(mluOpSetTensorDescriptorDim(nullptr, 3, dims), MLUOP_STATUS_BAD_PARAM);
  EXPECT_EQ(mluOpSetTensorDescriptorDim_v2(nullptr, 1, dims64), MLUOP_STATUS_BAD_PARAM);
}

TEST_F(Tensor, GetSkipsNullOutputsGetExDoesNot) {
  const int dims[] = {2, 3};
  ASSERT_EQ(mluOpSetTensorDescriptor(desc_, MLUOP_LAYOUT_NC, MLUOP_DTYPE_HALF, 2, dims), MLUOP_STATUS_SUCCESS);
  EXPECT_EQ(mluOpGetTensorDescriptor(desc_, nullptr, nullptr, nullptr, nullptr), MLUOP_STATUS_SUCCESS);
  int got[2] = {};
  EXPECT_EQ(mluOpGetTensorDescriptor(desc_, nullptr, nullptr, nullptr, got), MLUOP_STATUS_SUCCESS);
  EXPECT_EQ(got[0], 2);
  EXPECT_EQ(got[1], 3);
  std::int64_t got64[2] = {};
  EXPECT_EQ(mluOpGetTensorDescriptor_v2(desc_, nullptr, nullptr, nullptr, got64), MLUOP_STATUS_SUCCESS);
  EXPECT_EQ(got64[1], 3);
  EXPECT_EQ(mluOpGetTensorDescriptor(nullptr, nullptr, nullptr, nullptr, nullptr), MLUOP_STATUS_BAD_PARAM);
  mluOpTensorLayout_t layout;
  mluOpDataType_t dtype;
  int rank, sizes[8], strides[8];
  EXPECT_EQ(mluOpGetTensorDescriptorEx(desc_, nullptr, &dtype, &rank, sizes, strides), MLUOP_STATUS_BAD_PARAM);
  EXPECT_EQ(mluOpGetTensorDescriptorEx(desc_, &layout, nullptr, &rank, sizes, strides), MLUOP_STATUS_BAD_PARAM);
  EXPECT_EQ(mluOpGetTensorDescriptorEx(desc_, &layout, &dtype, nullptr, sizes, strides), MLUOP_STATUS_BAD_PARAM);
  EXPECT_EQ(mluOpGetTensorDescriptorEx(desc_, &layout, &dtype, &rank, nullptr, strides), MLUOP_STATUS_BAD_PARAM);
  EXPECT_EQ(mluOpGetTensorDescriptorEx(desc_, &layout, &dtype, &rank, sizes, nullptr), MLUOP_STATUS_BAD_PARAM);
  EXPECT_EQ(mluOpGetTensorDescriptorEx(desc_, &layout, &dtype, &rank, sizes, strides), MLUOP_STATUS_SUCCESS);
  EXPECT_EQ(strides[0], 3);
}

TEST_F(Tensor, FixPointParametersAndOnchipTypeAreKept) {
  EXPECT_EQ(mluOpSetTensorDescriptorOnchipDataType(desc_, MLUOP_DTYPE_INT16), MLUOP_STATUS_SUCCESS);
  mluOpDataType_t onchip{};
  EXPECT_EQ(mluOpGetTensorDescriptorOnchipDataType(desc_, &onchip), MLUOP_STATUS_SUCCESS);
  EXPECT_EQ(onchip, MLUOP_DTYPE_INT16);
  int position = 0, offset = 0;
  float scale = 0;
  EXPECT_EQ(mluOpSetTensorDescriptorPosition(desc_, 3), MLUOP_STATUS_SUCCESS);
  EXPECT_EQ(mluOpGetTensorDescriptorPosition(desc_, &position), MLUOP_STATUS_SUCCESS);
  EXPECT_EQ(position, 3);
  EXPECT_EQ(mluOpSetTensorDescriptorPositionAndScale(desc_, 4, 0.5f), MLUOP_STATUS_SUCCESS);
  EXPECT_EQ(mluOpGetTensorDescriptorPositionAndScale(desc_, &position, &scale), MLUOP_STATUS_SUCCESS);
  EXPECT_EQ(scale, 0.5f);
  EXPECT_EQ(mluOpSetTensorDescriptorPositionScaleAndOffset(desc_, 5, 0.25f, 6), MLUOP_STATUS_SUCCESS);
  EXPECT_EQ(mluOpGetTensorDescriptorPositionScaleAndOffset(desc_, &position, &scale, &offset), MLUOP_STATUS_SUCCESS);
  EXPECT_EQ(position, 5);
  EXPECT_EQ(offset, 6);
  EXPECT_EQ(mluOpGetTensorDescriptorPosition(desc_, nullptr), MLUOP_STATUS_BAD_PARAM);
  EXPECT_EQ(mluOpSetTensorDescriptorPosition(nullptr, 1), MLUOP_STATUS_BAD_PARAM);
}

TEST_F(Tensor, ResetReturnsToTheFreshState) {
  const int dims[] = {2, 3};
  ASSERT_EQ(mluOpSetTensorDescriptor(desc_, MLUOP_LAYOUT_NC, MLUOP_DTYPE_HALF, 2, dims), MLUOP_STATUS_SUCCESS);
  EXPECT_EQ(mluOpResetTensorDescriptor(desc_), MLUOP_STATUS_SUCCESS);
  expect(MLUOP_LAYOUT_ARRAY, MLUOP_DTYPE_FLOAT, {}, {});
  EXPECT_EQ(mluOpGetTensorElementNum(desc_), 0u);
  EXPECT_EQ(mluOpResetTensorDescriptor(nullptr), MLUOP_STATUS_BAD_PARAM);
}

TEST(TensorNull, CreateDestroyAndCount) {
  EXPECT_EQ(mluOpCreateTensorDescriptor(nullptr), MLUOP_STATUS_BAD_PARAM);
  EXPECT_EQ(mluOpDestroyTensorDescriptor(nullptr), MLUOP_STATUS_BAD_PARAM);
  EXPECT_EQ(mluOpGetTensorElementNum(nullptr), 0u);
}

TEST(TensorGroup, CreateSetDestroy) {
  mluOpTensorDescriptor_t a = nullptr, b = nullptr;
  mluOpTensorDescriptor_t* group[] = {&a, &b};
  ASSERT_EQ(mluOpCreateGroupTensorDescriptors(group, 2), MLUOP_STATUS_SUCCESS);
  const mluOpTensorLayout_t layouts[] = {MLUOP_LAYOUT_ARRAY, MLUOP_LAYOUT_NHWC};
  const mluOpDataType_t dtypes[] = {MLUOP_DTYPE_FLOAT, MLUOP_DTYPE_HALF};
  const int ranks[] = {2, 4};
  const int sizes[] = {2, 3, 1, 4, 5, 6};
  const std::int64_t sizes64[] = {7, 8, 1, 1, 1, 9};
  EXPECT_EQ(mluOpSetGroupTensorDescriptors(group, layouts, dtypes, ranks, sizes, 2), MLUOP_STATUS_SUCCESS);
  EXPECT_EQ(mluOpGetTensorElementNum(a), 6u);
  EXPECT_EQ(mluOpGetTensorElementNum(b), 120u);
  EXPECT_EQ(mluOpSetGroupTensorDescriptors_v2(group, layouts, dtypes, ranks, sizes64, 2), MLUOP_STATUS_SUCCESS);
  EXPECT_EQ(mluOpGetTensorElementNum(a), 56u);
  EXPECT_EQ(mluOpGetTensorElementNum(b), 9u);
  EXPECT_EQ(mluOpSetGroupTensorDescriptors(nullptr, layouts, dtypes, ranks, sizes, 2), MLUOP_STATUS_BAD_PARAM);
  EXPECT_EQ(mluOpSetGroupTensorDescriptors(group, nullptr, dtypes, ranks, sizes, 2), MLUOP_STATUS_BAD_PARAM);
  EXPECT_EQ(mluOpSetGroupTensorDescriptors(group, layouts, nullptr, ranks, sizes, 2), MLUOP_STATUS_BAD_PARAM);
  EXPECT_EQ(mluOpSetGroupTensorDescriptors(group, layouts, dtypes, nullptr, sizes, 2), MLUOP_STATUS_BAD_PARAM);
  EXPECT_EQ(mluOpSetGroupTensorDescriptors(group, layouts, dtypes, ranks, nullptr, 2), MLUOP_STATUS_BAD_PARAM);
  EXPECT_EQ(mluOpSetGroupTensorDescriptors(group, layouts, dtypes, ranks, sizes, 0), MLUOP_STATUS_BAD_PARAM);
  mluOpTensorDescriptor_t* lacking[] = {group[0], nullptr};
  EXPECT_EQ(mluOpSetGroupTensorDescriptors(lacking, layouts, dtypes, ranks, sizes, 2), MLUOP_STATUS_BAD_PARAM);
  EXPECT_STREQ(mluOpExtGetLastErrorText(), "mluOpSetGroupTensorDescriptors: group_desc[i]: wanted a pointer, got NULL");
  EXPECT_EQ(mluOpDestroyGroupTensorDescriptors(group, 0), MLUOP_STATUS_BAD_PARAM);
  EXPECT_EQ(mluOpDestroyGroupTensorDescriptors(group, 2), MLUOP_STATUS_SUCCESS);
  EXPECT_EQ(mluOpCreateGroupTensorDescriptors(nullptr, 2), MLUOP_STATUS_BAD_PARAM);
  EXPECT_EQ(mluOpCreateGroupTensorDescriptors(group, -1), MLUOP_STATUS_BAD_PARAM);
}

/// A dimension that int does not hold is an error of the functions of int, which leave what they were given.
TEST(TensorDescriptor, A32BitGetterDoesNotCutALargeDimension) {
  const std::int64_t dims[] = {3, std::int64_t{1} << 31};
  mluOpTensorDescriptor_t desc = nullptr;
  ASSERT_EQ(mluOpCreateTensorDescriptor(&desc), MLUOP_STATUS_SUCCESS);
  ASSERT_EQ(mluOpSetTensorDescriptor_v2(desc, MLUOP_LAYOUT_ARRAY, MLUOP_DTYPE_HALF, 2, dims), MLUOP_STATUS_SUCCESS);
  mluOpTensorLayout_t layout = MLUOP_LAYOUT_NHWC;
  mluOpDataType_t dtype = MLUOP_DTYPE_INT8;
  int rank = -1, sizes[2] = {-1, -1}, strides[2] = {-1, -1};
  EXPECT_EQ(mluOpGetTensorDescriptor(desc, &layout, &dtype, &rank, sizes), MLUOP_STATUS_BAD_PARAM);
  EXPECT_EQ(mluOpGetTensorDescriptorEx(desc, &layout, &dtype, &rank, sizes, strides), MLUOP_STATUS_BAD_PARAM);
  EXPECT_EQ(layout, MLUOP_LAYOUT_NHWC);
  EXPECT_EQ(rank, -1);
  EXPECT_EQ(sizes[0], -1);
  const std::string text = mluOpExtGetLastErrorText();
  EXPECT_NE(text.find("dimSize: wanted"), std::string::npos) << text;
  EXPECT_NE(text.find("got 2147483648"), std::string::npos) << text;
  std::int64_t all[2] = {};
  EXPECT_EQ(mluOpGetTensorDescriptor_v2(desc, &layout, &dtype, &rank, all), MLUOP_STATUS_SUCCESS);
  EXPECT_EQ(all[1], dims[1]);
  EXPECT_EQ(mluOpGetTensorDescriptor(desc, &layout, &dtype, &rank, nullptr), MLUOP_STATUS_SUCCESS);
  const std::int64_t few[] = {3, 2}, far[] = {std::int64_t{1} << 31, 1};
  ASSERT_EQ(mluOpSetTensorDescriptorEx_v2(desc, MLUOP_LAYOUT_ARRAY, MLUOP_DTYPE_HALF, 2, few, far),
            MLUOP_STATUS_SUCCESS);
  EXPECT_EQ(mluOpGetTensorDescriptorEx(desc, &layout, &dtype, &rank, sizes, strides), MLUOP_STATUS_BAD_PARAM);
  EXPECT_NE(std::string(mluOpExtGetLastErrorText()).find("dimStride: wanted"), std::string::npos);
  mluOpDestroyTensorDescriptor(desc);
}

/// Nothing is destroyed when one member of the group is missing.
TEST(TensorDescriptor, AGroupIsDestroyedWholeOrNotAtAll) {
  mluOpTensorDescriptor_t first = nullptr, missing = nullptr;
  ASSERT_EQ(mluOpCreateTensorDescriptor(&first), MLUOP_STATUS_SUCCESS);
  mluOpTensorDescriptor_t* group[] = {&first, &missing};
  EXPECT_EQ(mluOpDestroyGroupTensorDescriptors(group, 2), MLUOP_STATUS_BAD_PARAM);
  EXPECT_EQ(mluOpGetTensorElementNum(first), 0u);
  EXPECT_EQ(mluOpDestroyTensorDescriptor(first), MLUOP_STATUS_SUCCESS);
}

}  // namespace
