/* The immutable problem of each operator, as a backend sees it. Plain C, part of the plugin ABI.
 *
 * Everything here has been validated: dtypes agree, shapes fit together, no size is zero, every
 * tensor is dense and row-major, element counts fit int64 (and int32 under the STRICT contract), inputs and
 * outputs do not overlap, pointers are not NULL except where said, and RoI batch indices lie in [0, batch-1].
 * Other values found in the data (three_interpolate indices, border_align argmax, coordinates, NaN) are arbitrary.
 */
#ifndef MLUOPS_PROBLEM_H_
#define MLUOPS_PROBLEM_H_

#include <stdint.h>

#include "mlu_op.h"

#if defined(__cplusplus)
extern "C" {
#endif

/** CARAFE: input [n,h,w,c], mask [n,ho,wo,group*kernel*kernel], output [n,ho,wo,c]; ho = scale*h, wo = scale*w. */
typedef struct {
  mluOpDataType_t dtype;
  int64_t n, h, w, c;
  int64_t ho, wo;
  int64_t kernel, group, scale;
} mluopsCarafeShape;

typedef struct {
  mluopsCarafeShape shape;
  const void* input;
  const void* mask;
  void* output;
} mluopsCarafeForwardProblem;

typedef struct {
  mluopsCarafeShape shape;
  const void* input;
  const void* mask;
  const void* grad_output;
  void* grad_input;
  void* grad_mask;
} mluopsCarafeBackwardProblem;

/** PSAMask: x [n,h,w,h_mask*w_mask], y [n,h,w,h*w]; psa_type 0 collect, 1 distribute. */
typedef struct {
  mluOpDataType_t dtype;
  int64_t n, h, w;
  int64_t h_mask, w_mask;
  int psa_type;
} mluopsPsamaskShape;

typedef struct {
  mluopsPsamaskShape shape;
  const void* x;
  void* y;
} mluopsPsamaskForwardProblem;

typedef struct {
  mluopsPsamaskShape shape;
  const void* dy;
  void* dx;
} mluopsPsamaskBackwardProblem;

/** ThreeInterpolate: features [b,c,m], indices and weights [b,n,3], output [b,c,n]. */
typedef struct {
  mluOpDataType_t dtype;
  int64_t b, c, m, n;
} mluopsThreeInterpolateShape;

typedef struct {
  mluopsThreeInterpolateShape shape;
  const void* features;
  const int32_t* indices;
  const void* weights;
  void* output;
} mluopsThreeInterpolateForwardProblem;

typedef struct {
  mluopsThreeInterpolateShape shape;
  const void* grad_output;
  const int32_t* indices;
  const void* weights;
  void* grad_features;
} mluopsThreeInterpolateBackwardProblem;

/** DeformRoiPool: input [batch,h,w,c], rois [rois,5], offset [rois,2,pooled_h,pooled_w], output
 * [rois,pooled_h,pooled_w,c]. */
typedef struct {
  mluOpDataType_t dtype;
  int64_t batch, h, w, c;
  int64_t rois;
  int64_t pooled_h, pooled_w;
  float spatial_scale;
  float gamma;
  int sampling_ratio;
} mluopsDeformRoiPoolShape;

typedef struct {
  mluopsDeformRoiPoolShape shape;
  const void* input;
  const void* rois;
  const void* offset; /* may be NULL */
  void* output;
} mluopsDeformRoiPoolForwardProblem;

typedef struct {
  mluopsDeformRoiPoolShape shape;
  const void* grad_output;
  const void* input;
  const void* rois;
  const void* offset; /* may be NULL */
  void* grad_input;
  void* grad_offset; /* NULL exactly when offset is */
} mluopsDeformRoiPoolBackwardProblem;

/** BorderAlign: input [n,h,w,4*c], boxes [n,k,4], output and argmax [n,k,4,c]; c counts one border's channels. */
typedef struct {
  mluOpDataType_t dtype;
  int64_t n, h, w, c;
  int64_t k;
  int64_t pool_size;
} mluopsBorderAlignShape;

typedef struct {
  mluopsBorderAlignShape shape;
  const void* input;
  const void* boxes;
  void* output;
  int32_t* argmax;
} mluopsBorderAlignForwardProblem;

typedef struct {
  mluopsBorderAlignShape shape;
  const void* grad_output;
  const void* boxes;
  const int32_t* argmax;
  void* grad_input;
} mluopsBorderAlignBackwardProblem;

#if defined(__cplusplus)
}
#endif

#endif /* MLUOPS_PROBLEM_H_ */
