// Voxelization on the device: launches of hard and of dynamic voxelization.
#pragma once

#include "backends/mlu_emu/plan/voxels.h"
#include "mluops/problem/voxelization.h"

namespace mluops::emu::plan {

/// UNION1: the places of points in the grid, tile by tile. Eight rows of the tile: loaded, x, y, z, and two for masks.
struct PlacesPlan : Plan {
  std::int64_t tile = 0;
  std::int64_t grid_offset = 0, loaded_offset = 0, rows_offset = 0, masks_offset = 0;  // bytes
};

PlacesPlan plan_dynamic_voxelize(const mluopsVoxelizationShape& shape, const Machine& machine);

/// The four launches of hard voxelization, as documented.
struct VoxelizationPlan {
  std::string refusal;
  PlacesPlan places;
  SamePlacePlan same_place;
  NumberingPlan numbering;
  PointTilePlan assign;  // rows: position, voxel

  bool ok() const { return refusal.empty(); }
};

VoxelizationPlan plan_voxelization(const mluopsVoxelizationShape& shape, const Machine& machine);

}  // namespace mluops::emu::plan
