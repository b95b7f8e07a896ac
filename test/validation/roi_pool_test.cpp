// What RoiPooling and RoiAlign refuse beyond what all operators do.
#include <gtest/gtest.h>

#include <cstring>
#include <string>

#include "test/validation/op_call.h"

namespace mluops::test {
namespace {

OpCall forward() {
  return OpCall(Case::parse("roi_pool_forward b=2 h=6 w=7 c=5 r=4 ph=2 pw=3 scale=1 rois=inside argmax=0"));
}

OpCall backward() {
  return OpCall(Case::parse("roi_pool_backward b=2 h=6 w=7 c=5 r=4 ph=2 pw=3 scale=1 rois=inside"));
}

/// The number of RoIs.
std::function<void(OpCall&)> rois(const std::string& bins, std::int64_t n) {
  return [=](OpCall& call) {
    for (Arg& a : call.args) {
      if (a.name == "rois" || a.name == bins || a.name == "argmax") a.dims[0] = n;
    }
  };
}

CommonRules rules(const std::string& image, const std::string& bins) {
  return {.free_dims = {image + ":0", image + ":1", image + ":2", bins + ":1", bins + ":2"},
          .huge = rois(bins, std::int64_t{1} << 30),
          .overflow = rois(bins, std::int64_t{1} << 61)};
}

std::function<void(OpCall&)> batch_index(float value) {
  return [=](OpCall& c) { std::memcpy(c.arg("rois").data.data() + 5 * sizeof value, &value, sizeof value); };
}

std::vector<Wrong> own_wrongs(const std::string& image, const std::string& bins) {
  const auto size = [](const std::string& name, std::size_t axis, std::int64_t n) {
    return [=](OpCall& c) {
      c.arg(name).dims[axis] = n;
      for (Arg& a : c.args) {
        if (a.name == "argmax" && name != "grads_image") a.dims[axis] = n;
      }
    };
  };
  return {
      {"batch index 2", batch_index(2), MLUOP_STATUS_BAD_PARAM, "rois: wanted batch index in [0, 1]"},
      {"batch index -1", batch_index(-1), MLUOP_STATUS_BAD_PARAM, "rois: wanted batch index"},
      {"spatial_scale 0", [](OpCall& c) { c.set("scale", 0); }, MLUOP_STATUS_BAD_PARAM,
       "spatial_scale: wanted > 0 and <= 1"},
      {"spatial_scale 1.5", [](OpCall& c) { c.set("scale", 1.5); }, MLUOP_STATUS_BAD_PARAM, "spatial_scale: wanted"},
      {"no bins", size(bins, 1, 0), MLUOP_STATUS_BAD_PARAM, bins + ": wanted height and width >= 1"},
      {"no pixels", size(image, 1, 0), MLUOP_STATUS_SUCCESS, ""},
      {"NCHW under STRICT", [=](OpCall& c) { c.arg(image).layout = MLUOP_LAYOUT_NCHW; }, MLUOP_STATUS_BAD_PARAM,
       image + ": wanted layout LAYOUT_NHWC"}};
}

TEST(RoiPoolValidation, Forward) {
  const OpCall base = forward();
  check_table(base, common_wrongs(base, rules("input", "output")));
  check_table(base, own_wrongs("input", "output"));
}

TEST(RoiPoolValidation, Backward) {
  const OpCall base = backward();
  check_table(base, common_wrongs(base, rules("grads_image", "grads")));
  check_table(base, own_wrongs("grads_image", "grads"));
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

TEST(RoiAlignValidation, GradientsWithoutBinsInEitherLayout) {
  OpCall base(
      Case::parse("roi_align_backward b=1 h=6 w=7 c=5 r=4 ph=2 pw=3 scale=1 ratio=2 rois=inside pool=greatest"));
  base.contract = MLUOP_EXT_CONTRACT_EXTENDED;
  for (const bool nchw : {false, true}) {
    const auto without = [nchw](std::size_t nhwc_axis) {
      return [=](OpCall& c) {
        for (Arg& a : c.args) {
          if (a.name == "boxes") continue;
          if (nchw) {
            a.layout = MLUOP_LAYOUT_NCHW;
            a.dims = {a.dims[0], a.dims[3], a.dims[1], a.dims[2]};
          }
          if (a.name != "grads_image") a.dims[nhwc_axis + (nchw ? 1 : 0)] = 0;
        }
      };
    };
    check_table(base, {{"no rows", without(1), MLUOP_STATUS_BAD_PARAM, "height of grads: wanted >= 1, got 0"},
                       {"no columns", without(2), MLUOP_STATUS_BAD_PARAM, "width of grads: wanted >= 1, got 0"}});
  }
}

}  // namespace
}  // namespace mluops::test
