// What the operators on voxels, boxes in space and their non-maximum suppression refuse beyond what all operators do,
// and their workspaces.
#include <gtest/gtest.h>

#include <string>

#include "test/support/handle.h"
#include "test/support/tensor.h"
#include "test/validation/op_call.h"

namespace mluops::test {
namespace {

bool last_error_has(const std::string& part) {
  return std::string(mluOpExtGetLastErrorText()).find(part) != std::string::npos;
}

TEST(ThreeDValidation, RoiPointPool3dSaysHowManyPointsThereAre) {
  check_table(OpCall(Case::parse("roipoint_pool3d b=2 n=9 m=3 c=5 s=4")),
              {{"more points", [](OpCall& c) { ++c.arg("points").dims[1], ++c.arg("point_features").dims[1]; },
                MLUOP_STATUS_BAD_PARAM, "pts_num"}});
}

TEST(ThreeDValidation, AWorkspaceBeyondInt64IsRefused) {
  const std::int64_t many = std::int64_t{1} << 40;
  const Descriptor rois(MLUOP_LAYOUT_ARRAY, MLUOP_DTYPE_FLOAT, {many, 7}),
      points(MLUOP_LAYOUT_ARRAY, MLUOP_DTYPE_FLOAT, {many, 3}),
      features(MLUOP_LAYOUT_ARRAY, MLUOP_DTYPE_FLOAT, {many, 1});
  Handle handle("cpu");
  handle.contract(MLUOP_EXT_CONTRACT_EXTENDED);
  std::size_t size = 7;
  EXPECT_EQ(mluOpGetRoiAwarePool3dForwardWorkspaceSize(handle.get(), rois.get(), points.get(), features.get(), &size),
            MLUOP_STATUS_NOT_SUPPORTED);
  EXPECT_TRUE(last_error_has("workspace_size: wanted fewer than 2^63 bytes")) << mluOpExtGetLastErrorText();
  EXPECT_EQ(size, 7u);
}

TEST(ThreeDValidation, DynamicPointToVoxelBackwardIsThatOfTheMaximum) {
  for (const mluOpReduceMode_t reduce : {MLUOP_REDUCE_DSUM, MLUOP_REDUCE_DMEAN}) {
    OpCall call(Case::parse("dynamic_point_to_voxel_backward n=7 c=5 side=2"));
    call.call = [reduce](mluOpHandle_t handle, const Arguments& t) {
      return mluOpDynamicPointToVoxelBackward(handle, reduce, t[0].desc, t[0].data, t[1].desc, t[1].data, t[2].desc,
                                              t[2].data, t[3].desc, t[3].data, t[4].desc, t[4].data, t[5].desc,
                                              t[5].data, nullptr, 0, t[6].desc, t[6].data);
    };
    EXPECT_EQ(call.make(), MLUOP_STATUS_BAD_PARAM);
    EXPECT_TRUE(last_error_has("reduce_type: wanted MLUOP_REDUCE_DMAX, got")) << mluOpExtGetLastErrorText();
    EXPECT_FALSE(call.outputs_touched());
  }
}

TEST(ThreeDValidation, NmsTakesScoresInHalfWithBoxesInFloatOnly) {
  OpCall call(Case::parse("nms n=7 boxes=uniform"), MLUOP_DTYPE_FLOAT);
  call.arg("confidence").dtype = MLUOP_DTYPE_HALF;
  EXPECT_EQ(call.make(), MLUOP_STATUS_SUCCESS) << mluOpExtGetLastErrorText();
  OpCall wide(Case::parse("nms n=7 boxes=uniform"), MLUOP_DTYPE_DOUBLE);
  wide.contract = MLUOP_EXT_CONTRACT_EXTENDED;
  wide.arg("confidence").dtype = MLUOP_DTYPE_HALF;
  EXPECT_EQ(wide.make(), MLUOP_STATUS_BAD_PARAM);
  EXPECT_TRUE(last_error_has("confidence: wanted the dtype of boxes")) << mluOpExtGetLastErrorText();
}

/// A call with 9 boxes of 7 numbers in a descriptor whose other values must not count.
OpCall boxes_in_space() {
  OpCall call(Case::parse("nms n=9 box=3d boxes=uniform iou=0.3"));
  call.call = [](mluOpHandle_t handle, const Arguments& t) {
    mluOpNmsDescriptor_t desc = nullptr;
    mluOpCreateNmsDescriptor(&desc);
    mluOpSetNmsDescriptor(desc, MLUOP_NMS_BOX_CENTER, MLUOP_NMS_OUTPUT_TARGET_BATCH_AND_CLASS,
                          MLUOP_NMS_ALGO_EXCLUDE_BOUNDARY, MLUOP_NMS_SOFT_NMS_GAUSSIAN, 0.3f, 1, 1, 2, 1, 0, true);
    const mluOpStatus_t status =
        mluOpNms(handle, desc, t[0].desc, t[0].data, nullptr, nullptr, nullptr, 0, t[1].desc, t[1].data, t[2].data);
    mluOpDestroyNmsDescriptor(desc);
    return status;
  };
  return call;
}

TEST(ThreeDValidation, NmsOfBoxesOf7NumbersLooksAtThresholdAndLayoutAlone) {
  OpCall plain(Case::parse("nms n=9 box=3d boxes=uniform iou=0.3")), other = boxes_in_space();
  ASSERT_EQ(plain.make(), MLUOP_STATUS_SUCCESS) << mluOpExtGetLastErrorText();
  ASSERT_EQ(other.make(), MLUOP_STATUS_SUCCESS) << mluOpExtGetLastErrorText();
  EXPECT_EQ(plain.arg("output").memory, other.arg("output").memory);
  EXPECT_EQ(plain.arg("output_size").memory, other.arg("output_size").memory);
}

TEST(ThreeDValidation, NmsOfBoxesOf7NumbersRefuses) {
  const auto dims = [](const std::string& name, const Dims& of) { return [=](OpCall& c) { c.arg(name).dims = of; }; };
  check_table(boxes_in_space(),
              {{"room for 8", dims("output", {8}), MLUOP_STATUS_BAD_PARAM, "output: wanted dimension 0 to be >= 9"},
               {"rows of 5", dims("output", {9, 5}), MLUOP_STATUS_BAD_PARAM, "output: wanted 1 dimension"},
               {"indices that are numbers", [](OpCall& c) { c.arg("output").dtype = MLUOP_DTYPE_FLOAT; },
                MLUOP_STATUS_BAD_PARAM, "output: wanted dtype DTYPE_INT32, DTYPE_UINT32, got"},
               {"integers", [](OpCall& c) { c.arg("boxes").dtype = MLUOP_DTYPE_INT32; }, MLUOP_STATUS_BAD_PARAM,
                "boxes: wanted"},
               {"6 numbers", dims("boxes", {9, 6}), MLUOP_STATUS_NOT_SUPPORTED, "method_mode HARD_NMS"}});
  OpCall layout = boxes_in_space();
  layout.arg("boxes").dims = {0, 7};
  EXPECT_EQ(layout.make(), MLUOP_STATUS_SUCCESS) << "no boxes: " << mluOpExtGetLastErrorText();
}

TEST(ThreeDValidation, NmsOfBoxesOf7NumbersHasNoScores) {
  const OpCall scored(Case::parse("nms n=9 boxes=uniform iou=0.3"));
  const auto boxes = [](OpCall& c) { c.arg("boxes").dims = {9, 7}; };
  const std::string text = "confidence: wanted NULL with boxes of 7 numbers";
  check_table(scored, {{"scores", boxes, MLUOP_STATUS_BAD_PARAM, text},
                       {"scores' descriptor",
                        [=](OpCall& c) {
                          boxes(c);
                          c.arg("confidence").no_data = true;
                        },
                        MLUOP_STATUS_BAD_PARAM, text},
                       {"scores' data",
                        [=](OpCall& c) {
                          boxes(c);
                          c.arg("confidence").no_desc = true;
                        },
                        MLUOP_STATUS_BAD_PARAM, text}});
}

TEST(ThreeDValidation, WorkspaceOfRoiAwarePool3dIsAsDocumented) {
  const Handle handle("cpu");
  const Descriptor rois(MLUOP_LAYOUT_ARRAY, MLUOP_DTYPE_HALF, {4, 7}),
      points(MLUOP_LAYOUT_ARRAY, MLUOP_DTYPE_HALF, {9, 3}), features(MLUOP_LAYOUT_ARRAY, MLUOP_DTYPE_HALF, {9, 5});
  std::size_t size = 1;
  const auto query = [&](mluOpHandle_t h, std::size_t* to) {
    return mluOpGetRoiAwarePool3dForwardWorkspaceSize(h, rois.get(), points.get(), features.get(), to);
  };
  EXPECT_EQ(query(handle.get(), &size), MLUOP_STATUS_SUCCESS);
  EXPECT_EQ(size, 4u * 9 * 4 + 9u * (3 + 5) * 2);
  EXPECT_EQ(query(nullptr, &size), MLUOP_STATUS_BAD_PARAM);
  EXPECT_EQ(query(handle.get(), nullptr), MLUOP_STATUS_BAD_PARAM);
}

TEST(ThreeDValidation, WorkspaceOfVoxelizationIsAsDocumented) {
  OpCall call(Case::parse("voxelization n=9 f=5 points=2 voxels=6"));
  std::size_t size = 1;
  call.call = [&size](mluOpHandle_t handle, const Arguments& t) {
    return mluOpGetVoxelizationWorkspaceSize(handle, t[0].desc, t[1].desc, t[2].desc, 2, 6, 3, true, t[3].desc,
                                             t[4].desc, t[5].desc, t[6].desc, &size);
  };
  EXPECT_EQ(call.make(), MLUOP_STATUS_SUCCESS) << mluOpExtGetLastErrorText();
  EXPECT_EQ(size, 9u * 6 * 4);
}

TEST(ThreeDValidation, AWorkspaceOfVoxelizationWithASizeIsThere) {
  OpCall call(Case::parse("voxelization n=9 f=5 points=2 voxels=6"));
  call.call = [](mluOpHandle_t handle, const Arguments& t) {
    return mluOpVoxelization(handle, t[0].desc, t[0].data, t[1].desc, t[1].data, t[2].desc, t[2].data, 2, 6, 3, true,
                             nullptr, 216, t[3].desc, t[3].data, t[4].desc, t[4].data, t[5].desc, t[5].data, t[6].desc,
                             t[6].data);
  };
  EXPECT_EQ(call.make(), MLUOP_STATUS_BAD_PARAM);
  EXPECT_TRUE(last_error_has("workspace: wanted a pointer, got NULL")) << mluOpExtGetLastErrorText();
  EXPECT_FALSE(call.outputs_touched());
}

}  // namespace
}  // namespace mluops::test
