// What RoiPooling and RoiAlign refuse beyond what their descriptions tell.
#include <gtest/gtest.h>

#include <string>

#include "test/validation/op_call.h"

namespace mluops::test {
namespace {

OpCall forward() {
  return OpCall(Case::parse("roi_pool_forward b=2 h=6 w=7 c=5 r=4 ph=2 pw=3 scale=1 rois=inside argmax=0"));
}

TEST(RoiPoolValidation, OnlyTheGreatest) {
  OpCall call = forward();
  for (const mluOpPoolingMode_t mode : {MLUOP_POOLING_AVERAGE_COUNT_INCLUDE_PADDING, MLUOP_POOLING_FIXED}) {
    call.call = [mode](mluOpHandle_t handle, const Arguments& t) {
      return mluOpRoiPoolingForward(handle, mode, t[0].desc, t[0].data, t[1].desc, t[1].data, 1, t[2].desc, t[2].data,
                                    nullptr);
    };
    EXPECT_EQ(call.make(), MLUOP_STATUS_BAD_PARAM);
    EXPECT_NE(std::string(mluOpExtGetLastErrorText()).find("pooling_mode: wanted POOLING_MAX"), std::string::npos);
    EXPECT_FALSE(call.outputs_touched());
  }
}

TEST(RoiPoolValidation, ArgmaxHasMemoryOfItsOwn) {
  OpCall call = forward();
  call.call = [](mluOpHandle_t handle, const Arguments& t) {
    return mluOpRoiPoolingForward(handle, MLUOP_POOLING_MAX, t[0].desc, t[0].data, t[1].desc, t[1].data, 1, t[2].desc,
                                  t[2].data, static_cast<int*>(t[2].data) + 1);
  };
  EXPECT_EQ(call.make(), MLUOP_STATUS_BAD_PARAM);
  EXPECT_NE(std::string(mluOpExtGetLastErrorText()).find("memory shared with"), std::string::npos);
  EXPECT_FALSE(call.outputs_touched());
}

TEST(RoiAlignValidation, GradientsWithoutBinsInNchw) {
  OpCall base(
      Case::parse("roi_align_backward b=1 h=6 w=7 c=5 r=4 ph=2 pw=3 scale=1 ratio=2 rois=inside pool=greatest"));
  base.contract = MLUOP_EXT_CONTRACT_EXTENDED;
  const auto without = [](std::size_t axis) {
    return [=](OpCall& c) {
      for (Arg& a : c.args) {
        if (a.name == "boxes") continue;
        a.layout = MLUOP_LAYOUT_NCHW;
        a.dims = {a.dims[0], a.dims[3], a.dims[1], a.dims[2]};
        if (a.name != "grads_image") a.dims[axis] = 0;
      }
    };
  };
  check_table(base, {{"no rows", without(2), MLUOP_STATUS_BAD_PARAM, "height of grads: wanted >= 1, got 0"},
                     {"no columns", without(3), MLUOP_STATUS_BAD_PARAM, "width of grads: wanted >= 1, got 0"}});
}

}  // namespace
}  // namespace mluops::test
