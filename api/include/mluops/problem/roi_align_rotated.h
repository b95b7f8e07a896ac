/* The problems of RoiAlignRotated (see mluops/problem.h for what has been validated). */
#ifndef MLUOPS_PROBLEM_ROI_ALIGN_ROTATED_H_
#define MLUOPS_PROBLEM_ROI_ALIGN_ROTATED_H_

#include <stdint.h>

#include "mlu_op_types.h"

#if defined(__cplusplus)
extern "C" {
#endif

/** RoiAlignRotated: input [batch,h,w,c], rois [rois,6], output [rois,pooled_h,pooled_w,c]. */
typedef struct mluopsRoiAlignRotatedShape {
  mluOpDataType_t dtype;
  int64_t batch, h, w, c;
  int64_t rois; /* backward: may be 0 */
  int64_t pooled_h, pooled_w;
  float spatial_scale;  /* >= 0 */
  int32_t sample_ratio; /* >= 0 */
  int32_t aligned;      /* 0 or 1 */
  int32_t clockwise;    /* 0 or 1 */
} mluopsRoiAlignRotatedShape;

typedef struct mluopsRoiAlignRotatedForwardProblem {
  mluopsRoiAlignRotatedShape shape;
  const void* input;
  const void* rois;
  void* output;
  mluOpTensorLayout_t layout; /* of the image tensors: NHWC, or another that the backend's property "layouts" names */
  double exact_spatial_scale; /* spatial_scale; in DOUBLE what the caller may have given more exactly */
} mluopsRoiAlignRotatedForwardProblem;

typedef struct mluopsRoiAlignRotatedBackwardProblem {
  mluopsRoiAlignRotatedShape shape;
  const void* grad_output;
  const void* rois;
  void* grad_input;
  mluOpTensorLayout_t layout; /* of the image tensors: NHWC, or another that the backend's property "layouts" names */
  double exact_spatial_scale; /* spatial_scale; in DOUBLE what the caller may have given more exactly */
} mluopsRoiAlignRotatedBackwardProblem;

#if defined(__cplusplus)
}
#endif

#endif /* MLUOPS_PROBLEM_ROI_ALIGN_ROTATED_H_ */
