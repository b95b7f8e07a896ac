#include "backends/mlu_emu/plan/ps_roi_pool.h"

#include "common/shape.h"

namespace mluops::emu::plan {
namespace {

constexpr std::int64_t kSize = 4;  // of a float and of an index

bool refuse(Plan& plan, const mluopsPsRoiPoolShape& s) {
  return refuse_dtype(plan, s.dtype, {MLUOP_DTYPE_FLOAT}) ||
         refuse_large_tensor(plan, "input", {s.batch, s.h, s.w, s.output_dim, s.pooled_h, s.pooled_w}) ||
         refuse_large_tensor(plan, "output", {s.rois, s.output_dim, s.pooled_h, s.pooled_w});
}

}  // namespace

PsRoiPoolForwardPlan plan_ps_roi_pool_forward(const mluopsPsRoiPoolShape& shape, const Machine& machine) {
  PsRoiPoolForwardPlan plan;
  if (refuse(plan, shape)) return plan;
  const std::int64_t unit = machine.vector_alignment() / kSize;
  plan.launch = whole_machine(machine);
  plan.rois = shape.rois;
  plan.bins = shape.pooled_h * shape.pooled_w;
  plan.padded_bins = round_up(plan.bins, unit);
  const std::int64_t bytes_of_channel = (2 + 2 * plan.padded_bins) * kSize;
  plan.deal = std::min(round_down(machine.nram_bytes / bytes_of_channel, unit), round_up(shape.output_dim, unit));
  if (plan.deal < unit) {
    plan.refusal = std::to_string(plan.bins) + " bins: " + nram_shortage(unit * bytes_of_channel, machine);
    return plan;
  }
  plan.output = plan.nram.add("output", plan.deal * kSize);
  plan.mapping = plan.nram.add("mapping", plan.deal * kSize);
  plan.pixel = plan.nram.add("pixel", plan.deal * plan.padded_bins * kSize);
  plan.transposed = plan.nram.add("transposed", plan.deal * plan.padded_bins * kSize);
  return plan;
}

PsRoiPoolBackwardPlan plan_ps_roi_pool_backward(const mluopsPsRoiPoolShape& shape, const Machine& machine) {
  PsRoiPoolBackwardPlan plan;
  if (refuse(plan, shape)) return plan;
  plan.launch = whole_machine(machine);
  plan.bins = shape.rois * shape.pooled_h * shape.pooled_w;
  plan.deal = round_down((machine.nram_bytes - kNfuAlign) / (2 * kSize), kNfuAlign / kSize);
  if (plan.deal < 1) {
    plan.refusal = nram_shortage(3 * kNfuAlign, machine);
    return plan;
  }
  plan.grad_output = plan.nram.add("grad_output", plan.deal * kSize);
  plan.mapping = plan.nram.add("mapping", plan.deal * kSize);
  plan.before = plan.nram.add("before", kNfuAlign);
  return plan;
}

}  // namespace mluops::emu::plan
