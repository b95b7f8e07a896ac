/* The problems of DynamicPointToVoxel (see mluops/problem.h for what has been validated). */
#ifndef MLUOPS_PROBLEM_DYNAMIC_POINT_TO_VOXEL_H_
#define MLUOPS_PROBLEM_DYNAMIC_POINT_TO_VOXEL_H_

#include <stdint.h>

#include "mlu_op_types.h"

#if defined(__cplusplus)
extern "C" {
#endif

/** DynamicPointToVoxel: feats [n,c], coors [n,3], voxel_feats [m,c], m <= n. */
typedef struct mluopsDynamicPointToVoxelShape {
  mluOpDataType_t dtype;
  int64_t n, c, m;
  mluOpReduceMode_t reduce;
} mluopsDynamicPointToVoxelShape;

typedef struct mluopsDynamicPointToVoxelForwardProblem {
  mluopsDynamicPointToVoxelShape shape;
  const void* feats;
  const int32_t* coors;
  void* voxel_feats;
  int32_t* voxel_coors;        /**< [m,3] */
  int32_t* point2voxel_map;    /**< [n] */
  int32_t* voxel_points_count; /**< [m] */
  int32_t* voxel_num;          /**< [1] */
} mluopsDynamicPointToVoxelForwardProblem;

/** Numbers of point2voxel_map, voxel_points_count and voxel_num are arbitrary. */
typedef struct mluopsDynamicPointToVoxelBackwardProblem {
  mluopsDynamicPointToVoxelShape shape;
  const void* grad_voxel_feats; /**< [m,c] */
  const void* feats;
  const void* voxel_feats;
  const int32_t* point2voxel_map;    /**< [n] */
  const int32_t* voxel_points_count; /**< [m] */
  const int32_t* voxel_num;          /**< [1] */
  void* grad_feats;                  /**< [n,c] */
} mluopsDynamicPointToVoxelBackwardProblem;

#if defined(__cplusplus)
}
#endif

#endif /* MLUOPS_PROBLEM_DYNAMIC_POINT_TO_VOXEL_H_ */
