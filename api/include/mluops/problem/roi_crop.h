/* The problems of RoiCrop (see mluops/problem.h for what has been validated). */
#ifndef MLUOPS_PROBLEM_ROI_CROP_H_
#define MLUOPS_PROBLEM_ROI_CROP_H_

#include <stdint.h>

#include "mlu_op_types.h"

#if defined(__cplusplus)
extern "C" {
#endif

/** input [batch,h,w,c], grid [grids,out_h,out_w,2], output [grids,out_h,out_w,c]; grids is a multiple of batch. */
typedef struct mluopsRoiCropShape {
  mluOpDataType_t dtype;
  int64_t batch, h, w, c;
  int64_t grids, out_h, out_w;
} mluopsRoiCropShape;

typedef struct mluopsRoiCropForwardProblem {
  mluopsRoiCropShape shape;
  const void* input;
  const void* grid; /* arbitrary: pixels outside count 0 */
  void* output;
  mluOpTensorLayout_t layout; /* of the image tensors: NHWC, or another that the backend's property "layouts" names */
} mluopsRoiCropForwardProblem;

typedef struct mluopsRoiCropBackwardProblem {
  mluopsRoiCropShape shape;
  const void* grad_output;
  const void* grid; /* likewise */
  void* grad_input;
  mluOpTensorLayout_t layout; /* of the image tensors: NHWC, or another that the backend's property "layouts" names */
} mluopsRoiCropBackwardProblem;

#if defined(__cplusplus)
}
#endif

#endif /* MLUOPS_PROBLEM_ROI_CROP_H_ */
