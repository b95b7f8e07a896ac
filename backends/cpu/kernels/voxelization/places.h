// Where in the grid of both voxelizations points are.
#pragma once

#include <cstdint>

#include "backends/cpu/runtime/context.h"
#include "mluops/problem/voxelization.h"

namespace mluops::cpu::voxelization {

using Shape = mluopsVoxelizationShape;

/// places [n,3] of points [n,features]: [z, y, x]; three times -1 for a point outside.
struct Places {
  const Shape& shape;
  const void *points, *voxel_size, *range;
  std::int32_t* places;
};
mluOpStatus_t find_places(Context& context, const mluopsCall& call, const Places& p);

}  // namespace mluops::cpu::voxelization
