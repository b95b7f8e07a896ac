// The words of the operator rules, each at its edge.
#include "common/op/check.h"

#include <gtest/gtest.h>

#include <limits>
#include <new>
#include <stdexcept>
#include <utility>
#include <vector>

#include "api/c/boundary.h"
#include "common/dtype.h"

namespace mluops::op {
namespace {

mluOpTensorStruct floats(std::int64_t elements) {
  mluOpTensorStruct desc;
  desc.dims = {elements};
  desc.strides = {1};
  desc.elements = elements;
  return desc;
}

TEST(IsCountable, StrictEndsBelow2To31Elements) {
  const auto code = [](std::int64_t elements) {
    mluOpTensorStruct desc = floats(elements);
    return is_countable({"t", &desc, nullptr}, MLUOP_EXT_CONTRACT_STRICT).code();
  };
  constexpr std::int64_t kLimit = std::int64_t{1} << 31;
  EXPECT_EQ(code(0), MLUOP_STATUS_SUCCESS);
  EXPECT_EQ(code(kLimit - 1), MLUOP_STATUS_SUCCESS);
  EXPECT_EQ(code(kLimit), MLUOP_STATUS_NOT_SUPPORTED);
  EXPECT_EQ(code(-1), MLUOP_STATUS_NOT_SUPPORTED) << "a product that left int64";
}

TEST(IsCountable, ExtendedEndsWhereBytesLeaveInt64) {
  const auto code = [](std::int64_t elements) {
    mluOpTensorStruct desc = floats(elements);
    return is_countable({"t", &desc, nullptr}, MLUOP_EXT_CONTRACT_EXTENDED).code();
  };
  constexpr std::int64_t kLimit = std::numeric_limits<std::int64_t>::max() / 16;
  EXPECT_EQ(code(std::int64_t{1} << 31), MLUOP_STATUS_SUCCESS);
  EXPECT_EQ(code(kLimit - 1), MLUOP_STATUS_SUCCESS);
  EXPECT_EQ(code(kLimit), MLUOP_STATUS_NOT_SUPPORTED);
  EXPECT_EQ(code(std::numeric_limits<std::int64_t>::max()), MLUOP_STATUS_NOT_SUPPORTED);
  EXPECT_EQ(code(-1), MLUOP_STATUS_NOT_SUPPORTED);
}

TEST(TellWorkspace, SumsProductsThatStayInInt64) {
  constexpr std::int64_t kBig = std::int64_t{1} << 40;
  std::size_t size = 5;
  EXPECT_EQ(tell_workspace({{kBig, 1 << 20, 4}, {3, 5}}, &size).code(), MLUOP_STATUS_SUCCESS);
  EXPECT_EQ(size, (std::size_t{1} << 62) + 15);
  EXPECT_EQ(tell_workspace({{kBig, kBig, 0}}, &size).code(), MLUOP_STATUS_SUCCESS);
  EXPECT_EQ(size, 0u);
  EXPECT_EQ(tell_workspace({{kBig, kBig, 4}}, &size).code(), MLUOP_STATUS_NOT_SUPPORTED);
  EXPECT_EQ(tell_workspace({{kBig, 1 << 20, 4}, {kBig, 1 << 20, 4}}, &size).code(), MLUOP_STATUS_NOT_SUPPORTED);
  EXPECT_EQ(size, 0u) << "refused: left alone";
}

TEST(ShareNothing, NeighboursTouchAndOneSharedByteIsTooMuch) {
  alignas(4) char memory[64] = {};
  mluOpTensorStruct four = floats(4);  // 16 bytes
  const auto code = [&](int first, int second) {
    return share_nothing({{"in", &four, memory + first}}, {{"out", &four, memory + second}}).code();
  };
  EXPECT_EQ(code(0, 16), MLUOP_STATUS_SUCCESS);
  EXPECT_EQ(code(16, 0), MLUOP_STATUS_SUCCESS);
  EXPECT_EQ(code(0, 15), MLUOP_STATUS_BAD_PARAM);
  EXPECT_EQ(code(15, 0), MLUOP_STATUS_BAD_PARAM);
  EXPECT_EQ(code(8, 8), MLUOP_STATUS_BAD_PARAM);
}

TEST(ShareNothing, OutputsMustNotShareEither) {
  alignas(4) char memory[64] = {};
  mluOpTensorStruct four = floats(4), none = floats(0);
  const auto code = [&](const TensorArg& a, const TensorArg& b) { return share_nothing({}, {a, b}).code(); };
  EXPECT_EQ(code({"a", &four, memory}, {"b", &four, memory + 16}), MLUOP_STATUS_SUCCESS);
  EXPECT_EQ(code({"a", &four, memory}, {"b", &four, memory + 12}), MLUOP_STATUS_BAD_PARAM);
  EXPECT_EQ(code({"a", &four, memory}, {"b", &none, memory + 4}), MLUOP_STATUS_SUCCESS) << "no bytes, none shared";
  EXPECT_EQ(code({"a", &four, memory}, {"b", nullptr, nullptr}), MLUOP_STATUS_SUCCESS) << "an absent output";
}

TEST(HasFloatDtype, TakesWhatTheContractNames) {
  for (int dtype = MLUOP_DTYPE_INVALID; dtype <= MLUOP_DTYPE_BFLOAT16; ++dtype) {
    mluOpTensorStruct desc = floats(1);
    desc.dtype = static_cast<mluOpDataType_t>(dtype);
    const TensorArg t = {"t", &desc, nullptr};
    const bool strict = dtype == MLUOP_DTYPE_HALF || dtype == MLUOP_DTYPE_FLOAT;
    const bool extended = strict || dtype == MLUOP_DTYPE_DOUBLE || dtype == MLUOP_DTYPE_BFLOAT16;
    EXPECT_EQ(!has_float_dtype(t, MLUOP_EXT_CONTRACT_STRICT).failed(), strict) << dtype;
    EXPECT_EQ(!has_float_dtype(t, MLUOP_EXT_CONTRACT_EXTENDED).failed(), extended) << dtype;
    EXPECT_EQ(!is_float(t, MLUOP_EXT_CONTRACT_STRICT).failed(), dtype == MLUOP_DTYPE_FLOAT) << dtype;
    EXPECT_EQ(!is_float(t, MLUOP_EXT_CONTRACT_EXTENDED).failed(), extended) << dtype;
  }
}

TEST(IsIndexable, EndsWhereInt32Does) {
  const auto code = [](std::int64_t size) {
    mluOpTensorStruct desc = floats(size);
    return is_indexable({"t", &desc, nullptr}, 0).code();
  };
  EXPECT_EQ(code(std::numeric_limits<std::int32_t>::max()), MLUOP_STATUS_SUCCESS);
  EXPECT_EQ(code(std::int64_t{1} << 31), MLUOP_STATUS_NOT_SUPPORTED);
}

TEST(OneInt32, IsWhatItIsCalled) {
  const mluOpTensorStruct& one = *one_int32();
  EXPECT_EQ(one.dtype, MLUOP_DTYPE_INT32);
  EXPECT_EQ(one.elements, 1);
  EXPECT_EQ(dims_text(one), "[1]");
  EXPECT_TRUE(is_contiguous(one));
}

TEST(DtypeSize, NoTypeHasNoBytes) {
  EXPECT_EQ(dtype_size(MLUOP_DTYPE_INVALID), 0u);
  EXPECT_EQ(dtype_size(MLUOP_DTYPE_BFLOAT16), 2u);
}

TEST(AxisOf, EachAxisOfBothLayouts) {
  mluOpTensorStruct image = floats(2 * 3 * 4 * 5);
  image.dims = {2, 3, 4, 5};
  const auto sizes = [&](mluOpTensorLayout_t layout) {
    image.layout = layout;
    const TensorArg t = {"t", &image, nullptr};
    return std::vector<std::int64_t>{size_of(t, Axis::kN), size_of(t, Axis::kH), size_of(t, Axis::kW),
                                     size_of(t, Axis::kC)};
  };
  EXPECT_EQ(sizes(MLUOP_LAYOUT_NHWC), (std::vector<std::int64_t>{2, 3, 4, 5}));
  EXPECT_EQ(sizes(MLUOP_LAYOUT_NCHW), (std::vector<std::int64_t>{2, 4, 5, 3}));
}

TEST(IsContiguous, StridesOfAxesOfOneElementAreFree) {
  const auto contiguous = [](std::vector<std::int64_t> dims, std::vector<std::int64_t> strides) {
    mluOpTensorStruct desc;
    desc.elements = 1;
    for (const std::int64_t d : dims) desc.elements *= d;
    desc.dims = std::move(dims);
    desc.strides = std::move(strides);
    return is_contiguous(desc);
  };
  EXPECT_TRUE(contiguous({2, 3}, {3, 1}));
  EXPECT_FALSE(contiguous({2, 3}, {4, 1}));
  EXPECT_FALSE(contiguous({2, 3}, {3, 2}));
  EXPECT_TRUE(contiguous({1, 3}, {7, 1}));
  EXPECT_TRUE(contiguous({2, 1}, {1, 7}));
  EXPECT_TRUE(contiguous({1, 1}, {7, 9}));
  EXPECT_TRUE(contiguous({0, 3}, {7, 9})) << "no element";
}

TEST(InRange, IncludesBothEnds) {
  EXPECT_FALSE(in_range("n", 3, 3, 5).failed());
  EXPECT_FALSE(in_range("n", 5, 3, 5).failed());
  EXPECT_EQ(in_range("n", 2, 3, 5).text(), "n: wanted >= 3 and <= 5, got 2");
  EXPECT_EQ(in_range("n", 6, 3, 5).text(), "n: wanted >= 3 and <= 5, got 6");
}

TEST(Guard, EachExceptionHasItsStatus) {
  const auto throws = [](auto what) { return guard("f", [&]() -> Status { throw what; }); };
  EXPECT_EQ(throws(std::bad_alloc()), MLUOP_STATUS_ALLOC_FAILED);
  EXPECT_STREQ(last_error_text(), "f: out of memory");
  EXPECT_EQ(throws(std::runtime_error("so")), MLUOP_STATUS_INTERNAL_ERROR);
  EXPECT_STREQ(last_error_text(), "f: so");
  EXPECT_EQ(throws(7), MLUOP_STATUS_INTERNAL_ERROR);
  EXPECT_EQ(guard("f", [] { return Status::go_on(); }), MLUOP_STATUS_SUCCESS);
  EXPECT_STREQ(last_error_text(), "f: unknown exception") << "a call that succeeds leaves the text";
}

}  // namespace
}  // namespace mluops::op
