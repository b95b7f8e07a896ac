/* The problems of deformable convolution (see mluops/problem.h for what has been validated). */
#ifndef MLUOPS_PROBLEM_DCN_H_
#define MLUOPS_PROBLEM_DCN_H_

#include <stdint.h>

#include "mlu_op_types.h"

#if defined(__cplusplus)
extern "C" {
#endif

/** DCN: input [batch,h,w,ci], offset [batch,out_h,out_w,deform_groups,kernel_h,kernel_w,2] of rows and columns, mask
 * [batch,out_h,out_w,deform_groups,kernel_h,kernel_w] or NULL, filter [co,kernel_h,kernel_w,ci/groups], output
 * [batch,out_h,out_w,co]. groups divides ci and co, deform_groups ci. Nothing is empty. Offsets are arbitrary. */
typedef struct mluopsDcnShape {
  mluOpDataType_t dtype;
  int64_t batch, h, w, ci;
  int64_t co, kernel_h, kernel_w;
  int64_t out_h, out_w;
  int64_t pad_top, pad_left;
  int64_t stride_h, stride_w;
  int64_t dilation_h, dilation_w;
  int64_t groups, deform_groups;
} mluopsDcnShape;

typedef struct mluopsDcnForwardProblem {
  mluopsDcnShape shape;
  const void* input;
  const void* offset;
  const void* mask; /* may be NULL */
  const void* filter;
  const void* bias; /* [co]; may be NULL */
  void* output;
  mluOpTensorLayout_t layout; /* of the image tensors: NHWC, or another that the backend's property "layouts" names */
} mluopsDcnForwardProblem;

typedef struct mluopsDcnBackwardDataProblem {
  mluopsDcnShape shape;
  const void* input;
  const void* offset;
  const void* mask; /* may be NULL */
  const void* filter;
  const void* grad_output;
  void* grad_input;
  void* grad_offset;
  void* grad_mask;            /* NULL exactly when mask is */
  mluOpTensorLayout_t layout; /* of the image tensors: NHWC, or another that the backend's property "layouts" names */
} mluopsDcnBackwardDataProblem;

typedef struct mluopsDcnBackwardWeightProblem {
  mluopsDcnShape shape;
  const void* input;
  const void* offset;
  const void* mask; /* may be NULL */
  const void* grad_output;
  void* grad_filter;
  void* grad_bias;            /* [co]; may be NULL */
  mluOpTensorLayout_t layout; /* of the image tensors: NHWC, or another that the backend's property "layouts" names */
} mluopsDcnBackwardWeightProblem;

#if defined(__cplusplus)
}
#endif

#endif /* MLUOPS_PROBLEM_DCN_H_ */
