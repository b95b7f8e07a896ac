/* The problems of PrRoIPool (see mluops/problem.h for what has been validated). */
#ifndef MLUOPS_PROBLEM_PRROI_POOL_H_
#define MLUOPS_PROBLEM_PRROI_POOL_H_

#include <stdint.h>

#include "mlu_op_types.h"

#if defined(__cplusplus)
extern "C" {
#endif

/** PrRoIPool: input [batch,h,w,c], rois [rois,5], output [rois,pooled_h,pooled_w,c]. */
typedef struct mluopsPrRoiPoolShape {
  mluOpDataType_t dtype;
  int64_t batch, h, w, c;
  int64_t rois; /* backward: may be 0 */
  int64_t pooled_h, pooled_w;
  float spatial_scale;
} mluopsPrRoiPoolShape;

typedef struct mluopsPrRoiPoolForwardProblem {
  mluopsPrRoiPoolShape shape;
  const void* input;
  const void* rois;
  void* output;
  mluOpTensorLayout_t layout; /* of the image tensors: NHWC, or another that the backend's property "layouts" names */
  double exact_spatial_scale; /* spatial_scale; in DOUBLE what the caller may have given more exactly */
} mluopsPrRoiPoolForwardProblem;

typedef struct mluopsPrRoiPoolBackwardProblem {
  mluopsPrRoiPoolShape shape;
  const void* grad_output;
  const void* input;
  const void* rois;
  void* grad_input;           /* nullptr: not wanted */
  void* grad_rois;            /* [rois,5]; nullptr: not wanted */
  mluOpTensorLayout_t layout; /* of the image tensors: NHWC, or another that the backend's property "layouts" names */
  double exact_spatial_scale; /* spatial_scale; in DOUBLE what the caller may have given more exactly */
} mluopsPrRoiPoolBackwardProblem;

#if defined(__cplusplus)
}
#endif

#endif /* MLUOPS_PROBLEM_PRROI_POOL_H_ */
