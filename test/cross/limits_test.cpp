// What the emulated device refuses, and what it still takes one step before: the limits that follow from NRAM.
#include <gtest/gtest.h>

#include "test/support/run.h"

namespace mluops::test {
namespace {

struct Limit {
  const char* name;
  const char* text;
  mluOpDataType_t dtype;
  int too_small, enough;  // usable NRAM bytes
};

std::ostream& operator<<(std::ostream& out, const Limit& l) {
  return out << l.name;
}

const Limit kLimits[] = {
    // K*K*4 bytes have to fit a fifth of NRAM: 137 is the documented limit of the reference device.
    {"CarafeBackwardKernel", "carafe_backward n=1 h=1 w=1 c=4 k=137 g=1 s=1", MLUOP_DTYPE_FLOAT, 327680, 393216},
    // A block of one pixel: K*K*64 + round_up(s*s*K*K*4, 64) + s*s*128 + 128 bytes.
    {"CarafeForwardBlock", "carafe_forward n=1 h=1 w=1 c=4 k=45 g=1 s=5", MLUOP_DTYPE_FLOAT, 327680, 393216},
    // 16 pixels of a row of x and y, and once more y to be transposed.
    {"PsamaskCollect", "psamask_forward n=1 h=20 w=24 hm=23 wm=23 type=0", MLUOP_DTYPE_FLOAT, 65408, 65536},
    {"PsamaskDistribute", "psamask_forward n=1 h=20 w=24 hm=23 wm=23 type=1", MLUOP_DTYPE_FLOAT, 65536, 98304},
    // Every block one alignment unit.
    {"ThreeInterpolateBackward", "three_interpolate_backward b=1 c=3 m=5 n=7", MLUOP_DTYPE_FLOAT, 18304, 18432},
    // Thirteen rows of 128 bytes, and one to add up in.
    {"DeformRoiPoolBackward", "deform_roi_pool_backward b=1 h=4 w=4 c=40 r=1 ph=2 pw=2 scale=1 ratio=2 offset=1",
     MLUOP_DTYPE_FLOAT, 1536, 1792},
    // Ten rows of 128 channels, and a box.
    {"BorderAlignForward", "border_align_forward n=1 h=3 w=3 c=130 k=2 p=2", MLUOP_DTYPE_FLOAT, 5120, 5248},
    // A third for 64 known points: seven rows of floats; four lines beside.
    {"ThreeNN", "three_nn_forward b=1 n=5 m=70", MLUOP_DTYPE_FLOAT, 5760, 5888},
    // 64 points: centres, two counters, eight rows of floats; a line with a count.
    {"BallQuery", "ball_query b=1 m=5 n=70 s=3 max=1", MLUOP_DTYPE_FLOAT, 3328, 3456},
    // The boxes, and seven rows of 32 points; all also a table of 32 points by 64 boxes.
    {"PointsInBoxesPart", "points_in_boxes_part b=1 m=9 n=100", MLUOP_DTYPE_FLOAT, 3584, 3712},
    {"PointsInBoxesAll", "points_in_boxes_all b=1 m=9 n=100", MLUOP_DTYPE_FLOAT, 11776, 11904},
    // Ten rows of 32 points, of which each is compared with those before.
    {"Voxelization", "voxelization n=40 f=3 points=3 voxels=9", MLUOP_DTYPE_FLOAT, 1152, 1280},
    // Eight rows of 32 points, and the grid.
    {"DynamicVoxelize", "dynamic_voxelize n=40 f=3", MLUOP_DTYPE_FLOAT, 1024, 1152},
    // A row of six arrays, a unit of them, and targets.
    {"FocalLossBackward", "focal_loss_sigmoid_backward n=3 c=1000", MLUOP_DTYPE_FLOAT, 25728, 25856},
    // A RoI and nine rows of 128 bytes.
    {"RoiAlignRotatedForward", "roi_align_rotated_forward b=1 h=4 w=4 c=40 r=1 ph=2 pw=2 scale=1 ratio=2 rois=inside",
     MLUOP_DTYPE_FLOAT, 1152, 1280},
    // Sizes of a level and eleven rows of 128 bytes.
    {"MsDeformAttnForward", "ms_deform_attn_forward b=1 q=3 m=2 d=40 l=2 p=2 h=4 w=5", MLUOP_DTYPE_FLOAT, 1408, 1536},
    // 16 channels of the output, each 2 + 2 * 64 numbers.
    {"PsRoiPoolForward", "ps_roi_pool_forward b=1 h=5 w=5 d=3 r=2 ph=7 pw=7 scale=1 rois=inside", MLUOP_DTYPE_FLOAT,
     8192, 8320},
    // 39 arrays of 32 pairs.
    {"BoxIouRotated", "box_iou_rotated n=3 m=5", MLUOP_DTYPE_FLOAT, 4864, 4992},
    // A row of 32 channels behind the map of 1024 points; backward: four rows of 1024 gradients, and a mask of bits.
    {"DynamicPointToVoxelForward", "dynamic_point_to_voxel_forward n=40 c=3 side=3", MLUOP_DTYPE_FLOAT, 4096, 4224},
    {"DynamicPointToVoxelBackward", "dynamic_point_to_voxel_backward n=40 c=3 side=3", MLUOP_DTYPE_FLOAT, 16384, 16512},
};

class LimitTest : public ::testing::TestWithParam<Limit> {};

Report run_with(const Limit& limit, int nram_bytes) {
  Problem problem = make_problem(Case::parse(limit.text), limit.dtype);
  const Tolerance tolerance = tolerance_of("mlu_emu", limit.dtype);
  const Handle device("mlu_emu", 1, {"nram_bytes=" + std::to_string(nram_bytes)});
  return run_and_check(problem, device, "mlu_emu", problem.expect(tolerance.coordinates), tolerance);
}

TEST_P(LimitTest, IsWhereTheDocumentsPutIt) {
  const Limit& limit = GetParam();
  const Report refused = run_with(limit, limit.too_small), taken = run_with(limit, limit.enough);
  EXPECT_EQ(refused.outcome, Outcome::kDeclined) << refused.text;
  EXPECT_NE(refused.text, "");
  EXPECT_EQ(taken.outcome, Outcome::kRan) << taken.text;
}

std::string name_of(const ::testing::TestParamInfo<Limit>& limit) {
  return limit.param.name;
}

INSTANTIATE_TEST_SUITE_P(All, LimitTest, ::testing::ValuesIn(kLimits), name_of);

}  // namespace
}  // namespace mluops::test
