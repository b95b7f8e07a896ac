#include "backends/mlu_emu/plan/voxelization.h"

#include "common/shape.h"

namespace mluops::emu::plan {
namespace {

constexpr std::int64_t kWord = 4;
constexpr std::int64_t kLanes = kNfuAlign / kWord;
constexpr std::int64_t kRows = 3 + 3 + 2;

}  // namespace

PlacesPlan plan_dynamic_voxelize(const mluopsVoxelizationShape& s, const Machine& machine) {
  PlacesPlan p;
  if (s.dtype != MLUOP_DTYPE_FLOAT) p.refusal = "the device's voxelization takes float only";
  if (!p.ok() || refuse_large_tensor(p, "points", {s.n, s.features}) || refuse_large_tensor(p, "coors", {s.n, 3}))
    return p;
  const std::int64_t tile = round_down((machine.nram_bytes - kNfuAlign) / (kRows * kWord), kLanes);
  if (tile < kLanes) {
    p.refusal = std::to_string(kLanes) + " points: " + nram_shortage((kRows + 1) * kNfuAlign, machine);
    return p;
  }
  p.tile = std::min(tile, round_up(s.n, kLanes));
  const std::int64_t row = p.tile * kWord;
  p.grid_offset = p.nram.add("grid", kNfuAlign);
  p.loaded_offset = p.nram.add("points", 3 * row);
  p.rows_offset = p.nram.add("x, y, z", 3 * row);
  p.masks_offset = p.nram.add("masks", 2 * row);
  p.launch = union1_launch(machine, s.n);
  return p;
}

VoxelizationPlan plan_voxelization(const mluopsVoxelizationShape& s, const Machine& machine) {
  VoxelizationPlan p{"", plan_dynamic_voxelize(s, machine), plan_same_place(s.n, machine), plan_numbering(s.n, machine),
                     plan_point_tiles(s.n, machine, {"position", "voxel"})};
  if (p.places.ok()) refuse_large_tensor(p.places, "voxels", {s.max_voxels, s.max_points, s.features});
  for (const Plan* part : {static_cast<const Plan*>(&p.places), static_cast<const Plan*>(&p.same_place)})
    if (p.ok()) p.refusal = part->refusal;
  return p;
}

}  // namespace mluops::emu::plan
