/* The problems of BorderAlign (see mluops/problem.h for what has been validated). */
#ifndef MLUOPS_PROBLEM_BORDER_ALIGN_H_
#define MLUOPS_PROBLEM_BORDER_ALIGN_H_

#include <stdint.h>

#include "mlu_op_types.h"

#if defined(__cplusplus)
extern "C" {
#endif

/** BorderAlign: input [n,h,w,4*c], boxes [n,k,4], output and argmax [n,k,4,c]; c counts one border's channels. */
typedef struct mluopsBorderAlignShape {
  mluOpDataType_t dtype;
  int64_t n, h, w, c;
  int64_t k;
  int64_t pool_size;
} mluopsBorderAlignShape;

typedef struct mluopsBorderAlignForwardProblem {
  mluopsBorderAlignShape shape;
  const void* input;
  const void* boxes;
  void* output;
  int32_t* argmax;
  mluOpTensorLayout_t layout; /* of the image tensors: NHWC, or another that the backend's property "layouts" names */
} mluopsBorderAlignForwardProblem;

typedef struct mluopsBorderAlignBackwardProblem {
  mluopsBorderAlignShape shape;
  const void* grad_output;
  const void* boxes;
  const int32_t* argmax;
  void* grad_input;
  mluOpTensorLayout_t layout; /* of the image tensors: NHWC, or another that the backend's property "layouts" names */
} mluopsBorderAlignBackwardProblem;

#if defined(__cplusplus)
}
#endif

#endif /* MLUOPS_PROBLEM_BORDER_ALIGN_H_ */
