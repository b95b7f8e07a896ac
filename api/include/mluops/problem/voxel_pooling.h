/* The problem of VoxelPooling (see mluops/problem.h for what has been validated). */
#ifndef MLUOPS_PROBLEM_VOXEL_POOLING_H_
#define MLUOPS_PROBLEM_VOXEL_POOLING_H_

#include <stdint.h>

#include "mlu_op_types.h"

#if defined(__cplusplus)
extern "C" {
#endif

/** geom_xyz and pos_memo [batch,points,3], input [batch,points,c], output [batch,y,x,c]. */
typedef struct mluopsVoxelPoolingShape {
  mluOpDataType_t dtype;
  int64_t batch, points, c;
  int64_t x, y, z;
} mluopsVoxelPoolingShape;

typedef struct mluopsVoxelPoolingForwardProblem {
  mluopsVoxelPoolingShape shape;
  const int32_t* geom_xyz; /* arbitrary: outside the voxels adds to nothing */
  const void* input;
  void* output;
  int32_t* pos_memo;
} mluopsVoxelPoolingForwardProblem;

#if defined(__cplusplus)
}
#endif

#endif /* MLUOPS_PROBLEM_VOXEL_POOLING_H_ */
