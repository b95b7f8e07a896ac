// What C functions answer that cases of the tests do not call so: by other modes, descriptors and names.
#include <gtest/gtest.h>

#include <string>

#include "test/support/handle.h"
#include "test/support/tensor.h"
#include "test/validation/op_call.h"

namespace mluops::test {
namespace {

OpCall call(const std::string& text) {
  return OpCall(Case::parse(text));
}

// ---- modes

TEST(FunctionValidation, DynamicPointToVoxelBackwardIsThatOfTheMaximum) {
  for (const mluOpReduceMode_t reduce : {MLUOP_REDUCE_DSUM, MLUOP_REDUCE_DMEAN}) {
    const auto reduced = [reduce](mluOpHandle_t handle, const Arguments& t) {
      return mluOpDynamicPointToVoxelBackward(handle, reduce, t[0].desc, t[0].data, t[1].desc, t[1].data, t[2].desc,
                                              t[2].data, t[3].desc, t[3].data, t[4].desc, t[4].data, t[5].desc,
                                              t[5].data, nullptr, 0, t[6].desc, t[6].data);
    };
    expect_bad_param(call("dynamic_point_to_voxel_backward n=7 c=5 side=2"), reduced,
                     "reduce_type: wanted MLUOP_REDUCE_DMAX, got");
  }
}

TEST(FunctionValidation, RoiPoolingTakesTheGreatest) {
  for (const mluOpPoolingMode_t mode : {MLUOP_POOLING_AVERAGE_COUNT_INCLUDE_PADDING, MLUOP_POOLING_FIXED}) {
    const auto pooled = [mode](mluOpHandle_t handle, const Arguments& t) {
      return mluOpRoiPoolingForward(handle, mode, t[0].desc, t[0].data, t[1].desc, t[1].data, 1, t[2].desc, t[2].data,
                                    nullptr);
    };
    expect_bad_param(call("roi_pool_forward b=2 h=6 w=7 c=5 r=4 ph=2 pw=3 scale=1 rois=inside argmax=0"), pooled,
                     "pooling_mode: wanted POOLING_MAX");
  }
}

TEST(FunctionValidation, ArgmaxOfRoiPoolingHasMemoryOfItsOwn) {
  const auto shared = [](mluOpHandle_t handle, const Arguments& t) {
    return mluOpRoiPoolingForward(handle, MLUOP_POOLING_MAX, t[0].desc, t[0].data, t[1].desc, t[1].data, 1, t[2].desc,
                                  t[2].data, static_cast<int*>(t[2].data) + 1);
  };
  expect_bad_param(call("roi_pool_forward b=2 h=6 w=7 c=5 r=4 ph=2 pw=3 scale=1 rois=inside argmax=0"), shared,
                   "memory shared with");
}

/// A focal loss with other modes.
mluOpStatus_t with_modes(bool forward, mluOpComputationPreference_t prefer, mluOpLossReduction_t reduction) {
  OpCall loss(Case::parse(std::string("focal_loss_sigmoid_") + (forward ? "forward" : "backward") + " n=5 c=7"));
  loss.call = [=](mluOpHandle_t handle, const Arguments& t) {
    const auto function = forward ? mluOpFocalLossSigmoidForward : mluOpFocalLossSigmoidBackward;
    return function(handle, prefer, reduction, t[0].desc, t[0].data, t[1].desc, t[1].data, nullptr, nullptr, 0.25F, 2,
                    t[2].desc, t[2].data);
  };
  const mluOpStatus_t status = loss.make();
  EXPECT_EQ(loss.outputs_touched(), status == MLUOP_STATUS_SUCCESS);
  return status;
}

TEST(FunctionValidation, ModesOfFocalLosses) {
  const auto none = MLUOP_LOSS_REDUCTION_NONE;
  EXPECT_EQ(with_modes(true, MLUOP_COMPUTATION_FAST, none), MLUOP_STATUS_SUCCESS);
  EXPECT_EQ(with_modes(true, MLUOP_COMPUTATION_HIGH_PRECISION, none), MLUOP_STATUS_SUCCESS);
  EXPECT_EQ(with_modes(true, MLUOP_COMPUTATION_ULTRAHIGH_PRECISION, none), MLUOP_STATUS_NOT_SUPPORTED);
  EXPECT_EQ(with_modes(false, MLUOP_COMPUTATION_HIGH_PRECISION, none), MLUOP_STATUS_SUCCESS);
  EXPECT_EQ(with_modes(false, MLUOP_COMPUTATION_FAST, none), MLUOP_STATUS_NOT_SUPPORTED);
  for (const bool forward : {true, false}) {
    EXPECT_EQ(with_modes(forward, MLUOP_COMPUTATION_HIGH_PRECISION, MLUOP_LOSS_REDUCTION_SUM),
              MLUOP_STATUS_NOT_SUPPORTED);
    EXPECT_EQ(with_modes(forward, MLUOP_COMPUTATION_HIGH_PRECISION, MLUOP_LOSS_REDUCTION_MEAN),
              MLUOP_STATUS_NOT_SUPPORTED);
  }
}

TEST(FunctionValidation, GroupsOfPsRoiPoolAreBins) {
  const auto grouped = [](int groups) {
    return [groups](mluOpHandle_t handle, const Arguments& t) {
      return mluOpPsRoiPoolForward(handle, 2, 2, 1, groups, 1, t[0].desc, t[0].data, t[1].desc, t[1].data, t[2].desc,
                                   t[2].data, t[3].desc, t[3].data);
    };
  };
  OpCall base = call("ps_roi_pool_forward b=1 h=2 w=2 d=1 r=1 ph=2 pw=2 scale=1 rois=inside");
  expect_bad_param(base, grouped(3), "group_size: wanted >= 2 and <= 2, got 3");
  base.call = grouped(2);
  EXPECT_EQ(base.make(), MLUOP_STATUS_SUCCESS) << mluOpExtGetLastErrorText();
}

TEST(FunctionValidation, GenerateProposalsDoesNotSuppressAdaptively) {
  const auto adaptive = [](mluOpHandle_t handle, const Arguments& t) {
    std::int32_t all = 7;
    const mluOpStatus_t status =
        mluOpGenerateProposalsV2(handle, 40, 7, 0.5f, 0, 0.9f, false, t[0].desc, t[0].data, t[1].desc, t[1].data,
                                 t[2].desc, t[2].data, t[3].desc, t[3].data, t[4].desc, t[4].data, nullptr, 0,
                                 t[5].desc, t[5].data, t[6].desc, t[6].data, t[7].desc, t[7].data, &all);
    EXPECT_EQ(all, 7);
    return status;
  };
  expect_bad_param(call("generate_proposals_v2 n=1 h=3 w=5 a=6 pre=40 post=7"), adaptive, "eta: wanted >= 1");
}

TEST(FunctionValidation, NoBoxesHaveNoPolygonsToKeep) {
  const Handle handle("cpu");
  const Descriptor none(MLUOP_LAYOUT_ARRAY, MLUOP_DTYPE_FLOAT, {0, 9}),
      output(MLUOP_LAYOUT_ARRAY, MLUOP_DTYPE_INT32, {0});
  std::int32_t count = 7;
  EXPECT_EQ(mluOpPolyNms(handle.get(), none.get(), nullptr, 0.1f, nullptr, 0, output.get(), nullptr, &count),
            MLUOP_STATUS_SUCCESS);
  EXPECT_EQ(count, 0);
}

// ---- descriptors

/// A call with 9 boxes of 7 numbers in a descriptor whose other values must not count.
OpCall boxes_in_space() {
  OpCall boxes = call("nms n=9 box=3d boxes=uniform iou=0.3");
  boxes.call = [](mluOpHandle_t handle, const Arguments& t) {
    mluOpNmsDescriptor_t desc = nullptr;
    mluOpCreateNmsDescriptor(&desc);
    mluOpSetNmsDescriptor(desc, MLUOP_NMS_BOX_CENTER, MLUOP_NMS_OUTPUT_TARGET_BATCH_AND_CLASS,
                          MLUOP_NMS_ALGO_EXCLUDE_BOUNDARY, MLUOP_NMS_SOFT_NMS_GAUSSIAN, 0.3f, 1, 1, 2, 1, 0, true);
    const mluOpStatus_t status =
        mluOpNms(handle, desc, t[0].desc, t[0].data, nullptr, nullptr, nullptr, 0, t[1].desc, t[1].data, t[2].data);
    mluOpDestroyNmsDescriptor(desc);
    return status;
  };
  return boxes;
}

TEST(FunctionValidation, NmsOfBoxesOf7NumbersLooksAtThresholdAndLayoutAlone) {
  OpCall plain = call("nms n=9 box=3d boxes=uniform iou=0.3"), other = boxes_in_space();
  ASSERT_EQ(plain.make(), MLUOP_STATUS_SUCCESS) << mluOpExtGetLastErrorText();
  ASSERT_EQ(other.make(), MLUOP_STATUS_SUCCESS) << mluOpExtGetLastErrorText();
  EXPECT_EQ(plain.arg("output").memory, other.arg("output").memory);
  EXPECT_EQ(plain.arg("output_size").memory, other.arg("output_size").memory);
}

TEST(FunctionValidation, NmsOfOtherBoxesLooksAtItsMethod) {
  expect_answer(boxes_in_space(), {"6 numbers",
                                   [](OpCall& c) {
                                     c.arg("boxes").dims = {9, 6};
                                   },
                                   MLUOP_STATUS_NOT_SUPPORTED, "method_mode HARD_NMS"});
}

// One descriptor object for two arguments is legal as long as it fits both.
TEST(FunctionValidation, ASharedDescriptorOfTheWrongRankIsRefused) {
  mluOpHandle_t handle = nullptr;
  ASSERT_EQ(mluOpCreate(&handle), MLUOP_STATUS_SUCCESS);
  mluOpTensorDescriptor_t three = nullptr;
  ASSERT_EQ(mluOpCreateTensorDescriptor(&three), MLUOP_STATUS_SUCCESS);
  const int dims[] = {2, 7, 4};
  ASSERT_EQ(mluOpSetTensorDescriptor(three, MLUOP_LAYOUT_NHWC, MLUOP_DTYPE_FLOAT, 3, dims), MLUOP_STATUS_SUCCESS);
  float memory[4] = {};
  EXPECT_EQ(mluOpBorderAlignForward(handle, three, memory, three, memory, 1, three, memory, three, memory),
            MLUOP_STATUS_BAD_PARAM);
  EXPECT_STREQ(mluOpExtGetLastErrorText(), "mluOpBorderAlignForward: input: wanted 4 dimensions, got 3 [2, 7, 4]");
  EXPECT_EQ(mluOpDestroyTensorDescriptor(three), MLUOP_STATUS_SUCCESS);
  EXPECT_EQ(mluOpDestroy(handle), MLUOP_STATUS_SUCCESS);
}

// ---- the vendor's names

/// The call by the vendor's name.
OpCall vendor_call(bool forward, float scale) {
  OpCall c(Case::parse(std::string("rotated_feature_align_") + (forward ? "forward" : "backward") +
                       " b=2 h=3 w=4 c=6 scale=1 points=5 boxes=any"));
  c.call = [=](mluOpHandle_t handle, const Arguments& t) {
    const auto function = forward ? mluOpRotatedFeatureAlignForward : mluOpRotatedFeatureAlignBackward;
    return function(handle, t[0].desc, t[0].data, t[1].desc, t[1].data, scale, 5, t[2].desc, t[2].data);
  };
  return c;
}

TEST(FunctionValidation, VendorsRotatedFeatureAlign) {
  for (const bool forward : {true, false}) {
    OpCall ours(Case::parse(std::string("rotated_feature_align_") + (forward ? "forward" : "backward") +
                            " b=2 h=3 w=4 c=6 scale=1 points=5 boxes=any"));
    OpCall vendors = vendor_call(forward, 1);
    ASSERT_EQ(ours.make(), MLUOP_STATUS_SUCCESS) << mluOpExtGetLastErrorText();
    ASSERT_EQ(vendors.make(), MLUOP_STATUS_SUCCESS) << mluOpExtGetLastErrorText();
    EXPECT_TRUE(vendors.outputs_touched());
    EXPECT_EQ(vendors.args[2].memory, ours.args[2].memory);
    EXPECT_EQ(vendor_call(forward, 0).make(), MLUOP_STATUS_BAD_PARAM);
    OpCall empty = vendor_call(forward, 1);
    for (Arg& each : empty.args) each.dims[0] = 0;
    EXPECT_EQ(empty.make(), MLUOP_STATUS_BAD_PARAM);
  }
}

}  // namespace
}  // namespace mluops::test
