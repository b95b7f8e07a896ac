// Plans of the operators of point clouds: tiles that fit NRAM whatever the machine, launches no larger than the work.
#include "backends/mlu_emu/plan/ball_query.h"
#include "backends/mlu_emu/plan/dynamic_point_to_voxel.h"
#include "backends/mlu_emu/plan/points_in_boxes.h"
#include "backends/mlu_emu/plan/three_nn.h"
#include "backends/mlu_emu/plan/voxelization.h"
#include "test/plan/support.h"

namespace mluops::emu::plan {
namespace {

constexpr std::int64_t kSizes[] = {1, 3, 64, 65, 1000, 100000};
const Machine k640{655360, 4, 4, 372};
const Machine k384{393216, 8, 4, 592};

TEST(UnionLaunch, takes_the_clusters_the_items_need) {
  EXPECT_EQ(union1_launch(k640, 1), (Launch{TaskType::kUnion1, 4, 1, 1}));
  EXPECT_EQ(union1_launch(k640, 5), (Launch{TaskType::kUnion1, 4, 2, 1}));
  EXPECT_EQ(union1_launch(k640, 16), (Launch{TaskType::kUnion1, 4, 4, 1}));
  EXPECT_EQ(union1_launch(k640, 100000), (Launch{TaskType::kUnion1, 4, 4, 1}));
}

TEST(ThreeNNPlan, two_thirds_of_nram_for_points) {
  const auto p = plan_three_nn({MLUOP_DTYPE_FLOAT, 16, 16384, 100000}, k640);
  ASSERT_TRUE(p.ok()) << p.refusal;
  // A point: 12 bytes and rows of 128 and 256 bytes; a known one: seven floats.
  EXPECT_EQ(p.points, (655360 - 512) / 3 * 2 / 396 / 2 * 2);
  EXPECT_EQ(p.known, (655360 - 512) / 3 / 28 / 64 * 64);
  EXPECT_EQ(plan_three_nn({MLUOP_DTYPE_HALF, 16, 16384, 100}, k640).known, 128);
}

TEST(BallQueryPlan, one_length_for_centres_and_points) {
  const auto p = plan_ball_query({MLUOP_DTYPE_FLOAT, 16, 1024, 4096, 32, 0, 1}, k640);
  ASSERT_TRUE(p.ok()) << p.refusal;
  EXPECT_EQ(p.tile, (655360 - 128) / 52 / 64 * 64);
  EXPECT_EQ(plan_ball_query({MLUOP_DTYPE_HALF, 16, 1024, 4096, 32, 0, 1}, k384).tile, (393216 - 128) / 46 / 64 * 64);
}

TEST(PointsInBoxesPlan, boxes_of_a_cloud_leave_the_rest_to_points) {
  const auto p = plan_points_in_boxes_part({MLUOP_DTYPE_FLOAT, 1, 272414, 66, 1}, k640);
  ASSERT_TRUE(p.ok()) << p.refusal;
  EXPECT_EQ(p.tile, (655360 - 1920) / 28 / 32 * 32);
  EXPECT_EQ(p.launch, (Launch{TaskType::kBlock, 16, 1, 1}));
  EXPECT_EQ(plan_points_in_boxes_part({MLUOP_DTYPE_FLOAT, 1, 5, 66, 1}, k640).launch.x, 5);
  EXPECT_EQ(plan_points_in_boxes_all({MLUOP_DTYPE_FLOAT, 1, 272414, 66, 1}, k640).columns, 64);
  EXPECT_EQ(plan_points_in_boxes_all({MLUOP_DTYPE_FLOAT, 1, 272414, 9, 1}, k640).columns, 9);
}

TEST(VoxelizationPlan, a_core_numbers_in_nram_what_fits_a_third_of_it) {
  const auto fits = plan_voxelization({MLUOP_DTYPE_FLOAT, 54592, 4, 20, 30000}, k640);
  ASSERT_TRUE(fits.ok()) << fits.refusal;
  EXPECT_TRUE(fits.numbering.holds_all);
  EXPECT_EQ(fits.numbering.launch, (Launch{TaskType::kBlock, 1, 1, 1}));
  EXPECT_EQ(fits.places.tile, (655360 - 128) / 32 / 32 * 32);
  EXPECT_EQ(fits.same_place.tile, 655360 / 40 / 32 * 32);
  const auto more = plan_voxelization({MLUOP_DTYPE_FLOAT, 54593, 4, 20, 30000}, k640);
  EXPECT_FALSE(more.numbering.holds_all);
  EXPECT_EQ(more.numbering.nram.regions().size(), 2U);
}

TEST(DynamicPointToVoxelPlan, whole_rows_as_many_as_fit_or_pieces_of_one) {
  const auto rows = plan_dynamic_point_to_voxel_forward({MLUOP_DTYPE_FLOAT, 100000, 64, 100, MLUOP_REDUCE_DMAX}, k640);
  ASSERT_TRUE(rows.ok()) << rows.refusal;
  EXPECT_EQ(rows.reduce.features, 64);
  EXPECT_EQ(rows.reduce.points, (655360 - 256) / 4 / 66);
  const auto pieces = plan_dynamic_point_to_voxel_forward({MLUOP_DTYPE_FLOAT, 9, 200000, 9, MLUOP_REDUCE_DMAX}, k640);
  EXPECT_EQ(pieces.reduce.points, 1);
  EXPECT_EQ(pieces.reduce.features, (655360 - 256) / 4 - 2);
  const auto back = plan_dynamic_point_to_voxel_backward({MLUOP_DTYPE_FLOAT, 100, 200000, 9, MLUOP_REDUCE_DMAX}, k640);
  ASSERT_TRUE(back.ok()) << back.refusal;
  EXPECT_EQ(back.trace.lanes, (655360 - 4096) / 20 / 32 * 32);
  EXPECT_EQ(back.scatter.tile, 655360 / (1024 * 16 + 128) * 1024);
  EXPECT_FALSE(
      plan_dynamic_point_to_voxel_backward({MLUOP_DTYPE_FLOAT, 1 << 20, 1 << 10, 9, MLUOP_REDUCE_DMAX}, k640).ok());
}

TEST(PointPlans, fit_every_machine) {
  for (const Machine& machine : machines())
    for (const std::int64_t n : kSizes)
      for (const std::int64_t m : kSizes) {
        for (const mluOpDataType_t dtype : {MLUOP_DTYPE_HALF, MLUOP_DTYPE_FLOAT}) {
          expect_partition_fits(plan_three_nn({dtype, 2, n, m}, machine), machine);
          expect_partition_fits(plan_ball_query({dtype, 2, n, m, 7, 0, 1}, machine), machine);
        }
        const auto voxels = plan_voxelization({MLUOP_DTYPE_FLOAT, n, 5, 10, m}, machine);
        expect_partition_fits(voxels.places, machine);
        expect_partition_fits(voxels.same_place, machine);
        expect_partition_fits(voxels.numbering, machine);
        expect_partition_fits(voxels.assign, machine);
        const mluopsDynamicPointToVoxelShape scattered{MLUOP_DTYPE_FLOAT, n, m, n, MLUOP_REDUCE_DMEAN};
        const auto forward = plan_dynamic_point_to_voxel_forward(scattered, machine);
        for (const Plan& plan : {Plan(forward.mask), Plan(forward.same_place), Plan(forward.rank),
                                 Plan(forward.numbering), Plan(forward.reduce), Plan(forward.fill)})
          expect_partition_fits(plan, machine);
        const auto backward = plan_dynamic_point_to_voxel_backward(scattered, machine);
        for (const Plan& plan : {Plan(backward.trace), Plan(backward.spread), Plan(backward.scatter)})
          expect_partition_fits(plan, machine);
        expect_partition_fits(plan_points_in_boxes_part({MLUOP_DTYPE_FLOAT, 2, n, m, 1}, machine), machine);
        expect_partition_fits(plan_points_in_boxes_all({MLUOP_DTYPE_FLOAT, 2, n, m, 0}, machine), machine);
      }
}

TEST(PointPlans, refuse_what_the_device_does_not_take) {
  EXPECT_FALSE(plan_three_nn({MLUOP_DTYPE_DOUBLE, 1, 5, 5}, k640).ok());
  EXPECT_FALSE(plan_three_nn({MLUOP_DTYPE_FLOAT, 1, std::int64_t{1} << 30, 5}, k640).ok());
  EXPECT_FALSE(plan_ball_query({MLUOP_DTYPE_BFLOAT16, 1, 5, 5, 5, 0, 1}, k640).ok());
  EXPECT_FALSE(plan_ball_query({MLUOP_DTYPE_FLOAT, 1, 65536, 5, 65536, 0, 1}, k640).ok());
  EXPECT_FALSE(plan_voxelization({MLUOP_DTYPE_HALF, 5, 4, 2, 2}, k640).ok());
  EXPECT_FALSE(plan_voxelization({MLUOP_DTYPE_FLOAT, 5, 4, 1 << 15, 1 << 15}, k640).ok());
  EXPECT_FALSE(plan_points_in_boxes_part({MLUOP_DTYPE_HALF, 1, 5, 5, 1}, k640).ok());
  // As many boxes as fit beside 32 points.
  const std::int64_t most = (655360 - 32 * 28) / 28 / 32 * 32;
  EXPECT_TRUE(plan_points_in_boxes_part({MLUOP_DTYPE_FLOAT, 1, 5, most, 1}, k640).ok());
  EXPECT_FALSE(plan_points_in_boxes_part({MLUOP_DTYPE_FLOAT, 1, 5, most + 32, 1}, k640).ok());
  EXPECT_FALSE(plan_points_in_boxes_all({MLUOP_DTYPE_FLOAT, 1, 1 << 20, 2048, 1}, k640).ok());
}

}  // namespace
}  // namespace mluops::emu::plan
