/* The problems of RotatedFeatureAlign (see mluops/problem.h for what has been validated). */
#ifndef MLUOPS_PROBLEM_ROTATED_FEATURE_ALIGN_H_
#define MLUOPS_PROBLEM_ROTATED_FEATURE_ALIGN_H_

#include <stdint.h>

#include "mlu_op_types.h"

#if defined(__cplusplus)
extern "C" {
#endif

/** RotatedFeatureAlign: input and output [batch,h,w,c], bboxes [batch,h,w,5]. */
typedef struct mluopsRotatedFeatureAlignShape {
  mluOpDataType_t dtype;
  int64_t batch, h, w, c;
  float spatial_scale;
  int32_t points; /* 1 or 5 */
} mluopsRotatedFeatureAlignShape;

typedef struct mluopsRotatedFeatureAlignForwardProblem {
  mluopsRotatedFeatureAlignShape shape;
  const void* input;
  const void* bboxes;
  void* output;
  mluOpTensorLayout_t layout; /* of the image tensors: NHWC, or another that the backend's property "layouts" names */
  double exact_spatial_scale; /* spatial_scale; in DOUBLE what the caller may have given more exactly */
} mluopsRotatedFeatureAlignForwardProblem;

typedef struct mluopsRotatedFeatureAlignBackwardProblem {
  mluopsRotatedFeatureAlignShape shape;
  const void* grad_output;
  const void* bboxes;
  void* grad_input;
  mluOpTensorLayout_t layout; /* of the image tensors: NHWC, or another that the backend's property "layouts" names */
  double exact_spatial_scale; /* spatial_scale; in DOUBLE what the caller may have given more exactly */
} mluopsRotatedFeatureAlignBackwardProblem;

#if defined(__cplusplus)
}
#endif

#endif /* MLUOPS_PROBLEM_ROTATED_FEATURE_ALIGN_H_ */
