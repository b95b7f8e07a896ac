#include "backends/mlu_emu/plan/psamask.h"

#include <array>

#include "test/plan/support.h"

namespace mluops::emu::plan {
namespace {

constexpr int kCollect = 0, kDistribute = 1;
const Machine k384{393216, 8, 4, 592};
const Machine k640{655360, 8, 4, 372};

mluopsPsamaskShape shape_of(std::int64_t n, std::int64_t h, std::int64_t w, std::int64_t h_mask, std::int64_t w_mask,
                            int type) {
  return {MLUOP_DTYPE_FLOAT, n, h, w, h_mask, w_mask, type};
}

void expect_segment(const PsamaskPlan& p, std::array<std::int64_t, 3> want) {
  ASSERT_TRUE(p.ok()) << p.refusal;
  EXPECT_EQ((std::array{p.segment_n, p.segment_h, p.segment_w}), want);
}

TEST(PsamaskPlan, worked_partition_many_images) {
  const auto shape = shape_of(123, 3, 12, 29, 22, kCollect);
  const auto p = plan_psamask(shape, Direction::kForward, k384);
  EXPECT_EQ(p.n_per_cluster, 16);
  EXPECT_EQ(p.n_per_core, 4);
  EXPECT_EQ(p.h_per_core, 3);
  EXPECT_EQ(p.launch, (Launch{TaskType::kUnion1, 4, 8, 1}));
  expect_segment(p, {3, 3, 12});
  expect_segment(plan_psamask(shape, Direction::kForward, k640), {4, 3, 12});
}

TEST(PsamaskPlan, worked_partition_wide_rows) {
  const auto shape = shape_of(16, 128, 32, 32, 32, kCollect);
  const auto p = plan_psamask(shape, Direction::kBackward, k384);
  EXPECT_EQ(p.n_per_cluster, 2);
  EXPECT_EQ(p.h_per_cluster, 128);
  EXPECT_EQ(p.n_per_core, 2);
  EXPECT_EQ(p.h_per_core, 32);
  expect_segment(p, {1, 1, 16});
  expect_segment(plan_psamask(shape, Direction::kBackward, k640), {1, 1, 32});
}

TEST(PsamaskPlan, worked_partition_few_images) {
  const auto shape = shape_of(4, 8, 8, 4, 4, kCollect);
  const auto p = plan_psamask(shape, Direction::kForward, k384);
  EXPECT_EQ(p.h_per_cluster, 1);
  EXPECT_EQ(p.n_per_core, 1);
  expect_segment(p, {1, 1, 8});
  const auto q = plan_psamask(shape, Direction::kForward, {393216, 4, 4, 270});
  EXPECT_EQ(q.n_per_cluster, 1);
  EXPECT_EQ(q.h_per_core, 2);
  expect_segment(q, {1, 2, 8});
}

/// Is one row of so many pixels, under a mask as wide, accepted?
bool channels_fit(std::int64_t channels, int type, std::int64_t nram_bytes) {
  // h * w = h_mask * w_mask = channels, so that ci = co = channels.
  const auto shape = shape_of(1, 1, channels, 1, channels, type);
  return plan_psamask(shape, Direction::kForward, {nram_bytes, 8, 4, 372}).ok();
}

TEST(PsamaskPlan, channel_limits) {
  EXPECT_TRUE(channels_fit(3072, kCollect, 393216));
  EXPECT_FALSE(channels_fit(3073, kCollect, 393216));
  EXPECT_TRUE(channels_fit(2048, kDistribute, 393216));
  EXPECT_FALSE(channels_fit(2049, kDistribute, 393216));
  EXPECT_TRUE(channels_fit(5120, kCollect, 655360));
  EXPECT_FALSE(channels_fit(5121, kCollect, 655360));
  EXPECT_TRUE(channels_fit(3392, kDistribute, 655360));
  EXPECT_FALSE(channels_fit(3393, kDistribute, 655360));
}

TEST(PsamaskPlan, real_psanet_sizes) {
  const auto fits = [](std::int64_t size, std::int64_t mask, int type, const Machine& machine) {
    return plan_psamask(shape_of(2, size, size, mask, mask, type), Direction::kForward, machine).ok() &&
           plan_psamask(shape_of(2, size, size, mask, mask, type), Direction::kBackward, machine).ok();
  };
  EXPECT_FALSE(fits(60, 59, kCollect, k384));
  EXPECT_FALSE(fits(60, 59, kDistribute, k384));
  EXPECT_TRUE(fits(60, 59, kCollect, k640));
  EXPECT_FALSE(fits(60, 59, kDistribute, k640));
  for (const Machine& machine : {k384, k640})
    for (int type : {kCollect, kDistribute}) EXPECT_FALSE(fits(97, 97, type, machine));
}

TEST(PsamaskPlan, refusal_names_the_sizes) {
  const auto p = plan_psamask(shape_of(2, 60, 60, 59, 59, kCollect), Direction::kForward, k384);
  EXPECT_NE(p.refusal.find("size of input channel is too large"), std::string::npos) << p.refusal;
  EXPECT_NE(p.refusal.find("393216"), std::string::npos) << p.refusal;
  EXPECT_NE(p.refusal.find("3481"), std::string::npos) << p.refusal;
  EXPECT_NE(p.refusal.find("need 454656 bytes"), std::string::npos) << "16 * (3488 + 3616) * 4: " << p.refusal;
}

TEST(PsamaskPlan, declines_half) {
  auto shape = shape_of(1, 2, 2, 3, 3, kCollect);
  shape.dtype = MLUOP_DTYPE_HALF;
  EXPECT_NE(plan_psamask(shape, Direction::kForward, k384).refusal.find("float"), std::string::npos);
}

/// Counts how often the tasks' segments visit each (n, h, w).
std::vector<int> visits(const PsamaskPlan& p, const mluopsPsamaskShape& s) {
  std::vector<int> count(static_cast<std::size_t>(s.n * s.h * s.w));
  for (std::int64_t y = 0; y < p.launch.y; ++y)
    for (std::int64_t x = 0; x < p.launch.x; ++x) {
      const PsamaskShare share = psamask_share(p, s, x, y);
      EXPECT_LE(share.n.size(), p.n_per_core);
      EXPECT_LE(share.h.size(), p.h_per_core);
      for (std::int64_t n = share.n.begin; n < share.n.end; ++n)
        for (std::int64_t h = share.h.begin; h < share.h.end; ++h)
          for (std::int64_t w = 0; w < s.w; ++w) ++count.at(static_cast<std::size_t>((n * s.h + h) * s.w + w));
    }
  return count;
}

std::int64_t up(std::int64_t value, std::int64_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

/// Bytes a kernel touches for a segment of these dimensions, from the documented areas.
std::int64_t bytes_touched(const mluopsPsamaskShape& s, std::int64_t n, std::int64_t pixels, std::int64_t lanes) {
  const std::int64_t ci = s.h_mask * s.w_mask, co = s.h * s.w;
  const std::int64_t narrow = up(n * pixels * ci, lanes);
  const std::int64_t wide =
      s.psa_type == kCollect ? up(n * pixels * co, 32) : 2 * n * up(pixels, lanes) * up(co, lanes);
  return (narrow + wide) * 4;
}

void expect_plan_sound(const mluopsPsamaskShape& s, Direction direction, const Machine& machine) {
  const auto p = plan_psamask(s, direction, machine);
  if (!p.ok()) return;
  expect_partition_fits(p, machine);
  EXPECT_LE(p.launch.y, machine.clusters);
  EXPECT_LE(bytes_touched(s, p.segment_n, p.segment_h * p.segment_w, machine.arch < 300 ? 32 : 16), machine.nram_bytes);
  EXPECT_TRUE(p.segment_n == 1 || p.segment_h == p.h_per_core);
  EXPECT_TRUE(p.segment_h == 1 || p.segment_w == s.w);
  EXPECT_TRUE(p.segment_w == s.w || p.segment_w % (machine.arch < 300 ? 32 : 16) == 0);
  EXPECT_GT(p.segment_n * p.segment_h * p.segment_w, 0);
  for (int v : visits(p, s)) ASSERT_EQ(v, 1);
}

TEST(PsamaskPlan, covers_and_fits_everywhere) {
  std::vector<Machine> all = machines();
  all.push_back({4096, 3, 3, 372});
  all.push_back({2048, 5, 2, 592});
  int planned = 0;
  for (const Machine& machine : all)
    for (std::int64_t n : {1, 2, 4, 9, 40})
      for (std::int64_t h : {1, 2, 7, 13, 33})
        for (std::int64_t w : {1, 5, 16, 37})
          for (std::int64_t hm : {1, 4, 27})
            for (std::int64_t wm : {1, 3, 8})
              for (int type : {kCollect, kDistribute})
                for (Direction direction : {Direction::kForward, Direction::kBackward}) {
                  const auto s = shape_of(n, h, w, hm, wm, type);
                  expect_plan_sound(s, direction, machine);
                  planned += plan_psamask(s, direction, machine).ok() ? 1 : 0;
                }
  EXPECT_GT(planned, 40000);
}

}  // namespace
}  // namespace mluops::emu::plan
