// VoxelPooling point by point, in double throughout.
#pragma once

#include "test/reference/reference.h"

namespace mluops::reference {

struct VoxelPoolingResult {
  Values output;    ///< [batch,y,x,c]
  Values pos_memo;  ///< [batch,points,3]
};
VoxelPoolingResult voxel_pooling_forward(const mluopsVoxelPoolingForwardProblem& problem);

}  // namespace mluops::reference
