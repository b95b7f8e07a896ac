/* The problems of PSAMask (see mluops/problem.h for what has been validated). */
#ifndef MLUOPS_PROBLEM_PSAMASK_H_
#define MLUOPS_PROBLEM_PSAMASK_H_

#include <stdint.h>

#include "mlu_op_types.h"

#if defined(__cplusplus)
extern "C" {
#endif

/** PSAMask: x [n,h,w,h_mask*w_mask], y [n,h,w,h*w]; psa_type 0 collect, 1 distribute. */
typedef struct mluopsPsamaskShape {
  mluOpDataType_t dtype;
  int64_t n, h, w;
  int64_t h_mask, w_mask;
  int psa_type;
} mluopsPsamaskShape;

typedef struct mluopsPsamaskForwardProblem {
  mluopsPsamaskShape shape;
  const void* x;
  void* y;
  mluOpTensorLayout_t layout; /* of the image tensors: NHWC, or another that the backend's property "layouts" names */
} mluopsPsamaskForwardProblem;

typedef struct mluopsPsamaskBackwardProblem {
  mluopsPsamaskShape shape;
  const void* dy;
  void* dx;
  mluOpTensorLayout_t layout; /* of the image tensors: NHWC, or another that the backend's property "layouts" names */
} mluopsPsamaskBackwardProblem;

#if defined(__cplusplus)
}
#endif

#endif /* MLUOPS_PROBLEM_PSAMASK_H_ */
