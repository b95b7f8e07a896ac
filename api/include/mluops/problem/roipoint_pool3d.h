/* The problem of RoiPointPool3d (see mluops/problem.h for what has been validated). */
#ifndef MLUOPS_PROBLEM_ROIPOINT_POOL3D_H_
#define MLUOPS_PROBLEM_ROIPOINT_POOL3D_H_

#include <stdint.h>

#include "mlu_op_types.h"

#if defined(__cplusplus)
extern "C" {
#endif

/** RoiPointPool3d: points [b,n,3], point_features [b,n,c], boxes3d [b,m,7], pooled_features [b,m,samples,3+c],
 * pooled_empty_flag [b,m]. */
typedef struct mluopsRoiPointPool3dShape {
  mluOpDataType_t dtype;
  int64_t b, n, m, c, samples;
} mluopsRoiPointPool3dShape;

typedef struct mluopsRoiPointPool3dProblem {
  mluopsRoiPointPool3dShape shape;
  const void* points;
  const void* point_features;
  const void* boxes3d;
  void* pooled_features;
  int32_t* pooled_empty_flag;
} mluopsRoiPointPool3dProblem;

#if defined(__cplusplus)
}
#endif

#endif /* MLUOPS_PROBLEM_ROIPOINT_POOL3D_H_ */
