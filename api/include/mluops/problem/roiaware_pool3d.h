/* The problems of RoiAwarePool3d (see mluops/problem.h for what has been validated). */
#ifndef MLUOPS_PROBLEM_ROIAWARE_POOL3D_H_
#define MLUOPS_PROBLEM_ROIAWARE_POOL3D_H_

#include <stdint.h>

#include "mlu_op_types.h"

#if defined(__cplusplus)
extern "C" {
#endif

/** RoiAwarePool3d: rois [n,7], pts [points,3], features [points,c], outputs [n,x,y,z,...], `most` numbers a voxel in
 * pts_idx_of_voxels: a count and up to most - 1 indices. */
typedef struct mluopsRoiAwarePool3dShape {
  mluOpDataType_t dtype;
  int64_t n, points, c, most;
  int64_t x, y, z; /**< at most 256 */
  int32_t mean;    /**< 0: maximum, 1: mean */
} mluopsRoiAwarePool3dShape;

typedef struct mluopsRoiAwarePool3dForwardProblem {
  mluopsRoiAwarePool3dShape shape;
  const void* rois;
  const void* pts;
  const void* pts_feature;
  int32_t* argmax;            /**< [n,x,y,z,c] */
  int32_t* pts_idx_of_voxels; /**< [n,x,y,z,most] */
  void* pooled_features;      /**< [n,x,y,z,c] */
} mluopsRoiAwarePool3dForwardProblem;

/** Indices and counts are arbitrary. */
typedef struct mluopsRoiAwarePool3dBackwardProblem {
  mluopsRoiAwarePool3dShape shape;
  const int32_t* pts_idx_of_voxels;
  const int32_t* argmax;
  const void* grad_output;
  void* grad_input; /**< [points,c] */
} mluopsRoiAwarePool3dBackwardProblem;

#if defined(__cplusplus)
}
#endif

#endif /* MLUOPS_PROBLEM_ROIAWARE_POOL3D_H_ */
