#include "backends/mlu_emu/plan/carafe.h"

#include <array>

#include "test/plan/support.h"

namespace mluops::emu::plan {
namespace {

const Machine k384{393216, 8, 4, 592};
const Machine k640{655360, 4, 4, 372};
const Machine k320{327680, 8, 4, 592};

mluopsCarafeShape shape_of(mluOpDataType_t dtype, std::int64_t n, std::int64_t h, std::int64_t w, std::int64_t c,
                           std::int64_t k, std::int64_t g, std::int64_t s) {
  return {dtype, n, h, w, c, s * h, s * w, k, g, s};
}

struct Block {
  std::array<std::int64_t, 4> block;  // h, w, g, c
  std::array<std::int64_t, 4> grid;
  std::int64_t jobs;
};

void expect_block(const mluopsCarafeShape& shape, const Machine& machine, const Block& want) {
  const auto p = plan_carafe_forward(shape, machine);
  ASSERT_TRUE(p.ok()) << p.refusal;
  EXPECT_EQ((std::array{p.block_h, p.block_w, p.block_g, p.block_c}), want.block);
  EXPECT_EQ((std::array{p.grid_h, p.grid_w, p.grid_g, p.grid_c}), want.grid);
  EXPECT_EQ(p.jobs, want.jobs);
}

TEST(CarafeForwardPlan, worked_blocks_32x32) {
  const auto f = shape_of(MLUOP_DTYPE_FLOAT, 1, 32, 32, 256, 5, 1, 2);
  expect_block(f, k384, {{7, 8, 1, 256}, {5, 4, 1, 1}, 20});
  expect_block(f, k640, {{8, 11, 1, 256}, {4, 3, 1, 1}, 12});
  const auto h = shape_of(MLUOP_DTYPE_HALF, 1, 32, 32, 256, 5, 1, 2);
  expect_block(h, k384, {{11, 11, 1, 256}, {3, 3, 1, 1}, 9});
  expect_block(h, k640, {{11, 16, 1, 256}, {3, 2, 1, 1}, 6});
}

TEST(CarafeForwardPlan, worked_blocks_large) {
  const auto a = shape_of(MLUOP_DTYPE_FLOAT, 1, 128, 128, 256, 5, 1, 2);
  expect_block(a, k384, {{7, 8, 1, 256}, {19, 16, 1, 1}, 304});
  expect_block(a, k640, {{10, 10, 1, 256}, {13, 13, 1, 1}, 169});
  // One tensor of this one has 2^31 elements or more, so the batch-free search is shown on half its height.
  const auto b = shape_of(MLUOP_DTYPE_FLOAT, 1, 256, 512, 2048, 5, 1, 2);
  const auto p = plan_carafe_forward(b, k384);
  EXPECT_EQ((std::array{p.block_h, p.block_w}), (std::array<std::int64_t, 2>{1, 2}));
  const auto q = plan_carafe_forward(b, k640);
  EXPECT_EQ((std::array{q.block_h, q.block_w}), (std::array<std::int64_t, 2>{2, 3}));
}

TEST(CarafeForwardPlan, worked_blocks_at_the_limit) {
  const auto s = shape_of(MLUOP_DTYPE_FLOAT, 1, 32, 32, 64, 45, 4, 5);
  expect_block(s, k384, {{1, 1, 1, 16}, {32, 32, 4, 1}, 4096});
  const auto p = plan_carafe_forward(s, k640);
  EXPECT_EQ((std::array{p.block_h, p.block_w, p.block_g, p.block_c}), (std::array<std::int64_t, 4>{1, 2, 1, 16}));
}

TEST(CarafeForwardPlan, small_case_is_one_block_per_image) {
  const auto p = plan_carafe_forward(shape_of(MLUOP_DTYPE_FLOAT, 2, 3, 3, 64, 5, 4, 2), k384);
  EXPECT_EQ(p.jobs, 2);
  EXPECT_EQ(p.launch, (Launch{TaskType::kBlock, 2, 1, 1}));
}

/// Sums of two groups of 16 channels, each group a row of 128 bytes, its neighbour's begin 64 bytes on.
TEST(CarafeForwardPlan, sums_end_a_whole_line_behind_the_last_group) {
  const auto p = plan_carafe_forward(shape_of(MLUOP_DTYPE_FLOAT, 1, 3, 3, 32, 3, 2, 2), k384);
  ASSERT_EQ(p.block_g, 2);
  EXPECT_EQ(p.nram.regions().back().name, "sum");
  EXPECT_EQ(p.nram.regions().back().bytes, 64 + 128);
}

/// Bytes of the smallest block: one input pixel, one channel.
std::int64_t smallest_block(std::int64_t k, std::int64_t s, std::int64_t bytes, std::int64_t align = 64) {
  const std::int64_t mask = (s * s * k * k * bytes + align - 1) / align * align;
  return k * k * align + mask + s * s * 128 + 128;
}

bool fits(std::int64_t k, std::int64_t s, mluOpDataType_t dtype, const Machine& machine) {
  return plan_carafe_forward(shape_of(dtype, 1, 2, 2, 1, k, 1, s), machine).ok();
}

TEST(CarafeForwardPlan, kernel_and_scale_limits) {
  EXPECT_EQ(smallest_block(45, 5, 4), 335488);
  EXPECT_EQ(smallest_block(45, 6, 4), 425984);
  EXPECT_TRUE(fits(45, 5, MLUOP_DTYPE_FLOAT, k384));
  EXPECT_TRUE(fits(47, 5, MLUOP_DTYPE_FLOAT, k384));
  EXPECT_FALSE(fits(49, 5, MLUOP_DTYPE_FLOAT, k384));
  EXPECT_FALSE(fits(45, 6, MLUOP_DTYPE_FLOAT, k384));
  EXPECT_TRUE(fits(63, 5, MLUOP_DTYPE_FLOAT, k640));
  EXPECT_FALSE(fits(65, 5, MLUOP_DTYPE_FLOAT, k640));
  EXPECT_TRUE(fits(45, 7, MLUOP_DTYPE_FLOAT, k640));
  EXPECT_FALSE(fits(45, 8, MLUOP_DTYPE_FLOAT, k640));
  EXPECT_TRUE(fits(57, 5, MLUOP_DTYPE_HALF, k384));
  EXPECT_FALSE(fits(59, 5, MLUOP_DTYPE_HALF, k384));
  EXPECT_TRUE(fits(45, 7, MLUOP_DTYPE_HALF, k384));
  EXPECT_TRUE(fits(43, 5, MLUOP_DTYPE_FLOAT, k320));
  EXPECT_FALSE(fits(45, 5, MLUOP_DTYPE_FLOAT, k320));
}

TEST(CarafeForwardPlan, refusal_names_the_bytes) {
  const auto p = plan_carafe_forward(shape_of(MLUOP_DTYPE_FLOAT, 1, 2, 2, 1, 45, 1, 5), k320);
  EXPECT_NE(p.refusal.find("335488"), std::string::npos) << p.refusal;
  EXPECT_NE(p.refusal.find("327680"), std::string::npos) << p.refusal;
}

void expect_jobs_cover_once(const CarafeForwardPlan& p, const mluopsCarafeShape& s) {
  const std::int64_t cg = s.c / s.group;
  std::vector<int> visits(static_cast<std::size_t>(s.n * s.h * s.w * s.c));
  for (std::int64_t i = 0; i < p.jobs; ++i) {
    const CarafeJob job = carafe_job(p, s, i);
    ASSERT_GT(job.h.size() * job.w.size() * job.g.size() * job.c.size(), 0) << "empty job " << i;
    for (std::int64_t h = job.h.begin; h < job.h.end; ++h)
      for (std::int64_t w = job.w.begin; w < job.w.end; ++w)
        for (std::int64_t g = job.g.begin; g < job.g.end; ++g)
          for (std::int64_t c = job.c.begin; c < job.c.end; ++c)
            ++visits.at(static_cast<std::size_t>(((job.n * s.h + h) * s.w + w) * s.c + g * cg + c));
  }
  for (int v : visits) ASSERT_EQ(v, 1);
}

void expect_forward_sound(const mluopsCarafeShape& s, const Machine& machine) {
  const auto p = plan_carafe_forward(s, machine);
  const std::int64_t bytes = s.dtype == MLUOP_DTYPE_HALF ? 2 : 4;
  if (!p.ok()) {
    EXPECT_GT(smallest_block(s.kernel, s.scale, bytes, machine.vector_alignment()), machine.nram_bytes / bytes * bytes);
    return;
  }
  expect_partition_fits(p, machine);
  EXPECT_TRUE(p.block_g == 1 || p.block_c == s.c / s.group) << "a block of several groups with split channels";
  EXPECT_LE(p.launch.tasks(), std::max(machine.cores(), std::int64_t{1}));
  expect_jobs_cover_once(p, s);
}

TEST(CarafeForwardPlan, covers_and_fits_everywhere) {
  std::vector<Machine> all = machines();
  all.push_back({8192, 3, 3, 372});
  for (const Machine& machine : all)
    for (auto dtype : {MLUOP_DTYPE_FLOAT, MLUOP_DTYPE_HALF})
      for (std::int64_t k : {1, 5, 9})
        for (std::int64_t s : {1, 2, 5})
          for (auto [h, w] : {std::pair{1, 1}, {1, 23}, {17, 4}, {12, 12}})
            for (auto [c, g] : {std::pair{1, 1}, {6, 3}, {64, 4}, {65, 1}, {132, 2}, {480, 32}})
              expect_forward_sound(shape_of(dtype, 2, h, w, c, k, g, s), machine);
}

TEST(CarafeBackwardPlan, a_fifth_of_nram_holds_one_kernel) {
  const auto shape = shape_of(MLUOP_DTYPE_FLOAT, 1, 2, 2, 8, 3, 1, 2);
  EXPECT_EQ(plan_carafe_backward(shape, k384).part_bytes, 78592);
  EXPECT_EQ(plan_carafe_backward(shape, k640).part_bytes, 131072);
  EXPECT_EQ(plan_carafe_backward(shape, k320).part_bytes, 65536);
  EXPECT_EQ(plan_carafe_backward(shape, k384).chunk, 19648);
  EXPECT_EQ(plan_carafe_backward(shape, k640).chunk, 32768);
  EXPECT_EQ(plan_carafe_backward(shape, k320).chunk, 16384);
  const auto half = shape_of(MLUOP_DTYPE_HALF, 1, 2, 2, 8, 3, 1, 2);
  EXPECT_EQ(plan_carafe_backward(half, k384).chunk, 39296);
  EXPECT_EQ(plan_carafe_backward(half, k640).chunk, 65536);
  EXPECT_EQ(plan_carafe_backward(half, k320).chunk, 32768);
}

TEST(CarafeBackwardPlan, largest_kernel_per_machine) {
  EXPECT_EQ(carafe_backward_max_kernel(k384, 4), 139);
  EXPECT_EQ(carafe_backward_max_kernel(k640, 4), 181);
  EXPECT_EQ(carafe_backward_max_kernel(k320, 4), 127);
  EXPECT_EQ(carafe_backward_max_kernel(k384, 2), 197);
  EXPECT_EQ(carafe_backward_max_kernel(k640, 2), 255);
  EXPECT_EQ(carafe_backward_max_kernel(k320, 2), 181);
  // The documented limit of 137 follows exactly from 375 680 to 386 559 bytes of NRAM.
  EXPECT_EQ(carafe_backward_max_kernel({375679, 1, 1, 372}, 4), 135);
  EXPECT_EQ(carafe_backward_max_kernel({375680, 1, 1, 372}, 4), 137);
  EXPECT_EQ(carafe_backward_max_kernel({386559, 1, 1, 372}, 4), 137);
  EXPECT_EQ(carafe_backward_max_kernel({386560, 1, 1, 372}, 4), 139);
}

TEST(CarafeBackwardPlan, kernel_137_does_not_fit_320_kib) {
  const auto shape = shape_of(MLUOP_DTYPE_FLOAT, 1, 2, 2, 8, 137, 1, 2);
  EXPECT_TRUE(plan_carafe_backward(shape, k384).ok());
  const auto p = plan_carafe_backward(shape, k320);
  EXPECT_NE(p.refusal.find("75076"), std::string::npos) << p.refusal;
  EXPECT_NE(p.refusal.find("65536"), std::string::npos) << p.refusal;
}

TEST(CarafeBackwardPlan, launches_every_core_and_fits) {
  for (const Machine& machine : machines())
    for (auto dtype : {MLUOP_DTYPE_FLOAT, MLUOP_DTYPE_HALF})
      for (std::int64_t c : {1, 100, 19648, 20000, 70000}) {
        const auto shape = shape_of(dtype, 1, 2, 3, c, 5, 1, 2);
        const auto p = plan_carafe_backward(shape, machine);
        ASSERT_TRUE(p.ok()) << p.refusal;
        expect_partition_fits(p, machine);
        EXPECT_EQ(p.full_chunks * p.chunk + p.rest, c);
        EXPECT_LT(p.rest, p.chunk);
        EXPECT_LE(p.chunk * (dtype == MLUOP_DTYPE_HALF ? 2 : 4), p.part_bytes);
        EXPECT_EQ(p.items, 1 * 4 * 6 * 1);
        EXPECT_EQ(p.launch.tasks(), machine.cores());
      }
}

TEST(CarafePlans, decline_other_types_and_large_tensors) {
  EXPECT_FALSE(plan_carafe_forward(shape_of(MLUOP_DTYPE_DOUBLE, 1, 2, 2, 4, 3, 1, 2), k384).ok());
  EXPECT_FALSE(plan_carafe_backward(shape_of(MLUOP_DTYPE_BFLOAT16, 1, 2, 2, 4, 3, 1, 2), k384).ok());
  const auto large = shape_of(MLUOP_DTYPE_FLOAT, 1, 512, 512, 2048, 5, 1, 2);
  EXPECT_NE(plan_carafe_forward(large, k384).refusal.find("2^31"), std::string::npos);
}

}  // namespace
}  // namespace mluops::emu::plan
