// What the functions of sparse convolution refuse beyond what all operators do.
#include <gtest/gtest.h>

#include <string>

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

}  // namespace
}  // namespace mluops::test
