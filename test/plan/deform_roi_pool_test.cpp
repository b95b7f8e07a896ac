#include "backends/mlu_emu/plan/deform_roi_pool.h"

#include <numeric>

#include "test/plan/support.h"

namespace mluops::emu::plan {
namespace {

mluopsDeformRoiPoolShape shape_of(mluOpDataType_t dtype, std::int64_t c, std::int64_t rois = 3,
                                  std::int64_t pooled = 7) {
  return {dtype, 1, 20, 30, c, rois, pooled, pooled, 1.0f, 0.1f, 2};
}

const Machine kReference{393216, 4, 4, 372};

std::vector<Machine> machines_and_tiny() {
  std::vector<Machine> all = machines();
  for (std::int64_t nram : {1152, 1792, 2048, 4096, 13 * 128 * 5, 13 * 128 * 5 + 128, 40000}) {
    all.push_back({nram, 3, 3, 372});
    all.push_back({nram, 1, 4, 290});
  }
  return all;
}

std::vector<std::int64_t> channel_counts(std::int64_t part) {
  return {1, 3, 31, 32, 33, 63, 64, 65, 127, 256, 257, 1024, part - 1, part, part + 1, 2 * part, 3 * part + 5};
}

void expect_segments_cover_once(const DeformRoiPoolPlan& plan) {
  std::int64_t at = 0;
  for (std::int64_t i = 0; i < plan.segments(); ++i) {
    ASSERT_EQ(plan.segment(i).begin, at);
    ASSERT_GT(plan.segment(i).size(), 0);
    ASSERT_LE(plan.segment(i).size(), plan.channel_part);
    at = plan.segment(i).end;
  }
  ASSERT_EQ(at, plan.channels);
}

// Table of the partition, elements: usable NRAM, dtype, forward, backward with and without offset.
TEST(PlanDeformRoiPool, channel_parts_of_the_known_nram_sizes) {
  struct Row {
    std::int64_t nram;
    mluOpDataType_t dtype;
    std::int64_t forward, with_offset, without;
  };
  const Row rows[] = {{393216, MLUOP_DTYPE_FLOAT, 10912, 7552, 19648},
                      {393216, MLUOP_DTYPE_HALF, 21824, 15104, 39296},
                      {655360, MLUOP_DTYPE_FLOAT, 18176, 12576, 32768},
                      {655360, MLUOP_DTYPE_HALF, 36352, 25152, 65536},
                      {327680, MLUOP_DTYPE_FLOAT, 9088, 6272, 16384}};
  for (const Row& row : rows) {
    const Machine machine{row.nram, 4, 4, 372};
    const auto shape = shape_of(row.dtype, 256);
    EXPECT_EQ(plan_deform_roi_pool_forward(shape, machine).channel_part, row.forward);
    EXPECT_EQ(plan_deform_roi_pool_backward(shape, true, machine).channel_part, row.with_offset);
    EXPECT_EQ(plan_deform_roi_pool_backward(shape, false, machine).channel_part, row.without);
  }
}

TEST(PlanDeformRoiPool, full_segments_use_what_the_document_says) {
  const auto used = [](std::int64_t nram) {
    const Machine machine{nram, 4, 4, 372};
    const auto plan = plan_deform_roi_pool_backward(shape_of(MLUOP_DTYPE_FLOAT, 1 << 20), true, machine);
    const DeformBackwardTile tile = plan.backward_tile(plan.channel_part);
    return 4 * (tile.ping + 8 * tile.row);
  };
  EXPECT_EQ(used(393216), 392832);
  EXPECT_EQ(used(655360), 655104);
}

TEST(PlanDeformRoiPool, launch_has_a_cluster_for_each_round_of_bins) {
  const auto launch = [](std::int64_t rois, std::int64_t pooled) {
    return plan_deform_roi_pool_forward(shape_of(MLUOP_DTYPE_FLOAT, 8, rois, pooled), kReference).launch;
  };
  EXPECT_EQ(launch(1, 1), (Launch{TaskType::kUnion1, 4, 1, 1}));
  EXPECT_EQ(launch(1, 2), (Launch{TaskType::kUnion1, 4, 1, 1}));
  EXPECT_EQ(launch(5, 1), (Launch{TaskType::kUnion1, 4, 2, 1}));
  EXPECT_EQ(launch(3, 2), (Launch{TaskType::kUnion1, 4, 3, 1}));
  EXPECT_EQ(launch(998, 7), (Launch{TaskType::kUnion1, 4, 4, 1}));
}

TEST(PlanDeformRoiPool, round_robin_visits_every_bin_once) {
  for (const Machine& machine : machines()) {
    for (std::int64_t rois : {1, 2, 7, 30}) {
      const auto plan = plan_deform_roi_pool_forward(shape_of(MLUOP_DTYPE_HALF, 8, rois, 3), machine);
      ASSERT_LE(plan.launch.y, machine.clusters);
      std::vector<int> visits(plan.bins, 0);
      for (std::int64_t task = 0; task < plan.launch.tasks(); ++task) {
        for (std::int64_t bin = task; bin < plan.bins; bin += plan.launch.tasks()) ++visits[bin];
      }
      EXPECT_EQ(std::count(visits.begin(), visits.end(), 1), plan.bins);
      // No cluster of the grid is without work.
      EXPECT_GT(plan.bins, (plan.launch.y - 1) * plan.launch.x);
    }
  }
}

void expect_forward_tiles_fit(const DeformRoiPoolPlan& plan, const Machine& machine, std::int64_t size) {
  for (std::int64_t i = 0; i < plan.segments(); ++i) {
    const DeformForwardTile tile = plan.forward_tile(plan.segment(i).size());
    ASSERT_GE(tile.row, tile.padded);
    ASSERT_EQ(tile.ping, tile.padded);
    ASSERT_GE(tile.pong, tile.ping + 4 * tile.row);
    ASSERT_LE((tile.pong + 4 * tile.row) * size, machine.nram_bytes);
    ASSERT_EQ(tile.pong * size % (machine.arch < 300 ? 128 : 64), 0);
  }
}

TEST(PlanDeformRoiPool, forward_fits_and_covers_everywhere) {
  for (const Machine& machine : machines_and_tiny()) {
    for (mluOpDataType_t dtype : {MLUOP_DTYPE_FLOAT, MLUOP_DTYPE_HALF}) {
      const std::int64_t part = plan_deform_roi_pool_forward(shape_of(dtype, 1), machine).channel_part;
      ASSERT_GT(part, 0);
      for (std::int64_t c : channel_counts(part)) {
        const auto plan = plan_deform_roi_pool_forward(shape_of(dtype, c), machine);
        ASSERT_TRUE(plan.ok()) << plan.refusal;
        expect_partition_fits(plan, machine);
        expect_segments_cover_once(plan);
        expect_forward_tiles_fit(plan, machine, dtype == MLUOP_DTYPE_HALF ? 2 : 4);
      }
    }
  }
}

void expect_backward_tiles_fit(const DeformRoiPoolPlan& plan, const Machine& machine, std::int64_t size) {
  for (std::int64_t i = 0; i < plan.segments(); ++i) {
    const DeformBackwardTile tile = plan.backward_tile(plan.segment(i).size());
    ASSERT_EQ(tile.grad_output, 4 * tile.padded);
    ASSERT_LE((tile.grad_output + tile.padded) * size, machine.nram_bytes);
    if (!plan.with_offset) continue;
    ASSERT_EQ(tile.sum_tmp, 5 * tile.padded);
    ASSERT_EQ((tile.ping - tile.sum_tmp) * size, 128);
    ASSERT_GE(tile.row, tile.padded);
    ASSERT_EQ(tile.pong, tile.ping + 4 * tile.row);
    ASSERT_LE((tile.pong + 4 * tile.row) * size, machine.nram_bytes);
    ASSERT_EQ(tile.pong * size % 128, 0);
  }
}

TEST(PlanDeformRoiPool, backward_fits_and_covers_everywhere) {
  for (const Machine& machine : machines_and_tiny()) {
    for (mluOpDataType_t dtype : {MLUOP_DTYPE_FLOAT, MLUOP_DTYPE_HALF}) {
      for (bool with_offset : {false, true}) {
        if (with_offset && machine.nram_bytes < 13 * 128 + 128) continue;
        const std::int64_t part = plan_deform_roi_pool_backward(shape_of(dtype, 1), with_offset, machine).channel_part;
        ASSERT_GT(part, 0);
        for (std::int64_t c : channel_counts(part)) {
          const auto plan = plan_deform_roi_pool_backward(shape_of(dtype, c), with_offset, machine);
          ASSERT_TRUE(plan.ok()) << plan.refusal;
          expect_partition_fits(plan, machine);
          expect_segments_cover_once(plan);
          expect_backward_tiles_fit(plan, machine, dtype == MLUOP_DTYPE_HALF ? 2 : 4);
        }
      }
    }
  }
}

TEST(PlanDeformRoiPool, map_names_the_documented_buffers) {
  const auto names = [](const DeformRoiPoolPlan& plan) {
    std::string all;
    for (const Region& region : plan.nram.regions()) all += region.name + " ";
    return all;
  };
  const auto shape = shape_of(MLUOP_DTYPE_FLOAT, 18176);
  const Machine machine{655360, 4, 4, 372};
  EXPECT_EQ(names(plan_deform_roi_pool_forward(shape, machine)),
            "output ping1 ping2 ping3 ping4 pong1 pong2 pong3 pong4 ");
  EXPECT_EQ(names(plan_deform_roi_pool_backward(shape, false, machine)), "tmp1 tmp2 tmp3 tmp4 grad_output ");
  EXPECT_EQ(names(plan_deform_roi_pool_backward(shape_of(MLUOP_DTYPE_FLOAT, 12576), true, machine)),
            "tmp1 tmp2 tmp3 tmp4 grad_output sum_tmp ping1 ping2 ping3 ping4 pong1 pong2 pong3 pong4 ");
}

TEST(PlanDeformRoiPool, map_is_that_of_the_first_and_longest_segment) {
  const auto plan = plan_deform_roi_pool_forward(shape_of(MLUOP_DTYPE_FLOAT, 1025), {1152 * 32, 1, 1, 372});
  ASSERT_GT(plan.segments(), 1);
  ASSERT_GT(plan.segment(0).size(), plan.segment(plan.segments() - 1).size());
  EXPECT_GE(plan.nram.regions().front().bytes, plan.segment(0).size() * 4);
}

TEST(PlanDeformRoiPool, nram_too_small_and_other_dtypes_are_refused) {
  const auto shape = shape_of(MLUOP_DTYPE_FLOAT, 8);
  EXPECT_FALSE(plan_deform_roi_pool_forward(shape, {1151, 1, 1, 372}).ok());
  EXPECT_TRUE(plan_deform_roi_pool_forward(shape, {1152, 1, 1, 372}).ok());
  EXPECT_FALSE(plan_deform_roi_pool_backward(shape, true, {1791, 1, 1, 372}).ok());
  EXPECT_TRUE(plan_deform_roi_pool_backward(shape, true, {1792, 1, 1, 372}).ok());
  EXPECT_FALSE(plan_deform_roi_pool_backward(shape, false, {639, 1, 1, 372}).ok());
  EXPECT_TRUE(plan_deform_roi_pool_backward(shape, false, {640, 1, 1, 372}).ok());
  EXPECT_FALSE(plan_deform_roi_pool_forward(shape_of(MLUOP_DTYPE_DOUBLE, 8), kReference).ok());
}

}  // namespace
}  // namespace mluops::emu::plan
