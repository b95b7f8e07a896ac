// Enumerator values are the ABI; sizes and names of types.
#include <gtest/gtest.h>

#include "mlu_op_ext.h"

namespace {

static_assert(MLUOP_STATUS_SUCCESS == 0 && MLUOP_STATUS_NOT_INITIALIZED == 1 && MLUOP_STATUS_ALLOC_FAILED == 2 &&
              MLUOP_STATUS_BAD_PARAM == 3 && MLUOP_STATUS_INTERNAL_ERROR == 4 && MLUOP_STATUS_ARCH_MISMATCH == 5 &&
              MLUOP_STATUS_EXECUTION_FAILED == 6 && MLUOP_STATUS_NOT_SUPPORTED == 7 &&
              MLUOP_STATUS_NUMERICAL_OVERFLOW == 8);
static_assert(MLUOP_LAYOUT_NCHW == 0 && MLUOP_LAYOUT_NHWC == 1 && MLUOP_LAYOUT_HWCN == 2 && MLUOP_LAYOUT_NDHWC == 3 &&
              MLUOP_LAYOUT_ARRAY == 4 && MLUOP_LAYOUT_NCDHW == 5 && MLUOP_LAYOUT_TNC == 6 && MLUOP_LAYOUT_NTC == 7 &&
              MLUOP_LAYOUT_NC == 8 && MLUOP_LAYOUT_NLC == 9 && MLUOP_LAYOUT_NCL == 10);
static_assert(MLUOP_DTYPE_INVALID == 0 && MLUOP_DTYPE_HALF == 1 && MLUOP_DTYPE_FLOAT == 2 && MLUOP_DTYPE_INT8 == 3 &&
              MLUOP_DTYPE_INT16 == 4 && MLUOP_DTYPE_INT31 == 5 && MLUOP_DTYPE_INT32 == 6 && MLUOP_DTYPE_UINT8 == 7 &&
              MLUOP_DTYPE_BOOL == 8 && MLUOP_DTYPE_INT64 == 9 && MLUOP_DTYPE_UINT32 == 11 && MLUOP_DTYPE_UINT64 == 12 &&
              MLUOP_DTYPE_UINT16 == 13 && MLUOP_DTYPE_DOUBLE == 14 && MLUOP_DTYPE_COMPLEX_HALF == 15 &&
              MLUOP_DTYPE_COMPLEX_FLOAT == 16 && MLUOP_DTYPE_BFLOAT16 == 17);
static_assert(MLUOP_ATOMICS_NOT_ALLOWED == 1 && MLUOP_ATOMICS_ALLOWED == 2);
static_assert(MLUOP_ROUND_HALF_TO_EVEN == 0 && MLUOP_ROUND_HALF_UP == 1 && MLUOP_ROUND_HALF_OFF_ZERO == 2);
static_assert(MLUOP_POINTER_MODE_HOST == 0 && MLUOP_POINTER_MODE_DEVICE == 1);
static_assert(MLUOP_NOT_PROPAGATE_NAN == 0 && MLUOP_PROPAGATE_NAN == 1);
static_assert(MLUOP_QUANTIZE_POSITION == 0 && MLUOP_QUANTIZE_POSITION_SCALE == 1 &&
              MLUOP_QUANTIZE_POSITION_SCALE_OFFSET == 2);
static_assert(MLUOP_32BIT_INDICES == 0 && MLUOP_16BIT_INDICES == 1);
static_assert(MLUOP_REDUCE_DSUM == 0 && MLUOP_REDUCE_DMEAN == 1 && MLUOP_REDUCE_DMAX == 2);

TEST(ErrorString, IsTheEnumeratorsName) {
  EXPECT_STREQ(mluOpGetErrorString(MLUOP_STATUS_SUCCESS), "MLUOP_STATUS_SUCCESS");
  EXPECT_STREQ(mluOpGetErrorString(MLUOP_STATUS_NUMERICAL_OVERFLOW), "MLUOP_STATUS_NUMERICAL_OVERFLOW");
  EXPECT_STREQ(mluOpGetErrorString(static_cast<mluOpStatus_t>(9)), "MLUOP_STATUS_UNKNOWN");
  EXPECT_STREQ(mluOpGetErrorString(static_cast<mluOpStatus_t>(-1)), "MLUOP_STATUS_UNKNOWN");
}

TEST(DataType, SizesAndNames) {
  const struct {
    mluOpDataType_t dtype;
    std::size_t size;
    const char* name;
  } table[] = {{MLUOP_DTYPE_BOOL, 1, "DTYPE_BOOL"},         {MLUOP_DTYPE_INT8, 1, "DTYPE_INT8"},
               {MLUOP_DTYPE_UINT8, 1, "DTYPE_UINT8"},       {MLUOP_DTYPE_HALF, 2, "DTYPE_HALF"},
               {MLUOP_DTYPE_BFLOAT16, 2, "DTYPE_BFLOAT16"}, {MLUOP_DTYPE_INT16, 2, "DTYPE_INT16"},
               {MLUOP_DTYPE_UINT16, 2, "DTYPE_UINT16"},     {MLUOP_DTYPE_FLOAT, 4, "DTYPE_FLOAT"},
               {MLUOP_DTYPE_INT31, 4, "DTYPE_INT31"},       {MLUOP_DTYPE_INT32, 4, "DTYPE_INT32"},
               {MLUOP_DTYPE_UINT32, 4, "DTYPE_UINT32"},     {MLUOP_DTYPE_COMPLEX_HALF, 4, "DTYPE_COMPLEX_HALF"},
               {MLUOP_DTYPE_DOUBLE, 8, "DTYPE_DOUBLE"},     {MLUOP_DTYPE_INT64, 8, "DTYPE_INT64"},
               {MLUOP_DTYPE_UINT64, 8, "DTYPE_UINT64"},     {MLUOP_DTYPE_COMPLEX_FLOAT, 8, "DTYPE_COMPLEX_FLOAT"}};
  for (const auto& row : table) {
    std::size_t size = 99;
    EXPECT_EQ(mluOpGetSizeOfDataType(row.dtype, &size), MLUOP_STATUS_SUCCESS);
    EXPECT_EQ(size, row.size) << row.name;
    EXPECT_STREQ(mluOpGetNameOfDataType(row.dtype), row.name);
  }
}

TEST(DataType, InvalidAndUnknown) {
  std::size_t size = 99;
  EXPECT_EQ(mluOpGetSizeOfDataType(MLUOP_DTYPE_INVALID, &size), MLUOP_STATUS_BAD_PARAM);
  EXPECT_EQ(mluOpGetSizeOfDataType(MLUOP_DTYPE_FLOAT, nullptr), MLUOP_STATUS_BAD_PARAM);
  EXPECT_EQ(size, 99u);
  EXPECT_EQ(mluOpGetSizeOfDataType(static_cast<mluOpDataType_t>(10), &size), MLUOP_STATUS_SUCCESS);
  EXPECT_EQ(size, 0u);
  EXPECT_STREQ(mluOpGetNameOfDataType(static_cast<mluOpDataType_t>(10)), "DTYPE_INVALID");
}

TEST(Layout, Names) {
  EXPECT_STREQ(mluOpGetNameOfTensorLayout(MLUOP_LAYOUT_NHWC), "LAYOUT_NHWC");
  EXPECT_STREQ(mluOpGetNameOfTensorLayout(MLUOP_LAYOUT_NCL), "LAYOUT_NCL");
  EXPECT_STREQ(mluOpGetNameOfTensorLayout(static_cast<mluOpTensorLayout_t>(77)), "LAYOUT_ARRAY");
}

}  // namespace
