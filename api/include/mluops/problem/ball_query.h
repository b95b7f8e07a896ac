/* The problem of BallQuery (see mluops/problem.h for what has been validated). */
#ifndef MLUOPS_PROBLEM_BALL_QUERY_H_
#define MLUOPS_PROBLEM_BALL_QUERY_H_

#include <stdint.h>

#include "mlu_op_types.h"

#if defined(__cplusplus)
extern "C" {
#endif

/** BallQuery: new_xyz [b,m,3], xyz [b,n,3], idx [b,m,nsample]. */
typedef struct mluopsBallQueryShape {
  mluOpDataType_t dtype;
  int64_t b, m, n, nsample;
  float min_radius, max_radius; /**< not NaN, >= 0 */
} mluopsBallQueryShape;

typedef struct mluopsBallQueryProblem {
  mluopsBallQueryShape shape;
  const void* new_xyz;
  const void* xyz;
  int32_t* idx;
  double exact_min_radius; /**< min_radius; in DOUBLE what the caller may have given more exactly */
  double exact_max_radius; /**< likewise */
} mluopsBallQueryProblem;

#if defined(__cplusplus)
}
#endif

#endif /* MLUOPS_PROBLEM_BALL_QUERY_H_ */
