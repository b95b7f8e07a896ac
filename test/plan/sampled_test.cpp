// Plans of the operators that sample maps: RoiAlignRotated, MsDeformAttn, PsRoiPool.
#include <vector>

#include "backends/mlu_emu/plan/ms_deform_attn.h"
#include "backends/mlu_emu/plan/ps_roi_pool.h"
#include "backends/mlu_emu/plan/roi_align_rotated.h"
#include "test/plan/support.h"

namespace mluops::emu::plan {
namespace {

const Machine k640{655360, 4, 4, 372}, k384{393216, 4, 4, 270};
const Direction kDirections[] = {Direction::kForward, Direction::kBackward};

/// Segments follow one another up to the channels, none longer than `deal`.
template <class P>
void expect_segments(const P& p) {
  std::int64_t at = 0;
  for (std::int64_t i = 0; i < p.segments(); ++i) {
    EXPECT_EQ(p.segment(i).begin, at);
    EXPECT_LE(p.segment(i).size(), p.deal);
    at = p.segment(i).end;
  }
  EXPECT_EQ(at, p.channels);
}

mluopsRoiAlignRotatedShape rotated(mluOpDataType_t dtype, std::int64_t c) {
  return {dtype, 2, 50, 84, c, 32, 7, 7, 0.0625f, 2, 1, 0};
}

TEST(RoiAlignRotatedPlan, equal_parts_of_nram) {
  const auto forward = plan_roi_align_rotated(rotated(MLUOP_DTYPE_FLOAT, 256), Direction::kForward, k640);
  EXPECT_EQ(forward.deal, (655360 - 128) / 9 / 128 * 32);
  EXPECT_EQ(forward.bins, 32 * 49);
  EXPECT_EQ(forward.buffer[1] - forward.buffer[0], 4 * forward.deal * 4);
  const auto backward = plan_roi_align_rotated(rotated(MLUOP_DTYPE_HALF, 256), Direction::kBackward, k640);
  EXPECT_EQ(backward.deal, (655360 - 128) / 4 / 128 * 64);
  EXPECT_EQ(backward.buffer[1] - backward.buffer[0], 2 * backward.deal * 2);
}

TEST(RoiAlignRotatedPlan, covers_and_fits_everywhere) {
  for (const Machine& machine : machines())
    for (mluOpDataType_t dtype : {MLUOP_DTYPE_HALF, MLUOP_DTYPE_FLOAT})
      for (std::int64_t c : {1, 31, 256, 70000})
        for (Direction direction : kDirections) {
          const auto p = plan_roi_align_rotated(rotated(dtype, c), direction, machine);
          ASSERT_TRUE(p.ok()) << p.refusal;
          expect_partition_fits(p, machine);
          expect_segments(p);
        }
  EXPECT_FALSE(plan_roi_align_rotated(rotated(MLUOP_DTYPE_FLOAT, 1), Direction::kForward, {1279, 1, 1, 372}).ok());
  EXPECT_TRUE(plan_roi_align_rotated(rotated(MLUOP_DTYPE_FLOAT, 1), Direction::kForward, {1280, 1, 1, 372}).ok());
  EXPECT_FALSE(plan_roi_align_rotated(rotated(MLUOP_DTYPE_DOUBLE, 1), Direction::kForward, k640).ok());
}

mluopsMsDeformAttnShape attention(std::int64_t channels) {
  return {MLUOP_DTYPE_FLOAT, 2, 100, 8, channels, 4, 300, 4};
}

TEST(MsDeformAttnPlan, eleven_and_eight_arrays) {
  const auto forward = plan_ms_deform_attn(attention(32), Direction::kForward, k640);
  EXPECT_EQ(forward.units, 2 * 300 * 8);
  EXPECT_EQ(forward.deal, (655360 - 128) / 11 / 128 * 32);
  const auto backward = plan_ms_deform_attn(attention(32), Direction::kBackward, k640);
  EXPECT_EQ(backward.units, 2 * 300 * 8 * 4);
  EXPECT_EQ(backward.deal, (655360 - 64) / 8 / 128 * 32);
  EXPECT_EQ(backward.arrays[0], 64);
  EXPECT_EQ(plan_ms_deform_attn(attention(32), Direction::kBackward, k384).arrays[0], 128);
}

TEST(MsDeformAttnPlan, covers_and_fits_everywhere) {
  for (const Machine& machine : machines())
    for (std::int64_t c : {1, 32, 5000, 70000})
      for (Direction direction : kDirections) {
        const auto p = plan_ms_deform_attn(attention(c), direction, machine);
        ASSERT_TRUE(p.ok()) << p.refusal;
        expect_partition_fits(p, machine);
        expect_segments(p);
      }
  EXPECT_FALSE(plan_ms_deform_attn(attention(1), Direction::kForward, {1535, 1, 1, 372}).ok());
  EXPECT_TRUE(plan_ms_deform_attn(attention(1), Direction::kForward, {1536, 1, 1, 372}).ok());
}

mluopsPsRoiPoolShape pool(std::int64_t side, std::int64_t output_dim) {
  return {MLUOP_DTYPE_FLOAT, 2, 14, 14, 320, side, side, output_dim, 1.0f};
}

TEST(PsRoiPoolPlan, parts_of_channels) {
  const auto p = plan_ps_roi_pool_forward(pool(7, 5000), k640);
  EXPECT_EQ(p.padded_bins, 64);
  EXPECT_EQ(p.deal, 655360 / ((2 + 2 * 64) * 4) / 16 * 16);
  EXPECT_EQ(plan_ps_roi_pool_forward(pool(7, 5000), k384).deal, 393216 / ((2 + 2 * 64) * 4) / 32 * 32);
  EXPECT_EQ(plan_ps_roi_pool_forward(pool(7, 21), k640).deal, 32) << "no more than there are";
  EXPECT_EQ(plan_ps_roi_pool_backward(pool(7, 8), k640).deal, (655360 - 128) / 8 / 32 * 32);
}

TEST(PsRoiPoolPlan, declines_more_bins_than_nram_holds) {
  EXPECT_TRUE(plan_ps_roi_pool_forward(pool(7, 8), {8320, 1, 1, 372}).ok());
  const auto p = plan_ps_roi_pool_forward(pool(7, 8), {8319, 1, 1, 372});
  EXPECT_NE(p.refusal.find("need 8320 bytes"), std::string::npos) << p.refusal;
}

TEST(PsRoiPoolPlan, covers_and_fits_everywhere) {
  for (const Machine& machine : machines())
    for (std::int64_t side : {1, 3, 7, 14})
      for (std::int64_t output_dim : {1, 21, 4000}) {
        const auto forward = plan_ps_roi_pool_forward(pool(side, output_dim), machine);
        if (forward.ok()) expect_partition_fits(forward, machine);
        EXPECT_TRUE(forward.ok() || side == 14) << forward.refusal;
        const auto backward = plan_ps_roi_pool_backward(pool(side, output_dim), machine);
        ASSERT_TRUE(backward.ok()) << backward.refusal;
        expect_partition_fits(backward, machine);
      }
}

}  // namespace
}  // namespace mluops::emu::plan
