#include "backends/mlu_emu/plan/carafe.h"

#include "common/shape.h"

namespace mluops::emu::plan {
namespace {

constexpr std::int64_t kParts = 5;

bool refuse_tensors(Plan& p, const mluopsCarafeShape& s) {
  return refuse_large_tensor(p, "the input", {s.n, s.h, s.w, s.c}) ||
         refuse_large_tensor(p, "the mask", {s.n, s.ho, s.wo, s.group, s.kernel, s.kernel}) ||
         refuse_large_tensor(p, "the output", {s.n, s.ho, s.wo, s.c});
}

std::int64_t element_bytes(Plan& p, const mluopsCarafeShape& s) {
  if (s.dtype == MLUOP_DTYPE_HALF) return 2;
  if (s.dtype != MLUOP_DTYPE_FLOAT) p.refusal = "the device's carafe takes half and float only";
  return 4;
}

/// Elements of each area for the plan's block.
struct Areas {
  std::int64_t channel_stride, pixel_stride;
  std::int64_t input, mask, output, sum;

  std::int64_t total() const { return input + mask + output + sum; }
};

Areas areas_of(const CarafeForwardPlan& p, const mluopsCarafeShape& s, const Machine& machine, std::int64_t bytes) {
  const std::int64_t a = machine.vector_alignment() / bytes, b = kNfuAlign / bytes, halo = s.kernel - 1;
  const std::int64_t cs = round_up(p.block_c, a), row = round_up(cs * p.block_g, b);
  const std::int64_t pixels = s.scale * p.block_h * s.scale * p.block_w;
  return {cs,
          row,
          (p.block_h + halo) * (p.block_w + halo) * cs * p.block_g,
          round_up(pixels * s.kernel * s.kernel * p.block_g, a),
          pixels * row,
          std::max(row, (p.block_g - 1) * cs + round_up(cs, b))};
}

void reset_rows_and_columns(CarafeForwardPlan& p, const mluopsCarafeShape& s) {
  p.grid_h = p.grid_w = 1;
  p.block_h = s.h, p.block_w = s.w;
}

/// One step towards a smaller block: the longer of rows and columns, then groups, then channels. False at the end.
bool shrink(CarafeForwardPlan& p, const mluopsCarafeShape& s) {
  if (p.block_h > 1 && p.block_h >= p.block_w) {
    p.block_h = ceil_div(s.h, ++p.grid_h);
  } else if (p.block_w > 1) {
    p.block_w = ceil_div(s.w, ++p.grid_w);
  } else if (p.block_g > 1) {
    p.block_g = ceil_div(s.group, ++p.grid_g);
    reset_rows_and_columns(p, s);
  } else if (p.block_c > 1) {
    p.block_c = ceil_div(s.c / s.group, ++p.grid_c);
    reset_rows_and_columns(p, s);
  } else {
    return false;
  }
  return true;
}

/// The first block on the way down that fits.
bool find_block(CarafeForwardPlan& p, const mluopsCarafeShape& s, const Machine& machine, std::int64_t bytes) {
  reset_rows_and_columns(p, s);
  p.block_g = s.group;
  p.block_c = s.c / s.group;
  while (areas_of(p, s, machine, bytes).total() > machine.nram_bytes / bytes)
    if (!shrink(p, s)) return false;
  return true;
}

void lay_out(CarafeForwardPlan& p, const mluopsCarafeShape& s, const Machine& machine, std::int64_t bytes) {
  const Areas areas = areas_of(p, s, machine, bytes);
  p.channel_stride = areas.channel_stride;
  p.pixel_stride = areas.pixel_stride;
  p.input_offset = p.nram.add("input", areas.input * bytes);
  p.mask_offset = p.nram.add("mask", areas.mask * bytes);
  p.output_offset = p.nram.add("output", areas.output * bytes);
  p.sum_offset = p.nram.add("sum", areas.sum * bytes);
}

/// B: a fifth of NRAM, rounded down to the vector alignment.
std::int64_t part_bytes(const Machine& machine) {
  return round_down(machine.nram_bytes / kParts, machine.vector_alignment());
}

}  // namespace

CarafeForwardPlan plan_carafe_forward(const mluopsCarafeShape& shape, const Machine& machine) {
  CarafeForwardPlan p;
  const std::int64_t bytes = element_bytes(p, shape);
  if (!p.ok() || refuse_tensors(p, shape)) return p;
  if (!find_block(p, shape, machine, bytes)) {
    p.refusal = "even one pixel of one channel with kernel_size " + std::to_string(shape.kernel) +
                " and scale_factor " + std::to_string(shape.scale) + " would " +
                nram_shortage(areas_of(p, shape, machine, bytes).total() * bytes, machine);
    return p;
  }
  lay_out(p, shape, machine, bytes);
  p.jobs = shape.n * p.grid_h * p.grid_w * p.grid_g * p.grid_c;
  p.launch = p.jobs < machine.cores() ? Launch{TaskType::kBlock, p.jobs, 1, 1}
                                      : Launch{TaskType::kBlock, machine.cores_per_cluster, machine.clusters, 1};
  return p;
}

CarafeJob carafe_job(const CarafeForwardPlan& plan, const mluopsCarafeShape& shape, std::int64_t index) {
  CarafeJob job;
  job.c = block_share(shape.c / shape.group, plan.block_c, index % plan.grid_c);
  index /= plan.grid_c;
  job.g = block_share(shape.group, plan.block_g, index % plan.grid_g);
  index /= plan.grid_g;
  job.w = block_share(shape.w, plan.block_w, index % plan.grid_w);
  index /= plan.grid_w;
  job.h = block_share(shape.h, plan.block_h, index % plan.grid_h);
  job.n = index / plan.grid_h;
  return job;
}

std::int64_t carafe_backward_max_kernel(const Machine& machine, std::int64_t element_bytes) {
  std::int64_t k = -1;
  while ((k + 2) * (k + 2) * element_bytes <= part_bytes(machine)) k += 2;
  return k;
}

CarafeBackwardPlan plan_carafe_backward(const mluopsCarafeShape& shape, const Machine& machine) {
  CarafeBackwardPlan p;
  const std::int64_t bytes = element_bytes(p, shape);
  if (!p.ok() || refuse_tensors(p, shape)) return p;
  p.part_bytes = part_bytes(machine);
  if (shape.kernel * shape.kernel * bytes > p.part_bytes || p.part_bytes < kNfuAlign) {
    p.refusal = "kernel_size " + std::to_string(shape.kernel) + " needs " +
                std::to_string(shape.kernel * shape.kernel * bytes) + " bytes, a fifth of NRAM has " +
                std::to_string(p.part_bytes) + " (" + std::to_string(machine.nram_bytes) + " in all)";
    return p;
  }
  p.chunk = round_down(p.part_bytes, kNfuAlign) / bytes;
  p.lanes = machine.vector_alignment() / bytes;
  p.full_chunks = shape.c / shape.group / p.chunk;
  p.rest = shape.c / shape.group % p.chunk;
  p.pooled_offset = p.nram.add("input, product, sum", p.part_bytes);
  p.mask_offset = p.nram.add("mask", p.part_bytes);
  p.scaled_offset = p.nram.add("mask * grad_output", p.part_bytes);
  p.grad_output_offset = p.nram.add("grad_output", p.part_bytes);
  p.grad_mask_offset = p.nram.add("grad_mask", p.part_bytes);
  p.items = shape.n * shape.ho * shape.wo * shape.group;
  p.launch = {TaskType::kBlock, machine.cores_per_cluster, machine.clusters, 1};
  return p;
}

}  // namespace mluops::emu::plan
