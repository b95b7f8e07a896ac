#include "backends/mlu_emu/plan/border_align.h"

#include "test/plan/support.h"

namespace mluops::emu::plan {
namespace {

mluopsBorderAlignShape shape_of(mluOpDataType_t dtype, std::int64_t c, std::int64_t n = 2, std::int64_t k = 35) {
  return {dtype, n, 5, 7, c, k, 10};
}

std::vector<Machine> machines_and_tiny() {
  std::vector<Machine> all = machines();
  for (std::int64_t nram : {5248, 8192, 20000}) all.push_back({nram, 3, 3, 372});
  return all;
}

std::int64_t bytes_of(mluOpDataType_t dtype) {
  return dtype == MLUOP_DTYPE_HALF ? 2 : 4;
}

TEST(PlanBorderAlign, segments_of_the_known_nram_sizes) {
  struct Row {
    std::int64_t nram;
    mluOpDataType_t dtype;
    std::int64_t forward, forward_bytes, backward;
  };
  const Row rows[] = {
      {393216, MLUOP_DTYPE_FLOAT, 9728, 389248, 32640},  {393216, MLUOP_DTYPE_HALF, 17792, 391552, 49024},
      {655360, MLUOP_DTYPE_FLOAT, 16256, 650368, 54528}, {655360, MLUOP_DTYPE_HALF, 29696, 653440, 81792},
      {327680, MLUOP_DTYPE_FLOAT, 8064, 322688, 27264},  {327680, MLUOP_DTYPE_HALF, 14848, 326784, 40832}};
  for (const Row& row : rows) {
    const Machine machine{row.nram, 4, 4, 372};
    const BorderAlignPlan forward = plan_border_align_forward(shape_of(row.dtype, 256), machine);
    EXPECT_EQ(forward.deal, row.forward);
    EXPECT_EQ(forward.nram.bytes(), row.forward_bytes);
    EXPECT_EQ(plan_border_align_backward(shape_of(row.dtype, 256), machine).deal, row.backward);
  }
}

TEST(PlanBorderAlign, grid_is_always_full) {
  const auto one_box = shape_of(MLUOP_DTYPE_FLOAT, 8, 1, 1);
  EXPECT_EQ(plan_border_align_forward(one_box, {393216, 8, 4, 592}).launch, (Launch{TaskType::kUnion1, 4, 8, 1}));
  EXPECT_EQ(plan_border_align_backward(one_box, {65536, 3, 3, 372}).launch, (Launch{TaskType::kUnion1, 3, 3, 1}));
}

TEST(PlanBorderAlign, round_robin_visits_every_unit_once) {
  for (const Machine& machine : machines()) {
    for (std::int64_t k : {1, 2, 17, 35, 100}) {
      for (bool backward : {false, true}) {
        const auto shape = shape_of(MLUOP_DTYPE_HALF, 8, 2, k);
        const auto plan =
            backward ? plan_border_align_backward(shape, machine) : plan_border_align_forward(shape, machine);
        ASSERT_EQ(plan.units, 2 * k * (backward ? 4 : 1));
        std::vector<int> visits(plan.units, 0);
        for (std::int64_t task = 0; task < plan.launch.tasks(); ++task) {
          for (std::int64_t unit = task; unit < plan.units; unit += plan.launch.tasks()) ++visits[unit];
        }
        EXPECT_EQ(std::count(visits.begin(), visits.end(), 1), plan.units);
      }
    }
  }
}

void expect_segments_cover_once(const BorderAlignPlan& plan) {
  std::int64_t at = 0;
  for (std::int64_t i = 0; i < plan.segments(); ++i) {
    ASSERT_EQ(plan.segment(i).begin, at);
    ASSERT_GT(plan.segment(i).size(), 0);
    // Four packed rows of the padded length stay inside ping, one inside output and argmax.
    ASSERT_LE(plan.padded(plan.segment(i).size()), plan.deal);
    ASSERT_GE(plan.padded(plan.segment(i).size()), plan.segment(i).size());
    at = plan.segment(i).end;
  }
  ASSERT_EQ(at, plan.channels);
}

void expect_forward_layout(const BorderAlignPlan& plan, std::int64_t size) {
  ASSERT_EQ(plan.ping, 0);
  ASSERT_EQ(plan.pong, 4 * plan.deal * size);
  ASSERT_EQ(plan.output, 8 * plan.deal * size);
  ASSERT_EQ(plan.boxes, 9 * plan.deal * size);
  ASSERT_EQ(plan.argmax, plan.boxes + 128);
  ASSERT_EQ(plan.argmax + 4 * plan.deal, plan.nram.bytes());
}

void expect_backward_layout(const BorderAlignPlan& plan, std::int64_t size) {
  ASSERT_EQ(plan.boxes, 0);
  ASSERT_EQ(plan.grad_output, 128);
  ASSERT_EQ(plan.grad_input, 128 + plan.deal * size);
  ASSERT_EQ(plan.argmax, plan.grad_input + plan.deal * size);
  ASSERT_EQ(plan.argmax + 4 * plan.deal, plan.nram.bytes());
  // The int32 lanes of the compared index start at grad_output and end before argmax.
  ASSERT_LE(plan.grad_output + 4 * plan.deal, plan.argmax + (size == 4 ? plan.deal * 4 : 0));
}

TEST(PlanBorderAlign, fits_and_covers_everywhere) {
  for (const Machine& machine : machines_and_tiny()) {
    for (mluOpDataType_t dtype : {MLUOP_DTYPE_FLOAT, MLUOP_DTYPE_HALF}) {
      const std::int64_t deal = plan_border_align_forward(shape_of(dtype, 1), machine).deal;
      for (std::int64_t c : {std::int64_t{1}, std::int64_t{5}, std::int64_t{127}, std::int64_t{128}, std::int64_t{129},
                             std::int64_t{1024}, deal - 1, deal, deal + 1, 3 * deal + 1}) {
        const auto forward = plan_border_align_forward(shape_of(dtype, c), machine);
        const auto backward = plan_border_align_backward(shape_of(dtype, c), machine);
        ASSERT_TRUE(forward.ok() && backward.ok()) << forward.refusal << backward.refusal;
        for (const BorderAlignPlan& plan : {forward, backward}) {
          expect_partition_fits(plan, machine);
          expect_segments_cover_once(plan);
        }
        expect_forward_layout(forward, bytes_of(dtype));
        expect_backward_layout(backward, bytes_of(dtype));
      }
    }
  }
}

TEST(PlanBorderAlign, refusals_name_their_reason) {
  const auto float_shape = shape_of(MLUOP_DTYPE_FLOAT, 8), half_shape = shape_of(MLUOP_DTYPE_HALF, 8);
  EXPECT_FALSE(plan_border_align_forward(float_shape, {5247, 1, 1, 372}).ok());
  EXPECT_TRUE(plan_border_align_forward(float_shape, {5248, 1, 1, 372}).ok());
  EXPECT_FALSE(plan_border_align_forward(half_shape, {2943, 1, 1, 372}).ok());
  EXPECT_TRUE(plan_border_align_forward(half_shape, {2944, 1, 1, 372}).ok());
  EXPECT_FALSE(plan_border_align_backward(float_shape, {1663, 1, 1, 372}).ok());
  EXPECT_TRUE(plan_border_align_backward(float_shape, {1664, 1, 1, 372}).ok());
  EXPECT_FALSE(plan_border_align_forward(shape_of(MLUOP_DTYPE_DOUBLE, 8), {393216, 1, 1, 372}).ok());
  auto huge = float_shape;
  huge.pool_size = INT32_MAX;
  EXPECT_NE(plan_border_align_forward(huge, {393216, 1, 1, 372}).refusal.find("sample steps"), std::string::npos);
}

}  // namespace
}  // namespace mluops::emu::plan
