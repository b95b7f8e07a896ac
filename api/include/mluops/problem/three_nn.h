/* The problem of ThreeNN (see mluops/problem.h for what has been validated). */
#ifndef MLUOPS_PROBLEM_THREE_NN_H_
#define MLUOPS_PROBLEM_THREE_NN_H_

#include <stdint.h>

#include "mlu_op_types.h"

#if defined(__cplusplus)
extern "C" {
#endif

/** ThreeNN: unknown [b,n,3], known [b,m,3], dist2 and idx [b,n,3]. */
typedef struct mluopsThreeNNShape {
  mluOpDataType_t dtype;
  int64_t b, n, m;
} mluopsThreeNNShape;

typedef struct mluopsThreeNNForwardProblem {
  mluopsThreeNNShape shape;
  const void* unknown;
  const void* known;
  void* dist2;
  int32_t* idx;
} mluopsThreeNNForwardProblem;

#if defined(__cplusplus)
}
#endif

#endif /* MLUOPS_PROBLEM_THREE_NN_H_ */
