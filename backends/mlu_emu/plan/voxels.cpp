#include "backends/mlu_emu/plan/voxels.h"

#include "common/shape.h"

namespace mluops::emu::plan {
namespace {

constexpr std::int64_t kWord = 4;
constexpr std::int64_t kLanes = kNfuAlign / kWord;

/// The longest rows of which `rows` fit NRAM, no longer than the points need; refuses when not even a line fits.
std::int64_t tile_of(Plan& p, std::int64_t points, const Machine& machine, std::int64_t rows) {
  const std::int64_t tile = round_down(machine.nram_bytes / (rows * kWord), kLanes);
  if (tile == 0) p.refusal = std::to_string(kLanes) + " points: " + nram_shortage(rows * kNfuAlign, machine);
  return std::min(tile, round_up(points, kLanes));
}

}  // namespace

SamePlacePlan plan_same_place(std::int64_t points, const Machine& machine) {
  SamePlacePlan p;
  p.tile = tile_of(p, points, machine, 3 + 2 + 3 + 2);
  const std::int64_t row = p.tile * kWord;
  p.own_offset = p.nram.add("places", 3 * row);
  p.first_offset = p.nram.add("first", row);
  p.position_offset = p.nram.add("position", row);
  p.earlier_offset = p.nram.add("earlier places", 3 * row);
  p.work_offset = p.nram.add("work", 2 * row);
  p.launch = union1_launch(machine, points);
  return p;
}

NumberingPlan plan_numbering(std::int64_t points, const Machine& machine) {
  NumberingPlan p;
  p.holds_all = points <= round_down(machine.nram_bytes / (3 * kWord), kLanes);
  p.tile = tile_of(p, points, machine, p.holds_all ? 3 : 2);
  const std::int64_t row = p.tile * kWord;
  p.first_offset = p.nram.add("first", row);
  p.position_offset = p.nram.add("position", row);
  if (p.holds_all) p.voxel_offset = p.nram.add("voxel", row);
  p.launch = {TaskType::kBlock, 1, 1, 1};
  return p;
}

PointTilePlan plan_point_tiles(std::int64_t points, const Machine& machine, std::initializer_list<const char*> rows) {
  PointTilePlan p;
  p.tile = tile_of(p, points, machine, static_cast<std::int64_t>(rows.size()));
  for (const char* name : rows) p.nram.add(name, p.row_bytes());
  p.launch = union1_launch(machine, points);
  return p;
}

}  // namespace mluops::emu::plan
