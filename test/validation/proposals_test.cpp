// What GenerateProposalsV2, YoloBox and PriorBox refuse beyond what all operators do.
#include <gtest/gtest.h>

#include <limits>
#include <string>

#include "test/support/handle.h"
#include "test/support/tensor.h"
#include "test/validation/op_call.h"

namespace mluops::test {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

std::function<void(OpCall&)> given(const std::string& name, double value) {
  return [=](OpCall& c) { c.set(name, value); };
}

std::function<void(OpCall&)> sized(const std::string& name, const Dims& of) {
  return [=](OpCall& c) { c.arg(name).dims = of; };
}

OpCall call_of(const std::string& text) {
  return OpCall(Case::parse(text));
}

TEST(ProposalsValidation, GenerateProposals) {
  const std::string wanted = ": wanted dimension ";
  check_table(
      call_of("generate_proposals_v2 n=2 h=3 w=5 a=6 pre=40 post=7"),
      {{"none kept", given("post", 0), MLUOP_STATUS_BAD_PARAM, "post_nms_top_n: wanted >= 1, got 0"},
       {"a threshold of 0", given("iou", 0), MLUOP_STATUS_BAD_PARAM, "nms_thresh: wanted > 0"},
       {"no threshold", given("iou", kNan), MLUOP_STATUS_BAD_PARAM, "nms_thresh: wanted > 0, got nan"},
       {"a map without pixels", sized("scores", {2, 0, 5, 6}), MLUOP_STATUS_BAD_PARAM, "scores: wanted a non-empty"},
       {"another image", sized("im_shape", {1, 2}), MLUOP_STATUS_BAD_PARAM, "im_shape" + wanted + "0 to be 2"},
       {"three sizes", sized("im_shape", {2, 3}), MLUOP_STATUS_BAD_PARAM, "(height, width)"},
       {"other deltas", sized("bbox_deltas", {2, 3, 5, 6}), MLUOP_STATUS_BAD_PARAM, "(4 of each anchor)"},
       {"other anchors", sized("anchors", {3, 5, 5, 4}), MLUOP_STATUS_BAD_PARAM, "anchors" + wanted + "2 to be 6"},
       {"other variances", sized("variances", {3, 6, 5, 4}), MLUOP_STATUS_BAD_PARAM,
        "variances" + wanted + "1 to be 5"},
       {"fewer RoIs", sized("rpn_rois", {13, 4}), MLUOP_STATUS_BAD_PARAM, "rpn_rois" + wanted + "0 to be 14"},
       {"fewer scores", sized("rpn_roi_probs", {13, 1}), MLUOP_STATUS_BAD_PARAM, "rpn_roi_probs" + wanted + "0"},
       {"more counts", sized("rpn_rois_num", {3}), MLUOP_STATUS_BAD_PARAM, "rpn_rois_num" + wanted + "0 to be 2"},
       {"counts of 64 bits", [](OpCall& c) { c.arg("rpn_rois_num").dtype = MLUOP_DTYPE_INT64; }, MLUOP_STATUS_BAD_PARAM,
        "rpn_rois_num: wanted dtype DTYPE_INT32"}});
  OpCall none = call_of("generate_proposals_v2 n=1 h=3 w=5 a=6 pre=40 post=7");
  for (const char* const name : {"scores", "bbox_deltas", "im_shape", "rpn_rois", "rpn_roi_probs", "rpn_rois_num"}) {
    none.arg(name).dims[0] = 0;
  }
  EXPECT_EQ(none.make(), MLUOP_STATUS_SUCCESS) << mluOpExtGetLastErrorText();
  EXPECT_TRUE(none.outputs_touched());  // how many there are: 0
}

TEST(ProposalsValidation, AdaptiveSuppressionAndWorkspace) {
  const Handle handle("cpu");
  const Descriptor one(MLUOP_LAYOUT_ARRAY, MLUOP_DTYPE_FLOAT, {1, 1, 1, 1}),
      four(MLUOP_LAYOUT_ARRAY, MLUOP_DTYPE_FLOAT, {1, 1, 1, 4}), pair(MLUOP_LAYOUT_ARRAY, MLUOP_DTYPE_FLOAT, {1, 2}),
      roi(MLUOP_LAYOUT_ARRAY, MLUOP_DTYPE_FLOAT, {1, 4}), prob(MLUOP_LAYOUT_ARRAY, MLUOP_DTYPE_FLOAT, {1, 1}),
      num(MLUOP_LAYOUT_ARRAY, MLUOP_DTYPE_INT32, {1}), flat(MLUOP_LAYOUT_ARRAY, MLUOP_DTYPE_FLOAT, {4});
  const float numbers[] = {9, 9, 9, 9}, zeros[] = {0, 0, 0, 0}, anchor[] = {1, 2, 5, 8};
  float rois[4], probs[1];
  std::int32_t count = 7, all = 7;
  const auto with_eta = [&](float eta) {
    return mluOpGenerateProposalsV2(handle.get(), 0, 1, 0.5f, 0, eta, false, one.get(), numbers, four.get(), zeros,
                                    pair.get(), numbers, four.get(), anchor, four.get(), numbers, nullptr, 0, roi.get(),
                                    rois, prob.get(), probs, num.get(), &count, &all);
  };
  EXPECT_EQ(with_eta(0.9f), MLUOP_STATUS_BAD_PARAM);
  EXPECT_NE(std::string(mluOpExtGetLastErrorText()).find("eta: wanted >= 1"), std::string::npos);
  EXPECT_EQ(count, 7);
  EXPECT_EQ(with_eta(1), MLUOP_STATUS_SUCCESS) << mluOpExtGetLastErrorText();
  EXPECT_EQ(count, 1);
  EXPECT_EQ(all, 1);
  EXPECT_EQ(rois[3], 8);
  std::size_t size = 7;
  const auto bytes = [&](mluOpHandle_t h, mluOpTensorDescriptor_t desc, std::size_t* to) {
    const mluOpStatus_t status = mluOpGetGenerateProposalsV2WorkspaceSize(h, desc, to);
    EXPECT_EQ(status, mluOpGetGenerateProposalsV2WorkspaceSize_v2(h, desc, 6000, to));
    return status;
  };
  EXPECT_EQ(bytes(nullptr, one.get(), &size), MLUOP_STATUS_BAD_PARAM);
  EXPECT_EQ(bytes(handle.get(), nullptr, &size), MLUOP_STATUS_BAD_PARAM);
  EXPECT_EQ(bytes(handle.get(), one.get(), nullptr), MLUOP_STATUS_BAD_PARAM);
  EXPECT_EQ(bytes(handle.get(), flat.get(), &size), MLUOP_STATUS_BAD_PARAM);
  EXPECT_EQ(size, 7u);
  EXPECT_EQ(bytes(handle.get(), one.get(), &size), MLUOP_STATUS_SUCCESS);
  EXPECT_EQ(size, 0u);
}

TEST(ProposalsValidation, YoloBox) {
  const auto aware = [](OpCall& c) {
    c.arg("x").dims = {2, 33, 4, 6};
    c.set("iou_aware", 1);
  };
  check_table(
      call_of("yolo_box n=2 s=3 c=5 h=4 w=6"),
      {{"no classes", given("c", 0), MLUOP_STATUS_BAD_PARAM, "class_num: wanted >= 1, got 0"},
       {"no pixels", given("down", 0), MLUOP_STATUS_BAD_PARAM, "downsample_ratio: wanted >= 1, got 0"},
       {"other channels", sized("x", {2, 31, 4, 6}), MLUOP_STATUS_BAD_PARAM, "(anchors times 5 + class_num)"},
       {"without the IoUs", given("iou_aware", 1), MLUOP_STATUS_BAD_PARAM, "(anchors times 6 + class_num)"},
       {"a power above 1",
        [=](OpCall& c) {
          aware(c);
          c.set("factor", 1.5);
        },
        MLUOP_STATUS_BAD_PARAM, "iou_aware_factor: wanted >= 0 and <= 1, got 1.5"},
       {"no power",
        [=](OpCall& c) {
          aware(c);
          c.set("factor", kNan);
        },
        MLUOP_STATUS_BAD_PARAM, "iou_aware_factor: wanted >= 0 and <= 1, got nan"},
       {"half an anchor", sized("anchors", {7}), MLUOP_STATUS_BAD_PARAM, "(pairs of width and height)"},
       {"no anchors", sized("anchors", {0}), MLUOP_STATUS_BAD_PARAM, "anchors: wanted a non-empty tensor"},
       {"another image", sized("img_size", {1, 2}), MLUOP_STATUS_BAD_PARAM, "(the batch of x)"},
       {"three sizes", sized("img_size", {2, 3}), MLUOP_STATUS_BAD_PARAM, "(height, width)"},
       {"other pixels", sized("boxes", {2, 3, 4, 23}), MLUOP_STATUS_BAD_PARAM, "(height times width of x)"},
       {"boxes last", sized("boxes", {2, 3, 24, 4}), MLUOP_STATUS_BAD_PARAM, "boxes: wanted dimension 2 to be 4"},
       {"other classes", sized("scores", {2, 3, 4, 24}), MLUOP_STATUS_BAD_PARAM, "(class_num)"},
       {"sizes of real numbers", [](OpCall& c) { c.arg("img_size").dtype = MLUOP_DTYPE_FLOAT; }, MLUOP_STATUS_BAD_PARAM,
        "img_size: wanted dtype DTYPE_INT32"}});
  OpCall none = call_of("yolo_box n=2 s=3 c=5 h=4 w=6");
  none.arg("x").dims[2] = none.arg("boxes").dims[3] = none.arg("scores").dims[3] = 0;
  EXPECT_EQ(none.make(), MLUOP_STATUS_SUCCESS) << mluOpExtGetLastErrorText();
  EXPECT_FALSE(none.outputs_touched());
}

TEST(ProposalsValidation, PriorBox) {
  const auto boxes = [](const Dims& of) { return [=](OpCall& c) { c.arg("output").dims = c.arg("var").dims = of; }; };
  check_table(
      call_of("prior_box h=3 w=2 sizes=5 ratios=6 squares=1"),
      {{"a negative map", given("h", -1), MLUOP_STATUS_BAD_PARAM, "height: wanted >= 0, got -1"},
       {"no image", given("imw", 0), MLUOP_STATUS_BAD_PARAM, "im_width: wanted >= 1, got 0"},
       {"no step", given("steph", 0), MLUOP_STATUS_BAD_PARAM, "step_h: wanted > 0"},
       {"a step that is no number", given("stepw", kNan), MLUOP_STATUS_BAD_PARAM, "step_w: wanted > 0, got nan"},
       {"no sizes", sized("min_sizes", {0}), MLUOP_STATUS_BAD_PARAM, "min_sizes: wanted a non-empty tensor"},
       {"no ratios", sized("aspect_ratios", {0}), MLUOP_STATUS_BAD_PARAM, "aspect_ratios: wanted a non-empty tensor"},
       {"five variances", sized("variances", {5}), MLUOP_STATUS_BAD_PARAM, "variances: wanted dimension 0 to be 4"},
       {"fewer max_sizes", sized("max_sizes", {4}), MLUOP_STATUS_BAD_PARAM, "max_sizes: wanted dimension 0 to be 5"},
       {"none, but room for them", sized("max_sizes", {0}), MLUOP_STATUS_BAD_PARAM,
        "output: wanted dimension 2 to be 30"},
       {"fewer boxes", boxes({3, 2, 34, 4}), MLUOP_STATUS_BAD_PARAM, "output: wanted dimension 2 to be 35"},
       {"other variances", sized("var", {3, 2, 34, 4}), MLUOP_STATUS_BAD_PARAM, "var: wanted the shape of output"}});
  OpCall none = call_of("prior_box h=3 w=2 sizes=5 ratios=6 squares=1");
  none.set("h", 0);
  none.arg("output").dims[0] = none.arg("var").dims[0] = 0;
  EXPECT_EQ(none.make(), MLUOP_STATUS_SUCCESS) << mluOpExtGetLastErrorText();
  EXPECT_FALSE(none.outputs_touched());
}

}  // namespace
}  // namespace mluops::test
