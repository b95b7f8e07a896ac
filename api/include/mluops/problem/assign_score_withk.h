/* The problems of AssignScoreWithk (see mluops/problem.h for what has been validated). */
#ifndef MLUOPS_PROBLEM_ASSIGN_SCORE_WITHK_H_
#define MLUOPS_PROBLEM_ASSIGN_SCORE_WITHK_H_

#include <stdint.h>

#include "mlu_op_types.h"

#if defined(__cplusplus)
extern "C" {
#endif

/** AssignScoreWithk: points and centers [b,n,m,o], scores [b,p,k,m], knn_idx [b,p,k], output [b,o,p,k]. Indices are
 * arbitrary: outside [0,n-1] they count for nothing. */
typedef struct mluopsAssignScoreWithkShape {
  mluOpDataType_t dtype;
  int64_t b, n, m, o, p, k;
} mluopsAssignScoreWithkShape;

typedef struct mluopsAssignScoreWithkForwardProblem {
  mluopsAssignScoreWithkShape shape;
  const void* points;
  const void* centers;
  const void* scores;
  const int32_t* knn_idx;
  void* output;
} mluopsAssignScoreWithkForwardProblem;

typedef struct mluopsAssignScoreWithkBackwardProblem {
  mluopsAssignScoreWithkShape shape;
  const void* grad_output;
  const void* points;
  const void* centers;
  const void* scores;
  const int32_t* knn_idx;
  void* grad_points;
  void* grad_centers;
  void* grad_scores;
} mluopsAssignScoreWithkBackwardProblem;

#if defined(__cplusplus)
}
#endif

#endif /* MLUOPS_PROBLEM_ASSIGN_SCORE_WITHK_H_ */
