/* The problems of BezierAlign (see mluops/problem.h for what has been validated). */
#ifndef MLUOPS_PROBLEM_BEZIER_ALIGN_H_
#define MLUOPS_PROBLEM_BEZIER_ALIGN_H_

#include <stdint.h>

#include "mlu_op_types.h"

#if defined(__cplusplus)
extern "C" {
#endif

/** BezierAlign: input [batch,h,w,c], beziers [rois,17], output [rois,pooled_h,pooled_w,c]. */
typedef struct mluopsBezierAlignShape {
  mluOpDataType_t dtype;
  int64_t batch, h, w, c;
  int64_t rois; /* backward: may be 0 */
  int64_t pooled_h, pooled_w;
  float spatial_scale;
  int32_t sampling_ratio; /* >= 0 */
  int32_t aligned;        /* 0 or 1 */
} mluopsBezierAlignShape;

typedef struct mluopsBezierAlignForwardProblem {
  mluopsBezierAlignShape shape;
  const void* input;
  const void* beziers;
  void* output;
  mluOpTensorLayout_t layout; /* of the image tensors: NHWC, or another that the backend's property "layouts" names */
  double exact_spatial_scale; /* spatial_scale; in DOUBLE what the caller may have given more exactly */
} mluopsBezierAlignForwardProblem;

typedef struct mluopsBezierAlignBackwardProblem {
  mluopsBezierAlignShape shape;
  const void* grad_output;
  const void* beziers;
  void* grad_input;
  mluOpTensorLayout_t layout; /* of the image tensors: NHWC, or another that the backend's property "layouts" names */
  double exact_spatial_scale; /* spatial_scale; in DOUBLE what the caller may have given more exactly */
} mluopsBezierAlignBackwardProblem;

#if defined(__cplusplus)
}
#endif

#endif /* MLUOPS_PROBLEM_BEZIER_ALIGN_H_ */
