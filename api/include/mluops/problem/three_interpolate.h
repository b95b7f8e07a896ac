/* The problems of ThreeInterpolate (see mluops/problem.h for what has been validated). */
#ifndef MLUOPS_PROBLEM_THREE_INTERPOLATE_H_
#define MLUOPS_PROBLEM_THREE_INTERPOLATE_H_

#include <stdint.h>

#include "mlu_op_types.h"

#if defined(__cplusplus)
extern "C" {
#endif

/** ThreeInterpolate: features [b,c,m], indices and weights [b,n,3], output [b,c,n]. */
typedef struct mluopsThreeInterpolateShape {
  mluOpDataType_t dtype;
  int64_t b, c, m, n;
} mluopsThreeInterpolateShape;

typedef struct mluopsThreeInterpolateForwardProblem {
  mluopsThreeInterpolateShape shape;
  const void* features;
  const int32_t* indices;
  const void* weights;
  void* output;
} mluopsThreeInterpolateForwardProblem;

typedef struct mluopsThreeInterpolateBackwardProblem {
  mluopsThreeInterpolateShape shape;
  const void* grad_output;
  const int32_t* indices;
  const void* weights;
  void* grad_features;
} mluopsThreeInterpolateBackwardProblem;

#if defined(__cplusplus)
}
#endif

#endif /* MLUOPS_PROBLEM_THREE_INTERPOLATE_H_ */
