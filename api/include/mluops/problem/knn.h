/* The problem of Knn (see mluops/problem.h for what has been validated). */
#ifndef MLUOPS_PROBLEM_KNN_H_
#define MLUOPS_PROBLEM_KNN_H_

#include <stdint.h>

#include "mlu_op_types.h"

#if defined(__cplusplus)
extern "C" {
#endif

/** Knn: xyz [b,n,3], new_xyz [b,m,3], idx and dist2 [b,m,k]. */
typedef struct mluopsKnnShape {
  mluOpDataType_t dtype;
  int64_t b, n, m, k;
} mluopsKnnShape;

typedef struct mluopsKnnProblem {
  mluopsKnnShape shape;
  const void* xyz;
  const void* new_xyz;
  int32_t* idx;
  void* dist2;
} mluopsKnnProblem;

#if defined(__cplusplus)
}
#endif

#endif /* MLUOPS_PROBLEM_KNN_H_ */
