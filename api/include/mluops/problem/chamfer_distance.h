/* The problems of ChamferDistance (see mluops/problem.h for what has been validated). */
#ifndef MLUOPS_PROBLEM_CHAMFER_DISTANCE_H_
#define MLUOPS_PROBLEM_CHAMFER_DISTANCE_H_

#include <stdint.h>

#include "mlu_op_types.h"

#if defined(__cplusplus)
extern "C" {
#endif

/** ChamferDistance: xyz1 [b,n,2], xyz2 [b,m,2], dist1 and idx1 [b,n], dist2 and idx2 [b,m]. */
typedef struct mluopsChamferDistanceShape {
  mluOpDataType_t dtype;
  int64_t b, n, m;
} mluopsChamferDistanceShape;

typedef struct mluopsChamferDistanceForwardProblem {
  mluopsChamferDistanceShape shape;
  const void* xyz1;
  const void* xyz2;
  void* dist1;
  void* dist2;
  int32_t* idx1;
  int32_t* idx2;
} mluopsChamferDistanceForwardProblem;

/** Indices are arbitrary: outside the other set they add nothing. */
typedef struct mluopsChamferDistanceBackwardProblem {
  mluopsChamferDistanceShape shape;
  const void* xyz1;
  const void* xyz2;
  const int32_t* idx1;
  const int32_t* idx2;
  const void* grad_dist1;
  const void* grad_dist2;
  void* grad_xyz1;
  void* grad_xyz2;
} mluopsChamferDistanceBackwardProblem;

#if defined(__cplusplus)
}
#endif

#endif /* MLUOPS_PROBLEM_CHAMFER_DISTANCE_H_ */
