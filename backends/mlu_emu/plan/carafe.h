// CARAFE on the device: forward in blocks of the input that fit NRAM, backward one (pixel, group) after the other.
#pragma once

#include "backends/mlu_emu/plan/plan.h"
#include "mluops/problem/carafe.h"

namespace mluops::emu::plan {

/// BLOCK launch over a grid of input blocks; jobs are strided over the tasks, decoded c fastest, then g, w, h, n.
/// NRAM, in elements, with cs = channels of a block rounded up to the vector alignment: the input window with its halo,
/// the mask of the block's output pixels, their output rows (rounded up to 128 B), one row for products.
struct CarafeForwardPlan : Plan {
  std::int64_t block_h = 0, block_w = 0, block_g = 0, block_c = 0;
  std::int64_t grid_h = 1, grid_w = 1, grid_g = 1, grid_c = 1;
  std::int64_t jobs = 0;
  std::int64_t channel_stride = 0;  // cs, elements
  std::int64_t pixel_stride = 0;    // one output row, elements
  std::int64_t input_offset = 0, mask_offset = 0, output_offset = 0, sum_offset = 0;
};

/// One job: where its block starts and how large it is (the last block of an axis takes what is left).
struct CarafeJob {
  std::int64_t n;
  Share h, w, g, c;  // c counts channels within a group
};

CarafeForwardPlan plan_carafe_forward(const mluopsCarafeShape& shape, const Machine& machine);
CarafeJob carafe_job(const CarafeForwardPlan& plan, const mluopsCarafeShape& shape, std::int64_t index);

/// BLOCK launch with every core; items (n, ho, wo, group), group fastest, are strided over the tasks.
/// NRAM in five equal parts: a part must hold one kernel (kernel * kernel elements), and bounds the channel chunk.
struct CarafeBackwardPlan : Plan {
  std::int64_t items = 0;
  std::int64_t part_bytes = 0;
  std::int64_t chunk = 0;  // channels per pass, a multiple of 128 B
  std::int64_t full_chunks = 0, rest = 0;
  std::int64_t lanes = 0;  // elements of one vector alignment
  std::int64_t pooled_offset = 0, mask_offset = 0, scaled_offset = 0, grad_output_offset = 0, grad_mask_offset = 0;
};

/// Largest odd kernel size whose mask fits one part.
std::int64_t carafe_backward_max_kernel(const Machine& machine, std::int64_t element_bytes);

CarafeBackwardPlan plan_carafe_backward(const mluopsCarafeShape& shape, const Machine& machine);

}  // namespace mluops::emu::plan
