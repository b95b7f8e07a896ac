/* The problems of Voxelization (see mluops/problem.h for what has been validated). */
#ifndef MLUOPS_PROBLEM_VOXELIZATION_H_
#define MLUOPS_PROBLEM_VOXELIZATION_H_

#include <stdint.h>

#include "mlu_op_types.h"

#if defined(__cplusplus)
extern "C" {
#endif

/** Voxelization: points [n,features], features >= 3, voxel_size [3], coors_range [6], whose numbers are arbitrary. */
typedef struct mluopsVoxelizationShape {
  mluOpDataType_t dtype;
  int64_t n, features;
  int64_t max_points, max_voxels; /**< >= 1; of dynamic voxelization 0 */
} mluopsVoxelizationShape;

typedef struct mluopsVoxelizationProblem {
  mluopsVoxelizationShape shape;
  const void* points;
  const void* voxel_size;
  const void* coors_range;
  void* voxels;                  /**< [max_voxels,max_points,features] */
  int32_t* coors;                /**< [max_voxels,3] */
  int32_t* num_points_per_voxel; /**< [max_voxels] */
  int32_t* voxel_num;            /**< [1] */
} mluopsVoxelizationProblem;

typedef struct mluopsDynamicVoxelizeProblem {
  mluopsVoxelizationShape shape;
  const void* points;
  const void* voxel_size;
  const void* coors_range;
  int32_t* coors; /**< [n,3] */
} mluopsDynamicVoxelizeProblem;

#if defined(__cplusplus)
}
#endif

#endif /* MLUOPS_PROBLEM_VOXELIZATION_H_ */
