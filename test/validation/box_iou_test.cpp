// What operators on pairs of boxes, and those on rotated boxes, refuse beyond what all operators do.
#include <gtest/gtest.h>

#include <limits>
#include <string>

#include "test/support/handle.h"
#include "test/support/tensor.h"
#include "test/validation/op_call.h"

namespace mluops::test {
namespace {

std::function<void(OpCall&)> set(const std::string& name, double value) {
  return [=](OpCall& c) { c.set(name, value); };
}

std::function<void(OpCall&)> dims(const std::string& name, const Dims& of) {
  return [=](OpCall& c) { c.arg(name).dims = of; };
}

OpCall call(const std::string& text) {
  return OpCall(Case::parse(text));
}

const Wrong kMode = {"a third mode", set("mode", 2), MLUOP_STATUS_BAD_PARAM, "mode: wanted >= 0 and <= 1, got 2"};

TEST(BoxIouValidation, Pairs) {
  for (const std::string op : {"bbox_overlaps", "box_iou_rotated"}) {
    check_table(
        call(op + " n=3 m=5"),
        {kMode,
         {"other boxes", dims("bbox2", {4, 6}), MLUOP_STATUS_BAD_PARAM, "bbox2: wanted dimension 1 to be "},
         {"pairs that are not", dims("ious", {3}), MLUOP_STATUS_BAD_PARAM, "ious: wanted 2 dimensions"},
         {"too few columns", dims("ious", {3, 4}), MLUOP_STATUS_BAD_PARAM, "ious: wanted dimension 1 to be 5"}});
    check_table(call(op + " n=4 aligned=1"),
                {{"a column", dims("ious", {4, 1}), MLUOP_STATUS_BAD_PARAM, "ious: wanted 1 dimension"},
                 {"too few", dims("ious", {3}), MLUOP_STATUS_BAD_PARAM, "ious: wanted dimension 0 to be 4"}});
  }
  check_table(call("bbox_overlaps n=3 m=5"),
              {{"an offset of 2", set("offset", 2), MLUOP_STATUS_BAD_PARAM, "offset: wanted >= 0 and <= 1, got 2"}});
}

TEST(BoxIouValidation, NoPairsAreAListOrAColumn) {
  for (const Dims& none : {Dims{0}, Dims{0, 1}}) {
    OpCall c = call("bbox_overlaps n=1 aligned=1");
    for (const char* const boxes : {"bbox1", "bbox2"}) c.arg(boxes).dims = {0, 4};
    c.arg("ious").dims = none;
    EXPECT_EQ(c.make(), MLUOP_STATUS_SUCCESS) << mluOpExtGetLastErrorText();
  }
}

TEST(BoxIouValidation, NmsRotated) {
  check_table(
      call("nms_rotated n=9"),
      {{"boxes of 7 numbers", dims("boxes", {9, 7}), MLUOP_STATUS_BAD_PARAM, "boxes: wanted dimension 1 to be 5"},
       {"other scores", dims("scores", {8}), MLUOP_STATUS_BAD_PARAM, "scores: wanted dimension 0 to be 9"},
       {"a short output", dims("output", {8}), MLUOP_STATUS_BAD_PARAM, "output: wanted dimension 0 to be 9"},
       {"no threshold", set("iou", std::numeric_limits<double>::quiet_NaN()), MLUOP_STATUS_BAD_PARAM,
        "iou_threshold: wanted a number, got nan"}});
  const Handle handle("cpu");
  const Descriptor boxes(MLUOP_LAYOUT_ARRAY, MLUOP_DTYPE_FLOAT, {9, 5});
  std::size_t size = 7;
  EXPECT_EQ(mluOpGetNmsRotatedWorkspaceSize(handle.get(), boxes.get(), nullptr), MLUOP_STATUS_BAD_PARAM);
  EXPECT_EQ(mluOpGetNmsRotatedWorkspaceSize(handle.get(), nullptr, &size), MLUOP_STATUS_BAD_PARAM);
  EXPECT_EQ(mluOpGetNmsRotatedWorkspaceSize(nullptr, boxes.get(), &size), MLUOP_STATUS_BAD_PARAM);
  EXPECT_EQ(size, 7u);
  EXPECT_EQ(mluOpGetNmsRotatedWorkspaceSize(handle.get(), boxes.get(), &size), MLUOP_STATUS_SUCCESS);
  EXPECT_EQ(size, 0u);
}

TEST(RoiAlignRotatedValidation, BothDirections) {
  const std::string sizes = " b=2 h=6 w=7 c=5 r=4 ph=2 pw=3 scale=1 rois=inside";
  for (const auto& [op, bins] : {std::pair<std::string, std::string>{"roi_align_rotated_forward", "output"},
                                 {"roi_align_rotated_backward", "top_grad"}}) {
    check_table(
        call(op + sizes),
        {{"samples below none", set("ratio", -1), MLUOP_STATUS_BAD_PARAM, "sample_ratio: wanted >= 0, got -1"},
         {"too many samples", set("ratio", 257), MLUOP_STATUS_NOT_SUPPORTED, "sample_ratio: wanted at most 256"},
         {"a negative scale", set("scale", -1), MLUOP_STATUS_BAD_PARAM, "spatial_scale: wanted >= 0"},
         {"upright RoIs", dims("rois", {4, 5}), MLUOP_STATUS_BAD_PARAM, "rois: wanted dimension 1 to be 6"},
         {"other bins", dims(bins, {4, 3, 3, 5}), MLUOP_STATUS_BAD_PARAM, "(pooled_height)"},
         {"other channels", dims(bins, {4, 2, 3, 6}), MLUOP_STATUS_BAD_PARAM, "(the channels of the image)"}});
  }
}

}  // namespace
}  // namespace mluops::test
