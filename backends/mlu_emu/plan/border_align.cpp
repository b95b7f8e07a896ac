#include "backends/mlu_emu/plan/border_align.h"

#include "common/shape.h"

namespace mluops::emu::plan {
namespace {

constexpr std::int64_t kBorders = 4;
constexpr std::int64_t kArgmaxBytes = 4;
constexpr std::int64_t kForwardRows = 9;   // 4 ping, 4 pong, output
constexpr std::int64_t kBackwardRows = 2;  // grad_output, grad_input

// Longest segment, in elements, when `rows` rows of the tensors' type, one of int32 and a box share NRAM.
std::int64_t longest_segment(const Machine& machine, std::int64_t rows, std::int64_t size) {
  const std::int64_t left = std::max<std::int64_t>(machine.nram_bytes - kNfuAlign, 0);
  return round_down(left / (rows * size + kArgmaxBytes), kNfuAlign);
}

// What forward and backward have in common; the NRAM map is theirs to draw.
BorderAlignPlan make_plan(const mluopsBorderAlignShape& shape, const Machine& machine, std::int64_t rows) {
  BorderAlignPlan plan;
  if (shape.dtype != MLUOP_DTYPE_HALF && shape.dtype != MLUOP_DTYPE_FLOAT) {
    plan.refusal = "dtype must be half or float";
    return plan;
  }
  plan.launch = whole_machine(machine);
  plan.units = shape.n * shape.k;
  plan.channels = shape.c;
  plan.deal = longest_segment(machine, rows, element_bytes(shape.dtype));
  if (plan.deal < 1) {
    plan.refusal = "NRAM of " + std::to_string(machine.nram_bytes) + " bytes does not hold a segment of 128 channels";
    return plan;
  }
  const auto steps = checked_product({plan.units, kBorders, plan.segments(), shape.pool_size + 1});
  if (!steps || *steps > kBorderAlignMaxSteps) {
    plan.refusal = "more than " + std::to_string(kBorderAlignMaxSteps) + " sample steps";
  }
  return plan;
}

std::int64_t add_corners(NramMap& map, const std::string& buffer, std::int64_t row_bytes) {
  const std::int64_t start = map.add(buffer + "_lt", row_bytes);
  for (const char* corner : {"_rt", "_lb", "_rb"}) map.add(buffer + corner, row_bytes);
  return start;
}

}  // namespace

BorderAlignPlan plan_border_align_forward(const mluopsBorderAlignShape& shape, const Machine& machine) {
  BorderAlignPlan plan = make_plan(shape, machine, kForwardRows);
  if (!plan.ok()) return plan;
  const std::int64_t row_bytes = plan.deal * element_bytes(shape.dtype);
  plan.ping = add_corners(plan.nram, "ping", row_bytes);
  plan.pong = add_corners(plan.nram, "pong", row_bytes);
  plan.output = plan.nram.add("output", row_bytes);
  plan.boxes = plan.nram.add("boxes", kNfuAlign);
  plan.argmax = plan.nram.add("argmax", plan.deal * kArgmaxBytes);
  return plan;
}

BorderAlignPlan plan_border_align_backward(const mluopsBorderAlignShape& shape, const Machine& machine) {
  BorderAlignPlan plan = make_plan(shape, machine, kBackwardRows);
  if (!plan.ok()) return plan;
  const std::int64_t row_bytes = plan.deal * element_bytes(shape.dtype);
  plan.units *= kBorders;
  plan.boxes = plan.nram.add("boxes", kNfuAlign);
  plan.grad_output = plan.nram.add("grad_output", row_bytes);
  plan.grad_input = plan.nram.add("grad_input", row_bytes);
  plan.argmax = plan.nram.add("argmax", plan.deal * kArgmaxBytes);
  return plan;
}

}  // namespace mluops::emu::plan
