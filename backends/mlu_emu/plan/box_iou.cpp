#include "backends/mlu_emu/plan/box_iou.h"

#include "common/shape.h"

namespace mluops::emu::plan {

BoxIouRotatedPlan plan_box_iou_rotated(const mluopsBoxIouShape& shape, const Machine& machine) {
  constexpr std::int64_t kSize = 4, kNumbers = 5, kUnit = kNfuAlign / kSize, kOfBoxes = 8;
  BoxIouRotatedPlan plan;
  if (refuse_dtype(plan, shape.dtype, {MLUOP_DTYPE_FLOAT})) return plan;
  if (refuse_large_tensor(plan, "ious", {shape.n, shape.aligned != 0 ? 1 : shape.m})) return plan;
  plan.launch = whole_machine(machine);
  plan.pitch = machine.vector_alignment() == kNfuAlign ? kUnit : kNumbers;
  const std::int64_t work = std::max(kBoxIouWorkArrays, 2 * plan.pitch), arrays = 2 * kOfBoxes + work;
  plan.lanes = std::min(round_down(machine.nram_bytes / (arrays * kSize), kUnit), round_up(shape.m, kUnit));
  if (plan.lanes < kUnit) {
    plan.refusal = nram_shortage(arrays * kUnit * kSize, machine);
    return plan;
  }
  plan.first = plan.nram.add("first", kOfBoxes * plan.lanes * kSize);
  plan.second = plan.nram.add("second", kOfBoxes * plan.lanes * kSize);
  plan.work = plan.nram.add("work", work * plan.lanes * kSize);
  return plan;
}

}  // namespace mluops::emu::plan
