// What operators on pairs of boxes, and those on rotated boxes, refuse beyond what all operators do.
#include <gtest/gtest.h>

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
  check_table(call("nms_rotated n=9"), {{"boxes of 7 numbers", dims("boxes", {9, 7}), MLUOP_STATUS_BAD_PARAM,
                                         "boxes: wanted dimension 1 to be 5"}});
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
  for (const std::string op : {"roi_align_rotated_forward", "roi_align_rotated_backward"}) {
    check_table(call(op + sizes), {{"too many samples", set("ratio", 257), MLUOP_STATUS_NOT_SUPPORTED,
                                    "sample_ratio: wanted at most 256"}});
  }
}

}  // namespace
}  // namespace mluops::test
