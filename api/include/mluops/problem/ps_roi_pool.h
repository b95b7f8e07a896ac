/* The problems of PsRoiPool (see mluops/problem.h for what has been validated). */
#ifndef MLUOPS_PROBLEM_PS_ROI_POOL_H_
#define MLUOPS_PROBLEM_PS_ROI_POOL_H_

#include <stdint.h>

#include "mlu_op_types.h"

#if defined(__cplusplus)
extern "C" {
#endif

/** input [batch,h,w,output_dim*pooled_h*pooled_w], rois [rois,5], output and mapping_channel
 *  [rois,pooled_h,pooled_w,output_dim]; fewer than 2^31 channels. */
typedef struct mluopsPsRoiPoolShape {
  mluOpDataType_t dtype;
  int64_t batch, h, w;
  int64_t rois; /* backward: may be 0 */
  int64_t pooled_h, pooled_w, output_dim;
  float spatial_scale;
} mluopsPsRoiPoolShape;

typedef struct mluopsPsRoiPoolForwardProblem {
  mluopsPsRoiPoolShape shape;
  const void* input;
  const void* rois;
  void* output;
  int32_t* mapping_channel;   /* may be NULL */
  mluOpTensorLayout_t layout; /* of the image tensors: NHWC, or another that the backend's property "layouts" names */
  double exact_spatial_scale; /* spatial_scale; in DOUBLE what the caller may have given more exactly */
} mluopsPsRoiPoolForwardProblem;

typedef struct mluopsPsRoiPoolBackwardProblem {
  mluopsPsRoiPoolShape shape;
  const void* grad_output;
  const void* rois;
  const int32_t* mapping_channel; /* arbitrary: outside the channels adds to nothing; NULL: what the forward wrote */
  void* grad_input;
  mluOpTensorLayout_t layout; /* of the image tensors: NHWC, or another that the backend's property "layouts" names */
  double exact_spatial_scale; /* spatial_scale; in DOUBLE what the caller may have given more exactly */
} mluopsPsRoiPoolBackwardProblem;

#if defined(__cplusplus)
}
#endif

#endif /* MLUOPS_PROBLEM_PS_ROI_POOL_H_ */
