/* The problems of DeformRoiPool (see mluops/problem.h for what has been validated). */
#ifndef MLUOPS_PROBLEM_DEFORM_ROI_POOL_H_
#define MLUOPS_PROBLEM_DEFORM_ROI_POOL_H_

#include <stdint.h>

#include "mlu_op_types.h"

#if defined(__cplusplus)
extern "C" {
#endif

/** DeformRoiPool: input [batch,h,w,c], rois [rois,5], offset [rois,2,pooled_h,pooled_w], output
 * [rois,pooled_h,pooled_w,c]. */
typedef struct mluopsDeformRoiPoolShape {
  mluOpDataType_t dtype;
  int64_t batch, h, w, c;
  int64_t rois;
  int64_t pooled_h, pooled_w;
  float spatial_scale;
  float gamma;
  int sampling_ratio;
} mluopsDeformRoiPoolShape;

typedef struct mluopsDeformRoiPoolForwardProblem {
  mluopsDeformRoiPoolShape shape;
  const void* input;
  const void* rois;
  const void* offset; /* may be NULL */
  void* output;
  mluOpTensorLayout_t layout; /* of the image tensors: NHWC, or another that the backend's property "layouts" names */
  double exact_spatial_scale; /* spatial_scale; in DOUBLE what the caller may have given more exactly */
  double exact_gamma;         /* likewise */
} mluopsDeformRoiPoolForwardProblem;

typedef struct mluopsDeformRoiPoolBackwardProblem {
  mluopsDeformRoiPoolShape shape;
  const void* grad_output;
  const void* input;
  const void* rois;
  const void* offset; /* may be NULL */
  void* grad_input;
  void* grad_offset;          /* NULL exactly when offset is */
  mluOpTensorLayout_t layout; /* of the image tensors: NHWC, or another that the backend's property "layouts" names */
  double exact_spatial_scale; /* spatial_scale; in DOUBLE what the caller may have given more exactly */
  double exact_gamma;         /* likewise */
} mluopsDeformRoiPoolBackwardProblem;

#if defined(__cplusplus)
}
#endif

#endif /* MLUOPS_PROBLEM_DEFORM_ROI_POOL_H_ */
