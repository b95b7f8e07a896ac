/* The problems of BboxOverlaps, BoxIouRotated, BoxIouQuadri, NmsRotated (mluops/problem.h: what has been validated). */
#ifndef MLUOPS_PROBLEM_BOX_IOU_H_
#define MLUOPS_PROBLEM_BOX_IOU_H_

#include <stdint.h>

#include "mlu_op_types.h"

#if defined(__cplusplus)
extern "C" {
#endif

/** bbox1 [n,4], rotated [n,5], of four corners [n,8]; bbox2 likewise [m,...]; ious [n,m], [n] if aligned. */
typedef struct mluopsBoxIouShape {
  mluOpDataType_t dtype;
  int64_t n, m;
  int32_t mode;    /**< 0: IoU, 1: shared area over that of the first box */
  int32_t aligned; /**< 0 or 1; then n is m */
  int32_t offset;  /**< 0 or 1; but for upright boxes 0 */
} mluopsBoxIouShape;

typedef struct mluopsBoxIouProblem {
  mluopsBoxIouShape shape;
  const void* bbox1;
  const void* bbox2;
  void* ious;
} mluopsBoxIouProblem;

/** NmsRotated: boxes [n,width], scores and output [n]. */
typedef struct mluopsNmsRotatedShape {
  mluOpDataType_t dtype;
  int64_t n;
  int32_t width; /**< 5, or 6 with a label */
} mluopsNmsRotatedShape;

typedef struct mluopsNmsRotatedProblem {
  mluopsNmsRotatedShape shape;
  const void* boxes;  /**< NULL where n = 0 */
  const void* scores; /**< likewise */
  int32_t* output;    /**< likewise */
  int32_t* result_num;
  double iou_threshold; /**< not NaN */
} mluopsNmsRotatedProblem;

#if defined(__cplusplus)
}
#endif

#endif /* MLUOPS_PROBLEM_BOX_IOU_H_ */
