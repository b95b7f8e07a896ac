// What the functions of sparse convolution refuse beyond what all operators do, and their workspaces.
#include <gtest/gtest.h>

#include <string>

#include "test/support/handle.h"
#include "test/support/tensor.h"
#include "test/validation/op_call.h"

namespace mluops::test {
namespace {

constexpr std::int64_t kNoPairs[81] = {};

OpCall backward_data(const std::string& text, std::int64_t sub_m = 0) {
  OpCall call(Case::parse("indice_convolution_backward_data l=9 m=7 ci=5 co=3 " + text));
  call.call = [sub_m](mluOpHandle_t handle, const Arguments& t) {
    return mluOpIndiceConvolutionBackwardData(handle, t[0].desc, t[0].data, t[1].desc, t[1].data, t[2].desc, t[2].data,
                                              kNoPairs, 0, sub_m, nullptr, 0, t[3].desc, t[3].data);
  };
  return call;
}

TEST(SparseValidation, FiltersHaveALayoutOfTheirRank) {
  const auto becomes = [](mluOpTensorLayout_t layout, const std::string& text) {
    return Wrong{"layout " + std::to_string(layout), [=](OpCall& c) { c.arg("filters").layout = layout; },
                 MLUOP_STATUS_BAD_PARAM, "filters: wanted layout " + text + ", got"};
  };
  const std::string deep = "LAYOUT_ARRAY, _NDHWC or _NCDHW", flat = "LAYOUT_ARRAY, _NHWC, _NCHW or _HWCN";
  check_table(backward_data("filters=channels_last"), {becomes(MLUOP_LAYOUT_NHWC, deep)});
  check_table(backward_data("filters=channels_last axes=2"), {becomes(MLUOP_LAYOUT_NDHWC, flat)});
  check_table(backward_data(""), {becomes(MLUOP_LAYOUT_NTC, deep), becomes(MLUOP_LAYOUT_HWCN, deep)});
  check_table(backward_data("axes=2"), {becomes(MLUOP_LAYOUT_NTC, flat)});
}

/// The statuses are those of MLU-OPS.
TEST(SparseValidation, ForwardDoesNotSupportTheLayout) {
  check_table(OpCall(Case::parse("indice_convolution_forward l=9 m=7 ci=5 co=3")),
              {{"layout", [](OpCall& c) { c.arg("filters").layout = MLUOP_LAYOUT_NTC; }, MLUOP_STATUS_NOT_SUPPORTED,
                "filters: wanted layout "}});
}

TEST(SparseValidation, AxesOfTheFilters) {
  EXPECT_EQ(backward_data("axes=2").make(), MLUOP_STATUS_SUCCESS) << mluOpExtGetLastErrorText();
  OpCall four = backward_data("axes=4 k=2");
  EXPECT_EQ(four.make(), MLUOP_STATUS_BAD_PARAM);
  EXPECT_STREQ(mluOpExtGetLastErrorText(),
               "mluOpIndiceConvolutionBackwardData: filters: wanted 4 to 5 dimensions, got [2, 2, 2, 2, 5, 3]");
  four.contract = MLUOP_EXT_CONTRACT_EXTENDED;
  EXPECT_EQ(four.make(), MLUOP_STATUS_SUCCESS) << mluOpExtGetLastErrorText();
}

TEST(SparseValidation, OnlySubmanifoldsNeedAnOddFilter) {
  EXPECT_EQ(backward_data("k=2").make(), MLUOP_STATUS_SUCCESS) << mluOpExtGetLastErrorText();
  OpCall even = backward_data("m=9 k=2", 1), odd = backward_data("m=9 k=3", 1);
  EXPECT_EQ(even.make(), MLUOP_STATUS_BAD_PARAM);
  EXPECT_STREQ(mluOpExtGetLastErrorText(),
               "mluOpIndiceConvolutionBackwardData: filters: wanted an odd volume (sub_m), got 8");
  EXPECT_EQ(odd.make(), MLUOP_STATUS_SUCCESS) << mluOpExtGetLastErrorText();
}

TEST(SparseValidation, TransposedPairsAreExtended) {
  OpCall call(Case::parse("get_indice_pairs n=9 b=2 z=3 y=4 x=5 k=3 kind=transpose"));
  EXPECT_EQ(call.make(), MLUOP_STATUS_BAD_PARAM);
  EXPECT_STREQ(mluOpExtGetLastErrorText(), "mluOpGetIndicePairs: sparse_conv_desc: transpose: wanted 0, got 1");
  EXPECT_FALSE(call.outputs_touched());
}

/// mluOpGetIndicePairs of one input and a filter of one place, with that many bytes of workspace at NULL.
mluOpStatus_t pairs_without_workspace(mluOpHandle_t handle, const Arguments& t, std::size_t bytes) {
  mluOpSparseConvolutionDescriptor_t desc = nullptr;
  EXPECT_EQ(mluOpCreateSparseConvolutionDescriptor(&desc), MLUOP_STATUS_SUCCESS);
  const int zeros[3] = {}, ones[3] = {1, 1, 1};
  EXPECT_EQ(mluOpSetSparseConvolutionDescriptor(desc, 5, 1, zeros, ones, ones, ones, ones, ones, 0, 0, 0),
            MLUOP_STATUS_SUCCESS);
  const mluOpStatus_t status = mluOpGetIndicePairs(handle, desc, t[0].desc, t[0].data, nullptr, bytes, t[1].desc,
                                                   t[1].data, t[2].desc, t[2].data, t[3].desc, t[3].data);
  EXPECT_EQ(mluOpDestroySparseConvolutionDescriptor(desc), MLUOP_STATUS_SUCCESS);
  return status;
}

TEST(SparseValidation, AWorkspaceWithASizeIsThere) {
  OpCall call(Case::parse("get_indice_pairs n=1 b=1 z=1 y=1 x=1 k=1 pad=0"));
  for (const std::size_t bytes : {std::size_t{0}, std::size_t{20}}) {
    call.call = [bytes](mluOpHandle_t handle, const Arguments& t) { return pairs_without_workspace(handle, t, bytes); };
    EXPECT_EQ(call.make(), bytes == 0 ? MLUOP_STATUS_SUCCESS : MLUOP_STATUS_BAD_PARAM);
  }
  EXPECT_STREQ(mluOpExtGetLastErrorText(), "mluOpGetIndicePairs: workspace: wanted a pointer, got NULL");
}

TEST(SparseValidation, WorkspacesOfConvolutionsAreAsDocumented) {
  const Handle handle("cpu");
  const Descriptor features(MLUOP_LAYOUT_ARRAY, MLUOP_DTYPE_HALF, {9, 5}),
      filters(MLUOP_LAYOUT_ARRAY, MLUOP_DTYPE_HALF, {1, 1, 2, 5, 3}),
      pairs(MLUOP_LAYOUT_ARRAY, MLUOP_DTYPE_INT32, {2, 2, 9}), out(MLUOP_LAYOUT_ARRAY, MLUOP_DTYPE_HALF, {7, 3});
  const std::int64_t num[] = {4, 6};
  const auto forward = [&](std::size_t* size) {
    return mluOpGetIndiceConvolutionForwardWorkspaceSize(handle.get(), features.get(), filters.get(), pairs.get(),
                                                         out.get(), num, 7, 0, 0, size);
  };
  const auto data = [&](std::size_t* size) {
    return mluOpGetIndiceConvolutionBackwardDataWorkspaceSize(handle.get(), out.get(), filters.get(), pairs.get(),
                                                              features.get(), num, 0, size);
  };
  const auto filter = [&](std::size_t* size) {
    return mluOpGetIndiceConvolutionBackwardFilterWorkspaceSize(handle.get(), features.get(), out.get(), pairs.get(),
                                                                filters.get(), num, 0, 0, size);
  };
  std::size_t size = 0;
  EXPECT_EQ(forward(&size), MLUOP_STATUS_SUCCESS) << mluOpExtGetLastErrorText();
  EXPECT_EQ(size, (6u * (5 + 3) + 7u * 3) * 2);
  EXPECT_EQ(data(&size), MLUOP_STATUS_SUCCESS) << mluOpExtGetLastErrorText();
  EXPECT_EQ(size, (6u * (5 + 3) + 2u * 5 * 3 + 9u * 5) * 2);
  EXPECT_EQ(filter(&size), MLUOP_STATUS_SUCCESS) << mluOpExtGetLastErrorText();
  EXPECT_EQ(size, (6u * (5 + 3) + 2u * 5 * 3) * 2);
  EXPECT_EQ(forward(nullptr), MLUOP_STATUS_BAD_PARAM);
  EXPECT_EQ(data(nullptr), MLUOP_STATUS_BAD_PARAM);
  EXPECT_EQ(filter(nullptr), MLUOP_STATUS_BAD_PARAM);
}

}  // namespace
}  // namespace mluops::test
