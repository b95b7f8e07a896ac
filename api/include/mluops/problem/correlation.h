/* The problems of Correlation (see mluops/problem.h for what has been validated). */
#ifndef MLUOPS_PROBLEM_CORRELATION_H_
#define MLUOPS_PROBLEM_CORRELATION_H_

#include <stdint.h>

#include "mlu_op_types.h"

#if defined(__cplusplus)
extern "C" {
#endif

/** Correlation: inputs [n,h,w,c], output [n,p,p,out_h,out_w], p = 2 max_displacement + 1. */
typedef struct mluopsCorrelationShape {
  mluOpDataType_t dtype;
  int64_t n, h, w, c;
  int64_t out_h, out_w;
  int32_t max_displacement;
  int32_t kernel_h, kernel_w;
  int32_t stride_h, stride_w;
  int32_t pad_h, pad_w;
  int32_t dilation_h, dilation_w;
  int32_t dilation_patch_h, dilation_patch_w;
} mluopsCorrelationShape;

typedef struct mluopsCorrelationForwardProblem {
  mluopsCorrelationShape shape;
  const void* input1;
  const void* input2;
  void* output;
  mluOpTensorLayout_t layout; /* of the image tensors: NHWC, or another that the backend's property "layouts" names */
} mluopsCorrelationForwardProblem;

typedef struct mluopsCorrelationBackwardProblem {
  mluopsCorrelationShape shape;
  const void* grad_output;
  const void* input1;
  const void* input2;
  void* grad_input1;
  void* grad_input2;
  mluOpTensorLayout_t layout; /* of the image tensors: NHWC, or another that the backend's property "layouts" names */
} mluopsCorrelationBackwardProblem;

#if defined(__cplusplus)
}
#endif

#endif /* MLUOPS_PROBLEM_CORRELATION_H_ */
