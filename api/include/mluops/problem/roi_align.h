/* The problems of RoiAlign (see mluops/problem.h for what has been validated). */
#ifndef MLUOPS_PROBLEM_ROI_ALIGN_H_
#define MLUOPS_PROBLEM_ROI_ALIGN_H_

#include <stdint.h>

#include "mlu_op_types.h"

#if defined(__cplusplus)
extern "C" {
#endif

/** RoiAlign: input [batch,h,w,c], rois [rois,5], output [rois,pooled_h,pooled_w,c]. */
typedef struct mluopsRoiAlignShape {
  mluOpDataType_t dtype;
  int64_t batch, h, w, c;
  int64_t rois; /* backward: may be 0 */
  int64_t pooled_h, pooled_w;
  float spatial_scale;
  int sampling_ratio;
  int aligned;
  int mean; /* 1: the mean of the samples, 0: the greatest */
} mluopsRoiAlignShape;

typedef struct mluopsRoiAlignForwardProblem {
  mluopsRoiAlignShape shape;
  const void* input;
  const void* rois;
  void* output;
  void* argmax_x; /* NULL where shape.mean */
  void* argmax_y;
  mluOpTensorLayout_t layout; /* of the image tensors: NHWC, or another that the backend's property "layouts" names */
  double exact_spatial_scale; /* spatial_scale; in DOUBLE what the caller may have given more exactly */
} mluopsRoiAlignForwardProblem;

typedef struct mluopsRoiAlignBackwardProblem {
  mluopsRoiAlignShape shape;
  const void* grad_output;
  const void* rois;
  const void* argmax_x; /* NULL where shape.mean */
  const void* argmax_y;
  void* grad_input;
  mluOpTensorLayout_t layout; /* of the image tensors: NHWC, or another that the backend's property "layouts" names */
  double exact_spatial_scale; /* spatial_scale; in DOUBLE what the caller may have given more exactly */
} mluopsRoiAlignBackwardProblem;

#if defined(__cplusplus)
}
#endif

#endif /* MLUOPS_PROBLEM_ROI_ALIGN_H_ */
