#include "backends/mlu_emu/plan/three_interpolate.h"

#include <array>

#include "test/plan/support.h"

namespace mluops::emu::plan {
namespace {

using Limits = std::array<std::int64_t, 3>;  // Co, Mo, No

struct Golden {
  std::int64_t b, c, m, n;
  Limits backward_384[2], backward_640[2], forward_384[2];  // float, half
};

// The documented results of the search, 4 cores per cluster; 384 KiB with 8 clusters, 640 KiB with 4.
const Golden kGolden[] = {
    {16, 512, 16, 64, {{512, 32, 32}, {512, 64, 64}}, {{512, 32, 64}, {512, 64, 64}}, {{512, 32, 32}, {512, 64, 64}}},
    {16,
     256,
     64,
     256,
     {{256, 32, 96}, {256, 64, 192}},
     {{256, 64, 160}, {256, 64, 256}},
     {{256, 64, 64}, {256, 64, 192}}},
    {16,
     256,
     256,
     1024,
     {{160, 224, 32}, {256, 192, 128}},
     {{256, 256, 32}, {256, 256, 256}},
     {{32, 256, 192}, {256, 256, 64}}},
    {16,
     128,
     1024,
     4096,
     {{32, 992, 32}, {64, 960, 64}},
     {{64, 1024, 32}, {128, 1024, 128}},
     {{32, 1024, 96}, {64, 1024, 64}}},
    {16, 16, 512, 64, {{32, 480, 64}, {64, 448, 64}}, {{32, 512, 64}, {64, 512, 64}}, {{32, 512, 32}, {64, 512, 64}}},
    {16,
     64,
     256,
     256,
     {{64, 224, 256}, {64, 192, 256}},
     {{64, 256, 256}, {64, 256, 256}},
     {{64, 256, 224}, {64, 256, 192}}},
    {16,
     1024,
     128,
     4096,
     {{352, 96, 32}, {704, 64, 64}},
     {{480, 128, 32}, {832, 128, 64}},
     {{288, 128, 32}, {448, 128, 64}}},
    {16,
     1,
     1024,
     128,
     {{32, 992, 128}, {64, 960, 128}},
     {{32, 1024, 128}, {64, 1024, 128}},
     {{32, 1024, 96}, {64, 1024, 64}}},
    {16,
     128,
     256,
     512,
     {{128, 224, 128}, {128, 192, 384}},
     {{128, 256, 288}, {128, 256, 512}},
     {{128, 256, 96}, {128, 256, 320}}},
    {16,
     512,
     128,
     2048,
     {{352, 96, 32}, {512, 64, 64}},
     {{480, 128, 32}, {512, 128, 128}},
     {{288, 128, 32}, {448, 128, 64}}},
    {1, 1, 1, 1, {{32, 32, 32}, {64, 64, 64}}, {{32, 32, 32}, {64, 64, 64}}, {{32, 32, 32}, {64, 64, 64}}},
    {7, 63, 127, 129, {{64, 32, 160}, {64, 64, 192}}, {{64, 96, 160}, {64, 64, 192}}, {{64, 128, 64}, {64, 128, 64}}},
    {15,
     1025,
     1023,
     1023,
     {{32, 992, 32}, {64, 960, 64}},
     {{64, 1024, 32}, {128, 1024, 64}},
     {{32, 1024, 32}, {64, 1024, 64}}},
    {25,
     1029,
     1027,
     1025,
     {{32, 1056, 32}, {64, 1088, 64}},
     {{64, 1056, 32}, {128, 1088, 64}},
     {{32, 1056, 160}, {64, 1088, 128}}},
    {29,
     2047,
     2033,
     999,
     {{32, 1472, 32}, {64, 1408, 64}},
     {{32, 2048, 32}, {64, 2048, 64}},
     {{32, 1472, 32}, {64, 1408, 64}}},
};

const Machine k384{393216, 8, 4, 592};
const Machine k640{655360, 4, 4, 372};

mluopsThreeInterpolateShape shape_of(mluOpDataType_t dtype, std::int64_t b, std::int64_t c, std::int64_t m,
                                     std::int64_t n) {
  return {dtype, b, c, m, n};
}

void expect_limits(const Golden& g, Direction direction, const Machine& machine, const Limits (&want)[2]) {
  for (int half = 0; half < 2; ++half) {
    const auto dtype = half != 0 ? MLUOP_DTYPE_HALF : MLUOP_DTYPE_FLOAT;
    const auto p = plan_three_interpolate(shape_of(dtype, g.b, g.c, g.m, g.n), direction, machine);
    ASSERT_TRUE(p.ok()) << p.refusal;
    EXPECT_EQ((Limits{p.co, p.mo, p.no}), want[half])
        << "B " << g.b << " C " << g.c << " M " << g.m << " N " << g.n << (half != 0 ? " half " : " float ")
        << (direction == Direction::kForward ? "forward " : "backward ") << machine.nram_bytes << " got " << p.co << "/"
        << p.mo << "/" << p.no;
  }
}

TEST(ThreeInterpolatePlan, golden_limits) {
  for (const Golden& g : kGolden) {
    expect_limits(g, Direction::kBackward, k384, g.backward_384);
    expect_limits(g, Direction::kBackward, k640, g.backward_640);
    expect_limits(g, Direction::kForward, k384, g.forward_384);
  }
}

TEST(ThreeInterpolatePlan, case_20_backward_bytes_blocks_and_grid) {
  const auto p = plan_three_interpolate(shape_of(MLUOP_DTYPE_FLOAT, 29, 2047, 2033, 999), Direction::kBackward, k384);
  EXPECT_EQ(p.nram.bytes(), 387072);
  EXPECT_EQ(p.blocks, 58);
  EXPECT_EQ(p.launch, (Launch{TaskType::kUnion1, 4, 8, 1}));
}

TEST(ThreeInterpolatePlan, one_point_launches_one_cluster) {
  for (Direction direction : {Direction::kForward, Direction::kBackward})
    for (const Machine& machine : {k384, k640}) {
      const auto p = plan_three_interpolate(shape_of(MLUOP_DTYPE_FLOAT, 1, 1, 1, 1), direction, machine);
      EXPECT_EQ(p.launch, (Launch{TaskType::kUnion1, 4, 1, 1}));
    }
}

TEST(ThreeInterpolatePlan, smallest_need) {
  const Machine fits_float{18432, 3, 3, 372}, fits_half{35968, 3, 3, 372};
  const auto f = shape_of(MLUOP_DTYPE_FLOAT, 2, 3, 5, 7), h = shape_of(MLUOP_DTYPE_HALF, 2, 3, 5, 7);
  EXPECT_EQ(plan_three_interpolate(f, Direction::kBackward, fits_float).nram.bytes(), 18432);
  EXPECT_EQ(plan_three_interpolate(h, Direction::kBackward, fits_half).nram.bytes(), 35968);
  const Machine forward_float{18304, 3, 3, 372}, below_forward{18303, 3, 3, 372};
  EXPECT_EQ(plan_three_interpolate(f, Direction::kForward, forward_float).nram.bytes(), 18304);
  EXPECT_FALSE(plan_three_interpolate(f, Direction::kForward, below_forward).ok());
  const Machine below_float{18431, 3, 3, 372}, below_half{35967, 3, 3, 372};
  EXPECT_NE(plan_three_interpolate(f, Direction::kBackward, below_float).refusal.find("18431"), std::string::npos);
  EXPECT_FALSE(plan_three_interpolate(h, Direction::kBackward, below_half).ok());
}

TEST(ThreeInterpolatePlan, declines_other_types_and_large_tensors) {
  EXPECT_FALSE(plan_three_interpolate(shape_of(MLUOP_DTYPE_DOUBLE, 1, 1, 1, 1), Direction::kForward, k384).ok());
  const auto large = shape_of(MLUOP_DTYPE_FLOAT, 1 << 15, 1 << 15, 1, 2);
  EXPECT_NE(plan_three_interpolate(large, Direction::kForward, k384).refusal.find("2^31"), std::string::npos);
}

/// Blocks of an axis by limit: how often each element is covered when they are walked block by block.
void expect_axis_covered(std::int64_t size, std::int64_t limit, std::int64_t lanes) {
  ASSERT_GT(limit, 0);
  EXPECT_EQ(limit % lanes, 0);
  std::int64_t at = 0;
  for (std::int64_t i = 0; i < (size + limit - 1) / limit; ++i) {
    const Share share = block_share(size, limit, i);
    ASSERT_EQ(share.begin, at);
    ASSERT_GT(share.size(), 0);
    at = share.end;
  }
  EXPECT_EQ(at, size);
}

void expect_blocks_covered(const ThreeInterpolatePlan& p) {
  std::int64_t at = 0;
  for (std::int64_t t = 0; t < p.launch.tasks(); ++t) {
    const Share share = contiguous_share(p.blocks, p.launch.tasks(), t);
    ASSERT_EQ(share.begin, at);
    at = share.end;
  }
  EXPECT_EQ(at, p.blocks);
}

void expect_plan_sound(const mluopsThreeInterpolateShape& shape, Direction direction, const Machine& machine) {
  const auto p = plan_three_interpolate(shape, direction, machine);
  const std::int64_t bytes = shape.dtype == MLUOP_DTYPE_HALF ? 2 : 4;
  if (!p.ok()) {
    EXPECT_LT(machine.nram_bytes, bytes == 4 ? 18432 : 35968) << p.refusal;
    return;
  }
  expect_partition_fits(p, machine);
  expect_axis_covered(shape.c, p.co, kNfuAlign / bytes);
  expect_axis_covered(shape.m, p.mo, kNfuAlign / bytes);
  expect_axis_covered(shape.n, p.no, kNfuAlign / bytes);
  expect_blocks_covered(p);
  EXPECT_EQ(p.launch.x, machine.cores_per_cluster);
  EXPECT_LE(p.launch.y, machine.clusters);
}

TEST(ThreeInterpolatePlan, covers_and_fits_everywhere) {
  std::vector<Machine> all = machines();
  all.push_back({18432, 3, 3, 372});
  all.push_back({20000, 1, 1, 592});
  for (const Machine& machine : all)
    for (std::int64_t c : {1, 31, 64, 257, 1029})
      for (std::int64_t m : {1, 32, 100, 1027, 20000})
        for (std::int64_t n : {1, 33, 129, 4096})
          for (auto dtype : {MLUOP_DTYPE_FLOAT, MLUOP_DTYPE_HALF})
            for (Direction direction : {Direction::kForward, Direction::kBackward})
              for (std::int64_t b : {1, 7, 29}) expect_plan_sound(shape_of(dtype, b, c, m, n), direction, machine);
}

}  // namespace
}  // namespace mluops::emu::plan
