#include "backends/mlu_emu/plan/box_iou.h"

#include "test/plan/support.h"

namespace mluops::emu::plan {
namespace {

const Machine k640{655360, 4, 4, 372}, k384{393216, 4, 4, 270};

mluopsBoxIouShape shape_of(std::int64_t n, std::int64_t m, int aligned = 0) {
  return {MLUOP_DTYPE_FLOAT, n, m, 0, aligned, 0};
}

TEST(BoxIouRotatedPlan, lanes_by_the_number_of_arrays) {
  const auto p = plan_box_iou_rotated(shape_of(9, 100000), k640);
  EXPECT_EQ(p.pitch, 5);
  EXPECT_EQ(p.lanes, 655360 / (39 * 4) / 32 * 32);
  const auto wide = plan_box_iou_rotated(shape_of(9, 100000), k384);
  EXPECT_EQ(wide.pitch, 32) << "whole lines are transposed";
  EXPECT_EQ(wide.lanes, 393216 / ((16 + 64) * 4) / 32 * 32);
  EXPECT_EQ(plan_box_iou_rotated(shape_of(9, 70), k640).lanes, 96) << "no more than there are";
}

TEST(BoxIouRotatedPlan, fits_everywhere) {
  for (const Machine& machine : machines())
    for (std::int64_t n : {1, 40, 5000})
      for (std::int64_t m : {1, 33, 100000}) {
        const auto p = plan_box_iou_rotated(shape_of(n, m), machine);
        ASSERT_TRUE(p.ok()) << p.refusal;
        expect_partition_fits(p, machine);
        EXPECT_EQ(p.lanes % 32, 0);
      }
}

TEST(BoxIouRotatedPlan, declines_what_does_not_fit) {
  const auto p = plan_box_iou_rotated(shape_of(3, 5), {4991, 1, 1, 372});
  EXPECT_NE(p.refusal.find("need 4992 bytes"), std::string::npos) << p.refusal;
  EXPECT_FALSE(plan_box_iou_rotated(shape_of(1 << 16, 1 << 16), k640).ok());
  EXPECT_TRUE(plan_box_iou_rotated(shape_of(1 << 20, 1 << 20, 1), k640).ok());
}

}  // namespace
}  // namespace mluops::emu::plan
