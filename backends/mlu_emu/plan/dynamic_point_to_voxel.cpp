#include "backends/mlu_emu/plan/dynamic_point_to_voxel.h"

#include "common/shape.h"

namespace mluops::emu::plan {
namespace {

using Shape = mluopsDynamicPointToVoxelShape;

constexpr std::int64_t kWord = 4;
constexpr std::int64_t kLanes = kNfuAlign / kWord;
constexpr std::int64_t kMaskLanes = 1024;  // whose bits fill a line

RankPlan plan_rank(std::int64_t points, const Machine& machine) {
  constexpr std::int64_t kRows = 3 + 1 + 1 + 3 + 3;
  RankPlan p;
  p.tile = std::min(round_down(machine.nram_bytes / (kRows * kWord), kLanes), round_up(points, kLanes));
  if (p.tile < kLanes) {
    p.refusal = std::to_string(kLanes) + " points: " + nram_shortage(kRows * kNfuAlign, machine);
    return p;
  }
  const std::int64_t row = p.tile * kWord;
  p.own_offset = p.nram.add("places", 3 * row);
  p.position_offset = p.nram.add("position", row);
  p.rank_offset = p.nram.add("rank", row);
  p.others_offset = p.nram.add("other places", 3 * row);
  p.work_offset = p.nram.add("work", 3 * row);
  p.launch = union1_launch(machine, points);
  return p;
}

ReducePlan plan_reduce(const Shape& s, const Machine& machine) {
  ReducePlan p;
  const std::int64_t left = (machine.nram_bytes - 2 * kNfuAlign) / kWord;  // numbers
  p.features = std::clamp<std::int64_t>(left - 2, 1, s.c);
  p.points = std::clamp<std::int64_t>(left / (p.features + 2), 1, s.n);
  p.map_offset = p.nram.add("point2voxel_map", round_up(p.points * kWord, kNfuAlign));
  p.position_offset = p.nram.add("position", round_up(p.points * kWord, kNfuAlign));
  p.feats_offset = p.nram.add("feats", p.points * p.features * kWord);
  p.launch = union1_launch(machine, s.n);
  return p;
}

ChannelRowsPlan plan_channel_rows(std::int64_t items, const Shape& s, const Machine& machine,
                                  std::initializer_list<const char*> rows) {
  ChannelRowsPlan p;
  const std::int64_t map = ChannelRowsPlan::kMapTile * kWord, count = static_cast<std::int64_t>(rows.size());
  p.lanes = std::min(round_down((machine.nram_bytes - map) / (count * kWord), kLanes), round_up(s.c, kLanes));
  if (p.lanes < kLanes) {
    p.refusal = std::to_string(kLanes) + " channels: " + nram_shortage(map + count * kNfuAlign, machine);
    return p;
  }
  p.nram.add("point2voxel_map", map);
  for (const char* name : rows) p.nram.add(name, p.row_bytes());
  p.launch = union1_launch(machine, items);
  return p;
}

PointTilePlan plan_scatter(const Shape& s, const Machine& machine) {
  constexpr std::int64_t kRows = 4;
  PointTilePlan p;
  const std::int64_t bits_of_tile = kMaskLanes / 8, need = kMaskLanes * kRows * kWord + bits_of_tile;
  p.tile = std::min(machine.nram_bytes / need, std::max<std::int64_t>(1, ceil_div(s.m * s.c, kMaskLanes))) * kMaskLanes;
  if (p.tile == 0) {
    p.refusal = std::to_string(kMaskLanes) + " gradients: " + nram_shortage(need, machine);
    return p;
  }
  for (const char* name : {"grad_voxel_feats", "voxel_from", "mask", "zeros"}) p.nram.add(name, p.row_bytes());
  p.nram.add("mask bits", p.tile / 8);
  p.launch = union1_launch(machine, s.m);
  return p;
}

std::string refused_tensors(const Shape& s, std::int64_t most) {
  Plan p;
  if (s.dtype != MLUOP_DTYPE_FLOAT) return "the device's dynamic_point_to_voxel takes float only";
  refuse_large_tensor(p, "feats", {s.n, s.c}) || refuse_large_tensor(p, "coors", {s.n, 3});
  if (p.ok() && s.n * s.c >= most)
    return "feats has " + std::to_string(most) + " elements or more: the device's scatter counts bytes in 32 bits";
  return p.refusal;
}

}  // namespace

DynamicPointToVoxelForwardPlan plan_dynamic_point_to_voxel_forward(const Shape& s, const Machine& machine) {
  DynamicPointToVoxelForwardPlan p;
  p.refusal = refused_tensors(s, std::int64_t{1} << 31);
  if (!p.ok()) return p;
  p.mask = plan_point_tiles(s.n, machine, {"coors 0", "coors 1", "coors 2", "z", "y", "x", "valid", "mask"});
  p.same_place = plan_same_place(s.n, machine);
  p.rank = plan_rank(s.n, machine);
  p.numbering = plan_numbering(s.n, machine);
  p.reduce = plan_reduce(s, machine);
  p.fill = plan_channel_rows(s.m, s, machine, {"least"});
  p.mean = plan_channel_rows(s.m, s, machine, {"voxel_feats"});
  for (const std::string& refusal : {p.mask.refusal, p.same_place.refusal, p.rank.refusal, p.fill.refusal})
    if (p.ok()) p.refusal = refusal;
  return p;
}

DynamicPointToVoxelBackwardPlan plan_dynamic_point_to_voxel_backward(const Shape& s, const Machine& machine) {
  DynamicPointToVoxelBackwardPlan p;
  p.refusal = refused_tensors(s, std::int64_t{1} << 30);
  if (!p.ok()) return p;
  p.trace = plan_channel_rows(s.n, s, machine, {"feats", "voxel_feats", "voxel_from", "channel", "destination"});
  p.spread = plan_channel_rows(s.n, s, machine, {"gradient"});
  p.scatter = plan_scatter(s, machine);
  for (const std::string& refusal : {p.trace.refusal, p.scatter.refusal})
    if (p.ok()) p.refusal = refusal;
  return p;
}

}  // namespace mluops::emu::plan
