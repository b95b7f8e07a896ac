#include "backends/mlu_emu/plan/psamask.h"

#include <bit>

#include "test/emu/support.h"

namespace mluops::emu::test {
namespace {

/// Calls visit(x index, y index) for every cell the mask covers.
template <class Visit>
void for_cells(const mluopsPsamaskShape& s, const Visit& visit) {
  const std::int64_t half_h = (s.h_mask - 1) / 2, half_w = (s.w_mask - 1) / 2, hw = s.h * s.w;
  for (std::int64_t n = 0; n < s.n; ++n)
    for (std::int64_t p = 0; p < hw; ++p)
      for (std::int64_t i = 0; i < s.h_mask * s.w_mask; ++i) {
        const std::int64_t y = p / s.w + i / s.w_mask - half_h, x = p % s.w + i % s.w_mask - half_w;
        if (y < 0 || y >= s.h || x < 0 || x >= s.w) continue;
        const std::int64_t target = y * s.w + x;
        visit((n * hw + p) * s.h_mask * s.w_mask + i,
              s.psa_type == 0 ? (n * hw + p) * hw + target : (n * hw + target) * hw + p);
      }
}

std::int64_t narrow_elements(const mluopsPsamaskShape& s) {
  return s.n * s.h * s.w * s.h_mask * s.w_mask;
}
std::int64_t wide_elements(const mluopsPsamaskShape& s) {
  return s.n * s.h * s.w * s.h * s.w;
}

std::string describe(const mluopsPsamaskShape& s, const MachineSpec& m) {
  return std::string(m.arch) + "/" + std::to_string(m.nram_bytes) + " type " + std::to_string(s.psa_type) + " of " +
         std::to_string(s.n) + "x" + std::to_string(s.h) + "x" + std::to_string(s.w) + " mask " +
         std::to_string(s.h_mask) + "x" + std::to_string(s.w_mask);
}

mluOpStatus_t check_forward(const mluopsPsamaskShape& s, const MachineSpec& spec) {
  auto x = random_values<float>(narrow_elements(s), 5);
  x[0] = std::bit_cast<float>(0xffc12345u);  // a NaN travels with its bits
  auto y = untouched<float>(wide_elements(s));
  Emulator emulator(spec);
  const auto status = emulator.run(&mluopsBackend::psamask_forward,
                                   mluopsPsamaskForwardProblem{s, x.data(), y.data(), MLUOP_LAYOUT_NHWC});
  if (status == MLUOP_STATUS_NOT_SUPPORTED) return status;
  EXPECT_EQ(status, MLUOP_STATUS_SUCCESS) << error_text();
  std::vector<float> want(y.size());
  for_cells(s, [&](std::int64_t from, std::int64_t to) { want[to] = x[from]; });
  expect_same_bits(y, want, "y on " + describe(s, spec));
  return status;
}

mluOpStatus_t check_backward(const mluopsPsamaskShape& s, const MachineSpec& spec) {
  const auto dy = random_values<float>(wide_elements(s), 6);
  auto dx = untouched<float>(narrow_elements(s));
  Emulator emulator(spec);
  const auto status = emulator.run(&mluopsBackend::psamask_backward,
                                   mluopsPsamaskBackwardProblem{s, dy.data(), dx.data(), MLUOP_LAYOUT_NHWC});
  if (status == MLUOP_STATUS_NOT_SUPPORTED) return status;
  EXPECT_EQ(status, MLUOP_STATUS_SUCCESS) << error_text();
  std::vector<float> want(dx.size());
  for_cells(s, [&](std::int64_t to, std::int64_t from) { want[to] = dy[from]; });
  expect_same_bits(dx, want, "dx on " + describe(s, spec));
  return status;
}

mluopsPsamaskShape shape_of(std::int64_t n, std::int64_t h, std::int64_t w, std::int64_t hm, std::int64_t wm,
                            int type) {
  return {MLUOP_DTYPE_FLOAT, n, h, w, hm, wm, type};
}

TEST(EmuPsamask, both_directions_on_every_machine) {
  for (const MachineSpec& spec : machine_specs())
    for (int type : {0, 1})
      for (const auto& s :
           {shape_of(4, 8, 8, 4, 4, type), shape_of(1, 1, 1, 1, 1, type), shape_of(37, 3, 5, 7, 2, type),
            shape_of(1, 13, 4, 27, 3, type), shape_of(2, 1, 40, 1, 9, type), shape_of(2, 40, 1, 9, 1, type)}) {
        EXPECT_EQ(check_forward(s, spec), MLUOP_STATUS_SUCCESS) << error_text();
        EXPECT_EQ(check_backward(s, spec), MLUOP_STATUS_SUCCESS) << error_text();
      }
}

TEST(EmuPsamask, every_kind_of_segment) {
  int seen[3] = {};  // images, rows, pixels
  for (std::int64_t nram : {4096, 12288, 32768, 65536}) {
    const MachineSpec spec{"mtp_372", nram, 2, 2};
    for (int type : {0, 1})
      for (const auto& s : {shape_of(9, 3, 4, 5, 5, type), shape_of(2, 5, 18, 3, 3, type),
                            shape_of(1, 2, 49, 3, 7, type), shape_of(5, 7, 3, 4, 6, type)}) {
        const auto p = plan::plan_psamask(s, plan::Direction::kForward, {nram, 2, 2, 372});
        const auto want = p.ok() ? MLUOP_STATUS_SUCCESS : MLUOP_STATUS_NOT_SUPPORTED;
        EXPECT_EQ(check_forward(s, spec), want) << error_text();
        EXPECT_EQ(check_backward(s, spec), want) << error_text();
        if (p.ok()) ++seen[p.segment_w < s.w ? 2 : p.segment_h < p.h_per_core ? 1 : 0];
      }
  }
  for (int count : seen) EXPECT_GT(count, 0);
}

TEST(EmuPsamask, worked_example) {
  const auto s = shape_of(1, 2, 2, 3, 3, 0);
  std::vector<float> x(36), y(16);
  for (int i = 0; i < 36; ++i) x[i] = static_cast<float>(10 * (i / 9) + i % 9);
  Emulator emulator(machine_specs()[0]);
  ASSERT_EQ(emulator.run(&mluopsBackend::psamask_forward,
                         mluopsPsamaskForwardProblem{s, x.data(), y.data(), MLUOP_LAYOUT_NHWC}),
            MLUOP_STATUS_SUCCESS)
      << error_text();
  EXPECT_EQ(y, (std::vector<float>{4, 5, 7, 8, 13, 14, 16, 17, 21, 22, 24, 25, 30, 31, 33, 34}));
}

TEST(EmuPsamask, declines_what_one_segment_cannot_hold) {
  const auto s = shape_of(1, 60, 60, 59, 59, 0);
  std::vector<float> x(static_cast<std::size_t>(narrow_elements(s)));
  auto y = untouched<float>(wide_elements(s));
  const auto before = y;
  Emulator emulator({"mtp_592", 393216, 8, 4});
  EXPECT_EQ(emulator.run(&mluopsBackend::psamask_forward,
                         mluopsPsamaskForwardProblem{s, x.data(), y.data(), MLUOP_LAYOUT_NHWC}),
            MLUOP_STATUS_NOT_SUPPORTED);
  EXPECT_NE(error_text().find("size of input channel is too large"), std::string::npos) << error_text();
  expect_same_bits(y, before, "y");
}

}  // namespace
}  // namespace mluops::emu::test
