#include "backends/mlu_emu/plan/focal_loss.h"

#include "test/plan/support.h"

namespace mluops::emu::plan {
namespace {

mluopsFocalLossShape shape_of(std::int64_t n, std::int64_t c, mluOpDataType_t dtype = MLUOP_DTYPE_FLOAT) {
  return {dtype, n, c, 0.25f, 2.0f};
}

const Machine k640{655360, 4, 4, 372};

TEST(FocalLossPlan, retinanet_rows) {
  const auto p = plan_focal_loss_sigmoid(shape_of(34200, 80), Direction::kForward, false, k640);
  ASSERT_TRUE(p.ok()) << p.refusal;
  EXPECT_EQ(p.launch, (Launch{TaskType::kUnion1, 4, 4, 1}));
  EXPECT_EQ(p.block_rows, (655360 - 64 * 24 - 2 * 128) / (80 * 24 + 8));
  EXPECT_EQ(p.block_classes, 80);
  EXPECT_EQ(p.pitch, 80);
}

TEST(FocalLossPlan, rows_with_weights_begin_at_whole_lines_on_the_200_series) {
  EXPECT_EQ(plan_focal_loss_sigmoid(shape_of(9, 80), Direction::kForward, true, k640).pitch, 80);
  EXPECT_EQ(plan_focal_loss_sigmoid(shape_of(9, 80), Direction::kForward, true, {393216, 4, 4, 270}).pitch, 128);
}

TEST(FocalLossPlan, only_forward_cuts_classes) {
  // The largest row beside a unit of 64 elements, the targets and, where there is one, the weight.
  const std::int64_t most = (655360 - 64 * 24 - 2 * 128 - 8) / 24;
  for (Direction direction : {Direction::kForward, Direction::kBackward}) {
    EXPECT_TRUE(plan_focal_loss_sigmoid(shape_of(3, most), direction, false, k640).whole_rows());
  }
  const auto cut = plan_focal_loss_sigmoid(shape_of(3, most + 1), Direction::kForward, false, k640);
  EXPECT_EQ(cut.block_rows, 1);
  EXPECT_EQ(cut.block_classes, 27264);  // (655360 - 3 * 128) / 24, in units of 64
  const auto refused = plan_focal_loss_sigmoid(shape_of(3, most + 1), Direction::kBackward, false, k640);
  EXPECT_NE(refused.refusal.find(std::to_string(most + 1) + " classes"), std::string::npos) << refused.refusal;
}

TEST(FocalLossPlan, covers_and_fits_everywhere) {
  for (const Machine& machine : machines())
    for (std::int64_t n : {1, 7, 300, 40000})
      for (std::int64_t c : {1, 3, 80, 1000, 30000})
        for (bool weighted : {false, true})
          for (mluOpDataType_t dtype : {MLUOP_DTYPE_HALF, MLUOP_DTYPE_FLOAT})
            for (Direction direction : {Direction::kForward, Direction::kBackward}) {
              const auto p = plan_focal_loss_sigmoid(shape_of(n, c, dtype), direction, weighted, machine);
              EXPECT_TRUE(p.ok() || direction == Direction::kBackward) << p.refusal;
              if (!p.ok()) continue;
              expect_partition_fits(p, machine);
              EXPECT_GE(p.block_rows, 1);
              EXPECT_GE(p.pitch, p.block_classes);
              const std::int64_t size = dtype == MLUOP_DTYPE_HALF ? 2 : 4;
              EXPECT_GE(p.output[0] - p.input[0], p.block_rows * p.pitch * size);
              EXPECT_EQ(p.input[0] % machine.vector_alignment(), 0);
            }
}

TEST(FocalLossPlan, declines_other_types_and_large_tensors) {
  EXPECT_FALSE(plan_focal_loss_sigmoid(shape_of(3, 4, MLUOP_DTYPE_DOUBLE), Direction::kForward, false, k640).ok());
  EXPECT_FALSE(plan_focal_loss_sigmoid(shape_of(1 << 20, 1 << 11), Direction::kForward, false, k640).ok());
}

}  // namespace
}  // namespace mluops::emu::plan
