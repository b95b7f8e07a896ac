/* The problems of BoxesOverlapBev and Nms3d (see mluops/problem.h for what has been validated). */
#ifndef MLUOPS_PROBLEM_IOU3D_H_
#define MLUOPS_PROBLEM_IOU3D_H_

#include <stdint.h>

#include "mlu_op_types.h"

#if defined(__cplusplus)
extern "C" {
#endif

/** BoxesOverlapBev: boxes_a [n,7], boxes_b [m,7], overlap [n,m]. */
typedef struct mluopsBoxesOverlapBevShape {
  mluOpDataType_t dtype;
  int64_t n, m;
} mluopsBoxesOverlapBevShape;

typedef struct mluopsBoxesOverlapBevProblem {
  mluopsBoxesOverlapBevShape shape;
  const void* boxes_a;
  const void* boxes_b;
  void* overlap;
} mluopsBoxesOverlapBevProblem;

/** Nms3d: boxes and keep [n]. */
typedef struct mluopsNms3dShape {
  mluOpDataType_t dtype;
  int64_t n;
  float iou_threshold; /**< not NaN */
  int32_t rotated;     /**< 0 or 1 */
} mluopsNms3dShape;

typedef struct mluopsNms3dProblem {
  mluopsNms3dShape shape;
  const void* boxes; /**< [n,7], NULL where n = 0 */
  int32_t* keep;     /**< likewise */
  int32_t* num_out;
  double exact_iou_threshold; /**< iou_threshold; in DOUBLE what the caller may have given more exactly */
} mluopsNms3dProblem;

#if defined(__cplusplus)
}
#endif

#endif /* MLUOPS_PROBLEM_IOU3D_H_ */
