/* The problems of FurthestPointSample (see mluops/problem.h for what has been validated). */
#ifndef MLUOPS_PROBLEM_FURTHEST_POINT_SAMPLE_H_
#define MLUOPS_PROBLEM_FURTHEST_POINT_SAMPLE_H_

#include <stdint.h>

#include "mlu_op_types.h"

#if defined(__cplusplus)
extern "C" {
#endif

/** FurthestPointSample: points [b,n,3] or distances [b,n,n], idx [b,m]. */
typedef struct mluopsFurthestPointSampleShape {
  mluOpDataType_t dtype;
  int64_t b, n, m;
} mluopsFurthestPointSampleShape;

typedef struct mluopsFurthestPointSampleProblem {
  mluopsFurthestPointSampleShape shape;
  const void* points;
  int32_t* idx;
} mluopsFurthestPointSampleProblem;

typedef struct mluopsFurthestPointSampleWithDistProblem {
  mluopsFurthestPointSampleShape shape;
  const void* distances;
  int32_t* idx;
} mluopsFurthestPointSampleWithDistProblem;

#if defined(__cplusplus)
}
#endif

#endif /* MLUOPS_PROBLEM_FURTHEST_POINT_SAMPLE_H_ */
