// What operators of voxels share on the device: which points lie in the same place, and numbers for the places.
#pragma once

#include "backends/mlu_emu/plan/plan.h"

namespace mluops::emu::plan {

/// UNION1. A point is compared with all before it, so of 2 * tasks contiguous shares a task takes one from either end.
/// `tile` points of its own stay while tiles of earlier ones go by.
struct SamePlacePlan : Plan {
  std::int64_t tile = 0;
  std::int64_t own_offset = 0, first_offset = 0, position_offset = 0;  // bytes
  std::int64_t earlier_offset = 0, work_offset = 0;
};

SamePlacePlan plan_same_place(std::int64_t points, const Machine& machine);

/// BLOCK, one core walks all points. `holds_all`: the voxels of all points stay in NRAM, else each is looked up and
/// stored in GDRAM.
struct NumberingPlan : Plan {
  std::int64_t tile = 0;
  bool holds_all = false;
  std::int64_t first_offset = 0, position_offset = 0, voxel_offset = 0;  // bytes
};

NumberingPlan plan_numbering(std::int64_t points, const Machine& machine);

/// UNION1, points in contiguous shares, `tile` of them at a time with `rows` 32-bit numbers each.
struct PointTilePlan : Plan {
  std::int64_t tile = 0;
  std::int64_t row_bytes() const { return tile * 4; }
};

PointTilePlan plan_point_tiles(std::int64_t points, const Machine& machine, std::initializer_list<const char*> rows);

}  // namespace mluops::emu::plan
