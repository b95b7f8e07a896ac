#include "backends/mlu_emu/plan/roi_align_rotated.h"

#include "common/shape.h"

namespace mluops::emu::plan {

RoiAlignRotatedPlan plan_roi_align_rotated(const mluopsRoiAlignRotatedShape& shape, Direction direction,
                                           const Machine& machine) {
  RoiAlignRotatedPlan plan;
  if (refuse_dtype(plan, shape.dtype, {MLUOP_DTYPE_HALF, MLUOP_DTYPE_FLOAT})) return plan;
  if (refuse_large_tensor(plan, "the map", {shape.batch, shape.h, shape.w, shape.c})) return plan;
  if (refuse_large_tensor(plan, "the bins", {shape.rois, shape.pooled_h, shape.pooled_w, shape.c})) return plan;
  const bool forward = direction == Direction::kForward;
  const std::int64_t parts = forward ? 9 : 4;
  const std::int64_t part = round_down((machine.nram_bytes - kNfuAlign) / parts, kNfuAlign);
  if (part < kNfuAlign) {
    plan.refusal = nram_shortage((parts + 1) * kNfuAlign, machine);
    return plan;
  }
  plan.launch = whole_machine(machine);
  plan.bins = shape.rois * shape.pooled_h * shape.pooled_w;
  plan.channels = shape.c;
  plan.deal = part / element_bytes(shape.dtype);
  plan.lanes = kNfuAlign / element_bytes(shape.dtype);
  plan.roi = plan.nram.add("roi", kNfuAlign);
  if (forward) plan.output = plan.nram.add("output", part);
  for (int side = 0; side < 2; ++side) {
    const std::string name = side == 0 ? "ping_" : "pong_";
    plan.buffer[side] = plan.nram.bytes();
    for (int i = 1; forward && i <= 4; ++i) plan.nram.add(name + "p" + std::to_string(i), part);
    for (const char* array : {"grad_output", "grad_input"}) {
      if (!forward) plan.nram.add(name + array, part);
    }
  }
  return plan;
}

}  // namespace mluops::emu::plan
