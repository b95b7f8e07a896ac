/* The problems of CARAFE (see mluops/problem.h for what has been validated). */
#ifndef MLUOPS_PROBLEM_CARAFE_H_
#define MLUOPS_PROBLEM_CARAFE_H_

#include <stdint.h>

#include "mlu_op_types.h"

#if defined(__cplusplus)
extern "C" {
#endif

/** CARAFE: input [n,h,w,c], mask [n,ho,wo,group*kernel*kernel], output [n,ho,wo,c]; ho = scale*h, wo = scale*w. */
typedef struct mluopsCarafeShape {
  mluOpDataType_t dtype;
  int64_t n, h, w, c;
  int64_t ho, wo;
  int64_t kernel, group, scale;
} mluopsCarafeShape;

typedef struct mluopsCarafeForwardProblem {
  mluopsCarafeShape shape;
  const void* input;
  const void* mask;
  void* output;
  mluOpTensorLayout_t layout; /* of the image tensors: NHWC, or another that the backend's property "layouts" names */
} mluopsCarafeForwardProblem;

typedef struct mluopsCarafeBackwardProblem {
  mluopsCarafeShape shape;
  const void* input;
  const void* mask;
  const void* grad_output;
  void* grad_input;
  void* grad_mask;
  mluOpTensorLayout_t layout; /* of the image tensors: NHWC, or another that the backend's property "layouts" names */
} mluopsCarafeBackwardProblem;

#if defined(__cplusplus)
}
#endif

#endif /* MLUOPS_PROBLEM_CARAFE_H_ */
