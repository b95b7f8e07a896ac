// Voxelization, hard and dynamic, from its definition.
#pragma once

#include "test/reference/reference.h"

namespace mluops::reference {

struct VoxelizationResult {
  Values voxels;  ///< [max_voxels,max_points,features]
  Values coors;   ///< [max_voxels,3]
  Values counts;  ///< [max_voxels]
  Values num;     ///< [1]
};
VoxelizationResult voxelization(const mluopsVoxelizationProblem& problem);
/// coors [n,3].
Values dynamic_voxelize(const mluopsDynamicVoxelizeProblem& problem);

}  // namespace mluops::reference
