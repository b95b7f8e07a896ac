// Without atomics, results are bitwise equal on every run and for any number of threads.
#include "test/op/suite.h"

namespace mluops::test {
namespace {

class DeterminismTest : public ::testing::TestWithParam<Combination> {};

std::vector<std::vector<unsigned char>> output_bytes(Problem& problem, const Handle& handle) {
  EXPECT_EQ(run(problem, handle), MLUOP_STATUS_SUCCESS) << mluOpExtGetLastErrorText();
  std::vector<std::vector<unsigned char>> all;
  for (const auto& out : problem.outputs) all.push_back(out->bytes());
  return all;
}

TEST_P(DeterminismTest, SameBitsForEveryThreadCount) {
  const Combination& c = GetParam();
  for (const Case& text : random_cases_for(c, 4, 12)) {
    Problem problem = make_problem(text, c.dtype);
    std::vector<std::vector<unsigned char>> first;
    for (int threads : {1, 2, 3, 4, 5, 7, 8, 11, 16, 16, 2, 1}) {
      Handle handle(c.backend, threads);
      handle.contract(MLUOP_EXT_CONTRACT_EXTENDED).atomics(MLUOP_ATOMICS_NOT_ALLOWED);
      const auto bytes = output_bytes(problem, handle);
      if (first.empty()) first = bytes;
      ASSERT_EQ(bytes == first, true) << how_to_repeat(problem, c.backend + ", " + std::to_string(threads));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, DeterminismTest, ::testing::ValuesIn(combinations()), name_of);

// More threads than heads of images, slices of channels or runs of items: each owns some rows.
class ManyThreadsTest : public ::testing::TestWithParam<const char*> {};

TEST_P(ManyThreadsTest, OwnRowsWithTheSameBits) {
  for (mluOpDataType_t dtype : {MLUOP_DTYPE_FLOAT, MLUOP_DTYPE_HALF, MLUOP_DTYPE_DOUBLE}) {
    Problem problem = make_problem(Case::parse(GetParam()), dtype);
    std::vector<std::vector<unsigned char>> first;
    for (int threads : {1, 5, 33, 64}) {
      Handle handle("cpu", threads);
      handle.contract(MLUOP_EXT_CONTRACT_EXTENDED).atomics(MLUOP_ATOMICS_NOT_ALLOWED);
      const auto bytes = output_bytes(problem, handle);
      if (first.empty()) first = bytes;
      EXPECT_EQ(bytes == first, true) << how_to_repeat(problem, "cpu, " + std::to_string(threads) + " threads");
    }
    Handle handle("cpu", 64);
    handle.contract(MLUOP_EXT_CONTRACT_EXTENDED);
    const Tolerance tolerance = tolerance_of("cpu", dtype);
    const Report report = run_and_check(problem, handle, "cpu", problem.expect(tolerance.coordinates), tolerance);
    EXPECT_EQ(report.outcome, Outcome::kRan) << report.text;
  }
}

INSTANTIATE_TEST_SUITE_P(
    All, ManyThreadsTest,
    ::testing::Values(
        "dcn_forward h=40 w=55 ci=32 co=32 g=8 dg=2", "dcn_forward h=23 w=40 ci=24 co=24 g=24 dg=1",
        "assign_score_withk_backward b=1 n=1700 m=4 o=20 p=100 k=20", "prroi_pool_backward b=1 h=40 w=30 c=300 r=60",
        "roi_align_rotated_backward b=1 h=40 w=30 c=300 r=60", "roi_align_rotated_backward b=1 h=9 w=11 c=150 r=200",
        "roi_align_rotated_backward b=40 h=20 w=20 c=70 r=90",
        "rotated_feature_align_backward b=3 h=40 w=49 c=64 points=1", "nms_rotated n=3500 iou=0.1 boxes=small",
        "roiaware_pool3d_backward n=9 p=300 c=40 x=5 y=5 z=5 s=8 mean=1",
        "voxelization n=60000 size=0.05 points=2 voxels=1000", "voxelization n=30000 size=0.02 voxels=1500 data=wild",
        "voxelization n=30000 size=0.02 points=3 voxels=15500 data=padded", "nms n=9000 iou=0.6",
        "nms n=12000 iou=0.4 boxes=classes", "nms_match n=9000 iou=0.5", "nms n=9000 iou=0.3 boxes=wild",
        "roiaware_pool3d_backward n=9 p=300 c=19 x=5 y=5 z=5 s=8",
        "voxel_pooling_forward b=1 n=20000 c=9 x=60 y=50 data=rays",
        "ms_deform_attn_backward b=1 q=2000 m=2 d=16 l=3 p=4 h=20 w=33 loc=around",
        "ms_deform_attn_backward b=1 q=2500 m=1 d=32 l=2 p=3 h=31 w=9 gap=7 loc=edge",
        "ms_deform_attn_backward b=1 q=4200 m=1 d=5 l=2 p=2 shapes=1x1+40x3 loc=special",
        "ms_deform_attn_backward b=1 q=2100 m=1 d=64 l=1 p=8 h=2 w=50 loc=same",
        "dcn_backward_weight h=30 w=21 ci=96 co=17", "dcn_backward_weight n=2 h=19 w=23 ci=36 co=24 g=2 dg=3 bias=0",
        "dcn_backward_data h=35 w=21 ci=32 co=16", "dcn_backward_data h=40 w=9 ci=96 co=8 dg=2 stride=2",
        "dcn_backward_data n=2 h=17 w=30 ci=40 co=24 g=2 mask=0 pad=2 dilation=2",
        "dcn_backward_data h=60 w=30 ci=32 co=32 offsets=far",
        "dcn_backward_data n=2 h=45 w=17 ci=48 co=40 g=2 dg=3 offsets=far mask=0",
        "dcn_backward_data h=33 w=28 ci=70 co=24 offsets=special",
        "dcn_backward_data h=61 w=46 ci=64 co=256 kh=1 kw=1 pad=0 stride=3 offsets=zero"));  // no sample on some rows

// Atomics are allowed: the order of sums may vary, their values may not.
class AtomicsTest : public ::testing::TestWithParam<Combination> {};

TEST_P(AtomicsTest, AllowedAtomicsStillMatchTheReference) {
  const Combination& c = GetParam();
  const Tolerance tolerance = tolerance_of(c.backend, c.dtype);
  Handle handle(c.backend, 4);
  handle.contract(MLUOP_EXT_CONTRACT_EXTENDED).atomics(MLUOP_ATOMICS_ALLOWED);
  for (const Case& text : random_cases_for(c, 5, 12)) {
    Problem problem = make_problem(text, c.dtype);
    const Report report = run_and_check(problem, handle, c.backend, problem.expect(tolerance.coordinates), tolerance);
    EXPECT_EQ(report.outcome, Outcome::kRan) << report.text << how_to_repeat(problem, c.backend + ", atomics allowed");
  }
}

INSTANTIATE_TEST_SUITE_P(All, AtomicsTest, ::testing::ValuesIn(combinations()), name_of);

}  // namespace
}  // namespace mluops::test
