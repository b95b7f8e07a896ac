#include "backends/mlu_emu/plan/focal_loss.h"

#include "common/shape.h"

namespace mluops::emu::plan {
namespace {

constexpr std::int64_t kUnit = 64;            // elements that every conversion of the 200 series takes
constexpr std::int64_t kBytesOfElement = 24;  // six arrays of float, or four and four of half
constexpr std::int64_t kTargetBytes = 4;

/// Rows of `pitch` elements that `bytes` hold, with their targets in ping and in pong; a unit of elements is lost to
/// rounding.
std::int64_t rows_that_fit(std::int64_t bytes, std::int64_t pitch) {
  const std::int64_t fixed = kUnit * kBytesOfElement + 2 * kNfuAlign;
  return (bytes - fixed) / (pitch * kBytesOfElement + 2 * kTargetBytes);
}

/// How large a block is; false: nothing fits.
bool cut(FocalLossPlan& plan, bool split, std::int64_t bytes_of_rows, std::int64_t bytes_of_parts) {
  plan.block_classes = plan.classes;
  plan.block_rows = std::min(rows_that_fit(bytes_of_rows, plan.pitch), plan.rows);
  if (plan.block_rows >= 1) return true;
  if (!split) return false;
  plan.block_rows = 1;
  plan.block_classes = plan.pitch = round_down((bytes_of_parts - 2 * kNfuAlign) / kBytesOfElement, kUnit);
  return plan.block_classes >= kUnit;
}

void draw(FocalLossPlan& plan, std::int64_t weight_bytes, std::int64_t size) {
  NramMap& map = plan.nram;
  const std::int64_t elements = round_up(plan.block_rows * plan.pitch, kUnit);
  plan.weight = map.add("weight", weight_bytes);
  for (int i = 0; i < (size == 2 ? 4 : 2); ++i) {
    plan.compute[i] = map.add("compute" + std::to_string(i + 1), elements * 4);
  }
  for (int side = 0; side < 2; ++side) {
    const std::string name = side == 0 ? "ping_" : "pong_";
    plan.input[side] = map.add(name + "input", elements * size);
    plan.output[side] = map.add(name + "output", elements * size);
    plan.target[side] = map.add(name + "target", round_up(plan.block_rows * kTargetBytes, kNfuAlign));
  }
}

}  // namespace

FocalLossPlan plan_focal_loss_sigmoid(const mluopsFocalLossShape& shape, Direction direction, bool weighted,
                                      const Machine& machine) {
  FocalLossPlan plan;
  if (refuse_dtype(plan, shape.dtype, {MLUOP_DTYPE_HALF, MLUOP_DTYPE_FLOAT})) return plan;
  if (refuse_large_tensor(plan, "input", {shape.n, shape.c})) return plan;
  const std::int64_t size = element_bytes(shape.dtype);
  plan.launch = whole_machine(machine);
  plan.rows = shape.n;
  plan.classes = shape.c;
  // With weights builtins work on single rows, which the 200 series wants to begin at whole lines.
  plan.pitch = weighted && machine.vector_alignment() == kNfuAlign ? round_up(shape.c, kUnit) : shape.c;
  std::int64_t weight_bytes = weighted ? round_up(shape.c * size, kNfuAlign) : 0;
  const bool forward = direction == Direction::kForward;
  if (!cut(plan, forward, machine.nram_bytes - weight_bytes, machine.nram_bytes - kNfuAlign)) {
    plan.refusal = "a block of " + std::to_string(forward ? kUnit : shape.c) + " classes does not fit NRAM of " +
                   std::to_string(machine.nram_bytes) + " bytes";
    return plan;
  }
  if (!plan.whole_rows()) weight_bytes = weighted ? kNfuAlign : 0;
  draw(plan, weight_bytes, size);
  return plan;
}

}  // namespace mluops::emu::plan
