#include "backends/mlu_emu/plan/ms_deform_attn.h"

#include <span>

#include "common/shape.h"

namespace mluops::emu::plan {
namespace {

const char* const kForwardArrays[] = {"ping_p1", "ping_p2", "ping_p3", "ping_p4", "pong_p1", "pong_p2",
                                      "pong_p3", "pong_p4", "col",     "sample",  "product"};
const char* const kBackwardArrays[] = {"value",         "product",  "interpolated", "grad_h_weight",
                                       "grad_w_weight", "top_grad", "weighted",     "part"};

}  // namespace

MsDeformAttnPlan plan_ms_deform_attn(const mluopsMsDeformAttnShape& s, Direction direction, const Machine& machine) {
  MsDeformAttnPlan plan;
  if (refuse_dtype(plan, s.dtype, {MLUOP_DTYPE_FLOAT})) return plan;
  if (refuse_large_tensor(plan, "value", {s.batch, s.keys, s.heads, s.channels})) return plan;
  if (refuse_large_tensor(plan, "sampling_loc", {s.batch, s.queries, s.heads, s.levels, s.points, 2})) return plan;
  if (refuse_large_tensor(plan, "the output", {s.batch, s.queries, s.heads, s.channels})) return plan;
  const bool forward = direction == Direction::kForward;
  using Names = std::span<const char* const>;
  const Names names = forward ? Names(kForwardArrays) : Names(kBackwardArrays);
  const std::int64_t shape_bytes = forward ? kNfuAlign : machine.vector_alignment();
  const auto count = static_cast<std::int64_t>(names.size());
  const std::int64_t bytes = round_down((machine.nram_bytes - shape_bytes) / count, kNfuAlign);
  if (bytes < kNfuAlign) {
    plan.refusal = nram_shortage(shape_bytes + count * kNfuAlign, machine);
    return plan;
  }
  plan.launch = whole_machine(machine);
  plan.units = s.batch * s.queries * s.heads * (forward ? 1 : s.levels);
  plan.channels = s.channels;
  plan.deal = bytes / 4;
  plan.shapes = plan.nram.add("shapes", shape_bytes);
  for (std::size_t i = 0; i < names.size(); ++i) plan.arrays[i] = plan.nram.add(names[i], bytes);
  return plan;
}

}  // namespace mluops::emu::plan
