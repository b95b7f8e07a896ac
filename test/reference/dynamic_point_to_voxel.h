// DynamicPointToVoxel from its definition.
#pragma once

#include "test/reference/reference.h"

namespace mluops::reference {

struct DynamicPointToVoxelResult {
  Values feats;   ///< [m,c]
  Values coors;   ///< [m,3]
  Values map;     ///< [n]
  Values counts;  ///< [m]
  Values num;     ///< [1]
};
DynamicPointToVoxelResult dynamic_point_to_voxel_forward(const mluopsDynamicPointToVoxelForwardProblem& problem);
/// grad_feats [n,c].
Values dynamic_point_to_voxel_backward(const mluopsDynamicPointToVoxelBackwardProblem& problem);

}  // namespace mluops::reference
