// What PsRoiPool, VoxelPooling, MaskedIm2col, RoiCrop and PolyNms refuse beyond what all operators do.
#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "test/support/handle.h"
#include "test/support/tensor.h"
#include "test/validation/op_call.h"

namespace mluops::test {
namespace {

std::function<void(OpCall&)> set(const std::string& name, double value) {
  return [=](OpCall& c) { c.set(name, value); };
}

OpCall call(const std::string& text) {
  return OpCall(Case::parse(text));
}

TEST(VisionValidation, PsRoiPool) {
  const std::string sizes = " b=2 h=6 w=7 d=5 r=4 ph=3 pw=3 scale=1 rois=inside";
  for (const std::string direction : {"forward", "backward"}) {
    const bool forward = direction == "forward";
    const std::string image = forward ? "input" : "bottom_grad", bins = forward ? "output" : "top_grad";
    const auto extended = [](OpCall& c) { c.contract = MLUOP_EXT_CONTRACT_EXTENDED; };
    const auto no_rois = [=](OpCall& c) {
      for (const std::string& name : {bins, std::string("mapping_channel"), std::string("rois")})
        c.arg(name).dims[0] = 0;
    };
    const OpCall base = call("ps_roi_pool_" + direction + sizes);
    check_table(base, {{"bins that are no square", set("pw", 2), MLUOP_STATUS_BAD_PARAM,
                        "pooled_width: wanted pooled_height (3), got 2"},
                       {"a mapping without its descriptor", [](OpCall& c) { c.arg("mapping_channel").no_desc = true; },
                        MLUOP_STATUS_BAD_PARAM, "mapping_channel: wanted descriptor and data both given or both NULL"},
                       {"no RoIs", no_rois, MLUOP_STATUS_BAD_PARAM, "rois: wanted a non-empty tensor"},
                       {"half under STRICT",
                        [=](OpCall& c) {
                          for (const std::string& name : {image, bins, std::string("rois")})
                            c.arg(name).dtype = MLUOP_DTYPE_HALF;
                        },
                        MLUOP_STATUS_BAD_PARAM, "dtype"}});
    OpCall none = base;
    extended(none);
    no_rois(none);
    EXPECT_EQ(none.make(), MLUOP_STATUS_SUCCESS) << mluOpExtGetLastErrorText();
    EXPECT_EQ(none.outputs_touched(), !forward);  // a gradient of nothing is 0
  }
  const Handle handle("cpu");
  EXPECT_EQ(mluOpPsRoiPoolForward(handle.get(), 3, 3, 1, 2, 5, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr,
                                  nullptr, nullptr),
            MLUOP_STATUS_BAD_PARAM);
}

TEST(VisionValidation, PsRoiPoolGroupsAreBins) {
  const Handle handle("cpu");
  const Descriptor map(MLUOP_LAYOUT_NHWC, MLUOP_DTYPE_FLOAT, {1, 2, 2, 4}),
      rois(MLUOP_LAYOUT_ARRAY, MLUOP_DTYPE_FLOAT, {1, 5}), out(MLUOP_LAYOUT_NHWC, MLUOP_DTYPE_FLOAT, {1, 2, 2, 1});
  const float numbers[16] = {};
  float output[4] = {7, 7, 7, 7};
  const auto with_groups = [&](int groups) {
    return mluOpPsRoiPoolForward(handle.get(), 2, 2, 1, groups, 1, map.get(), numbers, rois.get(), numbers, out.get(),
                                 output, nullptr, nullptr);
  };
  EXPECT_EQ(with_groups(3), MLUOP_STATUS_BAD_PARAM);
  EXPECT_NE(std::string(mluOpExtGetLastErrorText()).find("group_size: wanted >= 2 and <= 2, got 3"), std::string::npos)
      << mluOpExtGetLastErrorText();
  EXPECT_EQ(output[0], 7);
  EXPECT_EQ(with_groups(2), MLUOP_STATUS_SUCCESS);
}

TEST(VisionValidation, MaskedIm2colOfAHugeWindow) {
  check_table(
      call("masked_im2col_forward c=5 h=6 w=7 m=9 kh=3 kw=2"),
      {{"a huge window", set("kh", 1000003), MLUOP_STATUS_BAD_PARAM, "data_col: wanted dimension 0 to be 5 channels"}});
}

TEST(VisionValidation, NothingChosen) {
  OpCall im2col = call("masked_im2col_forward c=5 h=6 w=7 m=9 kh=3 kw=2");
  im2col.arg("data_col").dims = {30, 0};
  OpCall col2im = call("masked_col2im_forward c=5 h=6 w=7 m=9");
  col2im.arg("col").dims = {5, 0};
  for (OpCall* const c : {&im2col, &col2im}) {
    for (const char* const name : {"mask_h_idx", "mask_w_idx"}) c->arg(name).dims = {0};
    EXPECT_EQ(c->make(), MLUOP_STATUS_SUCCESS) << mluOpExtGetLastErrorText();
  }
  EXPECT_FALSE(im2col.outputs_touched());
  EXPECT_TRUE(col2im.outputs_touched());  // with zeros
}

TEST(VisionValidation, MaskedWorkspacesAreEmpty) {
  const Handle handle("cpu");
  const Descriptor d(MLUOP_LAYOUT_ARRAY, MLUOP_DTYPE_FLOAT, {9, 5});
  const auto sizes = [&](mluOpHandle_t h, mluOpTensorDescriptor_t desc, std::size_t* size) {
    const mluOpStatus_t im2col =
        mluOpGetMaskedIm2colForwardWorkspaceSize(h, desc, d.get(), d.get(), 3, 3, d.get(), size);
    EXPECT_EQ(im2col, mluOpGetMaskedCol2imForwardWorkspaceSize(h, desc, d.get(), d.get(), d.get(), size));
    return im2col;
  };
  std::size_t size = 7;
  EXPECT_EQ(sizes(nullptr, d.get(), &size), MLUOP_STATUS_BAD_PARAM);
  EXPECT_EQ(sizes(handle.get(), nullptr, &size), MLUOP_STATUS_BAD_PARAM);
  EXPECT_EQ(sizes(handle.get(), d.get(), nullptr), MLUOP_STATUS_BAD_PARAM);
  EXPECT_EQ(size, 7u);
  EXPECT_EQ(sizes(handle.get(), d.get(), &size), MLUOP_STATUS_SUCCESS);
  EXPECT_EQ(size, 0u);
}

TEST(VisionValidation, PolyNms) {
  const Handle handle("cpu");
  const Descriptor boxes(MLUOP_LAYOUT_ARRAY, MLUOP_DTYPE_FLOAT, {9, 9}),
      five(MLUOP_LAYOUT_ARRAY, MLUOP_DTYPE_FLOAT, {9, 5}), none(MLUOP_LAYOUT_ARRAY, MLUOP_DTYPE_FLOAT, {0, 9}),
      no_output(MLUOP_LAYOUT_ARRAY, MLUOP_DTYPE_INT32, {0});
  std::size_t size = 7;
  EXPECT_EQ(mluOpGetPolyNmsWorkspaceSize(nullptr, boxes.get(), &size), MLUOP_STATUS_BAD_PARAM);
  EXPECT_EQ(mluOpGetPolyNmsWorkspaceSize(handle.get(), nullptr, &size), MLUOP_STATUS_BAD_PARAM);
  EXPECT_EQ(mluOpGetPolyNmsWorkspaceSize(handle.get(), boxes.get(), nullptr), MLUOP_STATUS_BAD_PARAM);
  EXPECT_EQ(mluOpGetPolyNmsWorkspaceSize(handle.get(), five.get(), &size), MLUOP_STATUS_BAD_PARAM);
  EXPECT_EQ(size, 7u);
  EXPECT_EQ(mluOpGetPolyNmsWorkspaceSize(handle.get(), boxes.get(), &size), MLUOP_STATUS_SUCCESS);
  EXPECT_EQ(size, 0u);
  std::int32_t count = 7;
  EXPECT_EQ(mluOpPolyNms(handle.get(), none.get(), nullptr, 0.1f, nullptr, 0, no_output.get(), nullptr, &count),
            MLUOP_STATUS_SUCCESS);
  EXPECT_EQ(count, 0);
}

TEST(VisionValidation, RoiCrop) {
  const std::string sizes = " b=2 h=6 w=7 c=5 grids=3 oh=2 ow=4 grid=inside";
  for (const auto& [op, samples] :
       {std::pair<std::string, std::string>{"roi_crop_forward", "output"}, {"roi_crop_backward", "grad_output"}}) {
    const auto grids = [samples = samples](OpCall& c) { c.arg("grid").dims[0] = c.arg(samples).dims[0] = 5; };
    check_table(call(op + sizes), {{"grids that are no multiple", grids, MLUOP_STATUS_BAD_PARAM,
                                    "grid: wanted dimension 0 to be a multiple of 2"}});
  }
}

}  // namespace
}  // namespace mluops::test
