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

TEST(ProposalsValidation, GenerateProposalsOfNoImages) {
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
  check_table(call_of("yolo_box n=2 s=3 c=5 h=4 w=6"),
              {{"other channels", sized("x", {2, 31, 4, 6}), MLUOP_STATUS_BAD_PARAM, "(anchors times 5 + class_num)"},
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
                MLUOP_STATUS_BAD_PARAM, "iou_aware_factor: wanted >= 0 and <= 1, got nan"}});
  OpCall none = call_of("yolo_box n=2 s=3 c=5 h=4 w=6");
  none.arg("x").dims[2] = none.arg("boxes").dims[3] = none.arg("scores").dims[3] = 0;
  EXPECT_EQ(none.make(), MLUOP_STATUS_SUCCESS) << mluOpExtGetLastErrorText();
  EXPECT_FALSE(none.outputs_touched());
}

TEST(ProposalsValidation, PriorBox) {
  const auto boxes = [](const Dims& of) { return [=](OpCall& c) { c.arg("output").dims = c.arg("var").dims = of; }; };
  check_table(
      call_of("prior_box h=3 w=2 sizes=5 ratios=6 squares=1"),
      {{"fewer max_sizes", sized("max_sizes", {4}), MLUOP_STATUS_BAD_PARAM, "max_sizes: wanted dimension 0 to be 5"},
       {"none, but room for them", sized("max_sizes", {0}), MLUOP_STATUS_BAD_PARAM,
        "output: wanted dimension 2 to be 30"},
       {"fewer boxes", boxes({3, 2, 34, 4}), MLUOP_STATUS_BAD_PARAM, "output: wanted dimension 2 to be 35"}});
  OpCall none = call_of("prior_box h=3 w=2 sizes=5 ratios=6 squares=1");
  none.set("h", 0);
  none.arg("output").dims[0] = none.arg("var").dims[0] = 0;
  EXPECT_EQ(none.make(), MLUOP_STATUS_SUCCESS) << mluOpExtGetLastErrorText();
  EXPECT_FALSE(none.outputs_touched());
}

}  // namespace
}  // namespace mluops::test
