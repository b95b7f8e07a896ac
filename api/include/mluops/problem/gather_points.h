/* The problems of GatherPoints and GroupPoints (see mluops/problem.h for what has been validated). */
#ifndef MLUOPS_PROBLEM_GATHER_POINTS_H_
#define MLUOPS_PROBLEM_GATHER_POINTS_H_

#include <stdint.h>

#include "mlu_op_types.h"

#if defined(__cplusplus)
extern "C" {
#endif

/** GatherPoints: points and grad_points [b,c,n], idx [b,m], output and grad_output [b,c,m]. The m of GroupPoints are
 * all samples of all groups. Indices are arbitrary: outside [0,n-1] they read 0 and add to nothing. */
typedef struct mluopsGatherPointsShape {
  mluOpDataType_t dtype;
  int64_t b, c, n, m;
} mluopsGatherPointsShape;

typedef struct mluopsGatherPointsForwardProblem {
  mluopsGatherPointsShape shape;
  const void* points;
  const int32_t* idx;
  void* output;
} mluopsGatherPointsForwardProblem;

typedef struct mluopsGatherPointsBackwardProblem {
  mluopsGatherPointsShape shape;
  const void* grad_output;
  const int32_t* idx;
  void* grad_points;
} mluopsGatherPointsBackwardProblem;

#if defined(__cplusplus)
}
#endif

#endif /* MLUOPS_PROBLEM_GATHER_POINTS_H_ */
