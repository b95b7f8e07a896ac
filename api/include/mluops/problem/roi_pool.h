/* The problems of RoiPooling (see mluops/problem.h for what has been validated). */
#ifndef MLUOPS_PROBLEM_ROI_POOL_H_
#define MLUOPS_PROBLEM_ROI_POOL_H_

#include <stdint.h>

#include "mlu_op_types.h"

#if defined(__cplusplus)
extern "C" {
#endif

/** RoiPooling: input [batch,h,w,c], rois [rois,5], output and argmax [rois,pooled_h,pooled_w,c]; h * w < 2^31. */
typedef struct mluopsRoiPoolShape {
  mluOpDataType_t dtype;
  int64_t batch, h, w, c;
  int64_t rois; /* backward: may be 0 */
  int64_t pooled_h, pooled_w;
  float spatial_scale;
} mluopsRoiPoolShape;

typedef struct mluopsRoiPoolForwardProblem {
  mluopsRoiPoolShape shape;
  const void* input;
  const void* rois;
  void* output;
  int32_t* argmax;            /* may be NULL */
  mluOpTensorLayout_t layout; /* of the image tensors: NHWC, or another that the backend's property "layouts" names */
  double exact_spatial_scale; /* spatial_scale; in DOUBLE what the caller may have given more exactly */
} mluopsRoiPoolForwardProblem;

typedef struct mluopsRoiPoolBackwardProblem {
  mluopsRoiPoolShape shape;
  const void* grad_output;
  const void* rois;
  const int32_t* argmax; /* arbitrary: outside [0,h*w-1] adds to nothing */
  void* grad_input;
  mluOpTensorLayout_t layout; /* of the image tensors: NHWC, or another that the backend's property "layouts" names */
  double exact_spatial_scale; /* spatial_scale; in DOUBLE what the caller may have given more exactly */
} mluopsRoiPoolBackwardProblem;

#if defined(__cplusplus)
}
#endif

#endif /* MLUOPS_PROBLEM_ROI_POOL_H_ */
