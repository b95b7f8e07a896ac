// DynamicPointToVoxel on the device: launches of forward and of backward.
#pragma once

#include "backends/mlu_emu/plan/voxels.h"
#include "mluops/problem/dynamic_point_to_voxel.h"

namespace mluops::emu::plan {

/// UNION1. Points in contiguous shares, `tile` of them at a time, and as many others that each is compared with.
struct RankPlan : Plan {
  std::int64_t tile = 0;
  std::int64_t own_offset = 0, position_offset = 0, rank_offset = 0;  // bytes
  std::int64_t others_offset = 0, work_offset = 0;
};

/// UNION1. `points` rows of all features at a time, or one row in pieces of `features`.
struct ReducePlan : Plan {
  std::int64_t points = 0, features = 0;
  std::int64_t map_offset = 0, position_offset = 0, feats_offset = 0;  // bytes
};

/// UNION1. Rows of up to `lanes` channels, named by the launch, behind `map`, a tile of point2voxel_map.
struct ChannelRowsPlan : Plan {
  static constexpr std::int64_t kMapTile = 1024;

  std::int64_t lanes = 0;
  std::int64_t row_bytes() const { return lanes * 4; }
};

/// The launches of forward. Mean is of voxels' rows; fill is that of the maximum.
struct DynamicPointToVoxelForwardPlan {
  std::string refusal;
  PointTilePlan mask;  // three rows of coors, z, y, x, two of masks
  SamePlacePlan same_place;
  RankPlan rank;
  NumberingPlan numbering;
  ReducePlan reduce;
  ChannelRowsPlan fill, mean;

  bool ok() const { return refusal.empty(); }
};

/// The launches of backward: the point each maximum is from, then a scatter; of sums and means one launch.
struct DynamicPointToVoxelBackwardPlan {
  std::string refusal;
  ChannelRowsPlan trace, spread;
  PointTilePlan scatter;  // rows: gradient, destination, mask, zeros, and bits of a mask

  bool ok() const { return refusal.empty(); }
};

DynamicPointToVoxelForwardPlan plan_dynamic_point_to_voxel_forward(const mluopsDynamicPointToVoxelShape& shape,
                                                                   const Machine& machine);
DynamicPointToVoxelBackwardPlan plan_dynamic_point_to_voxel_backward(const mluopsDynamicPointToVoxelShape& shape,
                                                                     const Machine& machine);

}  // namespace mluops::emu::plan
