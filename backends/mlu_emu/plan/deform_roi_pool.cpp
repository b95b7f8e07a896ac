#include "backends/mlu_emu/plan/deform_roi_pool.h"

#include <limits>

#include "common/shape.h"

namespace mluops::emu::plan {
namespace {

constexpr std::int64_t kNeighbours = 4;
constexpr std::int64_t kForwardParts = 9;         // output, 4 ping, 4 pong
constexpr std::int64_t kBackwardParts = 5;        // 4 tmp, grad_output
constexpr std::int64_t kOffsetParts = 5 + 4 + 4;  // and 4 ping, 4 pong; besides them the 128 bytes of sum_tmp

// Longest channel run whose parts fit. The 128 bytes of sum_tmp are taken off before the division, as the design
// document's text has it: that fits for every NRAM size, while dividing the whole leans on rounding slack.
std::int64_t longest_segment(const DeformRoiPoolPlan& plan) {
  if (!plan.backward) return round_down(plan.nram_elements / kForwardParts, plan.lanes);
  if (!plan.with_offset) return round_down(plan.nram_elements / kBackwardParts, plan.lanes);
  return round_down(std::max<std::int64_t>(plan.nram_elements - plan.lanes, 0) / kOffsetParts, plan.lanes);
}

// Ping or pong: half of what is behind `used`, kept on addresses the vector unit takes.
std::int64_t half_of_rest(const DeformRoiPoolPlan& plan, std::int64_t used) {
  return round_down((plan.nram_elements - used) / 2, plan.align);
}

Launch launch_for(std::int64_t bins, const Machine& machine) {
  const std::int64_t rounds = ceil_div(bins, machine.cores_per_cluster);
  return {TaskType::kUnion1, machine.cores_per_cluster, std::min(machine.clusters, rounds), 1};
}

DeformRoiPoolPlan make_plan(const mluopsDeformRoiPoolShape& shape, bool backward, bool with_offset,
                            const Machine& machine) {
  DeformRoiPoolPlan plan;
  plan.backward = backward;
  plan.with_offset = with_offset;
  if (shape.dtype != MLUOP_DTYPE_HALF && shape.dtype != MLUOP_DTYPE_FLOAT) {
    plan.refusal = "dtype must be half or float";
    return plan;
  }
  const std::int64_t element_bytes = shape.dtype == MLUOP_DTYPE_HALF ? 2 : 4;
  plan.bins = shape.rois * shape.pooled_h * shape.pooled_w;
  plan.channels = shape.c;
  plan.nram_elements = machine.nram_bytes / element_bytes;
  plan.lanes = kNfuAlign / element_bytes;
  plan.align = (machine.arch < 300 ? kNfuAlign : kNfuAlign / 2) / element_bytes;
  plan.channel_part = longest_segment(plan);
  plan.launch = launch_for(plan.bins, machine);
  if (plan.channel_part < 1) {
    plan.refusal = "NRAM of " + std::to_string(machine.nram_bytes) + " bytes does not hold a segment of 128 bytes";
    return plan;
  }
  plan.nram = plan.nram_map(plan.segment(0).size());
  return plan;
}

void add_rows(NramMap& map, const std::string& name, std::int64_t rows, std::int64_t bytes) {
  for (std::int64_t i = 1; i <= rows; ++i) map.add(name + std::to_string(i), bytes);
}

// The four rows of ping or pong, `part` bytes in all; what rounding leaves over is shown as slack.
void add_buffer(NramMap& map, const std::string& name, std::int64_t row, std::int64_t part) {
  add_rows(map, name, kNeighbours, row);
  if (part > kNeighbours * row) map.add(name + "_slack", part - kNeighbours * row);
}

}  // namespace

DeformRoiPoolPlan plan_deform_roi_pool_forward(const mluopsDeformRoiPoolShape& shape, const Machine& machine) {
  return make_plan(shape, false, true, machine);
}

DeformRoiPoolPlan plan_deform_roi_pool_backward(const mluopsDeformRoiPoolShape& shape, bool with_offset,
                                                const Machine& machine) {
  return make_plan(shape, true, with_offset, machine);
}

DeformForwardTile DeformRoiPoolPlan::forward_tile(std::int64_t segment_length) const {
  DeformForwardTile tile;
  tile.channels = segment_length;
  tile.padded = round_up(segment_length, lanes);
  tile.ping = tile.padded;
  const std::int64_t half = half_of_rest(*this, tile.ping);
  tile.pong = tile.ping + half;
  tile.row = round_down(half / kNeighbours, lanes);
  return tile;
}

DeformBackwardTile DeformRoiPoolPlan::backward_tile(std::int64_t segment_length) const {
  DeformBackwardTile tile;
  tile.channels = segment_length;
  tile.padded = round_up(segment_length, lanes);
  tile.grad_output = kNeighbours * tile.padded;
  if (!with_offset) return tile;
  tile.sum_tmp = kBackwardParts * tile.padded;
  tile.ping = tile.sum_tmp + lanes;
  tile.row = round_down(half_of_rest(*this, tile.ping) / kNeighbours, lanes);
  tile.pong = tile.ping + kNeighbours * tile.row;
  return tile;
}

NramMap DeformRoiPoolPlan::nram_map(std::int64_t segment_length) const {
  const std::int64_t size = kNfuAlign / lanes;
  NramMap map;
  if (!backward) {
    const DeformForwardTile tile = forward_tile(segment_length);
    map.add("output", tile.padded * size);
    for (const char* name : {"ping", "pong"}) add_buffer(map, name, tile.row * size, (tile.pong - tile.ping) * size);
    return map;
  }
  const DeformBackwardTile tile = backward_tile(segment_length);
  add_rows(map, "tmp", kNeighbours, tile.padded * size);
  map.add("grad_output", tile.padded * size);
  if (!with_offset) return map;
  map.add("sum_tmp", lanes * size);
  for (const char* name : {"ping", "pong"}) add_buffer(map, name, tile.row * size, (tile.pong - tile.ping) * size);
  return map;
}

}  // namespace mluops::emu::plan
