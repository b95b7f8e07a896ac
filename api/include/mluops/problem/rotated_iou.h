/* The problems of RotatedIou (see mluops/problem.h for what has been validated). */
#ifndef MLUOPS_PROBLEM_ROTATED_IOU_H_
#define MLUOPS_PROBLEM_ROTATED_IOU_H_

#include <stdint.h>

#include "mlu_op_types.h"

#if defined(__cplusplus)
extern "C" {
#endif

/** RotatedIou: boxes [count,numbers], ious [count]. */
typedef struct mluopsRotatedIouShape {
  mluOpDataType_t dtype;
  int64_t count;
  int64_t numbers; /* 5 or 7 */
} mluopsRotatedIouShape;

typedef struct mluopsRotatedIouForwardProblem {
  mluopsRotatedIouShape shape;
  const void* box1;
  const void* box2;
  void* ious;
} mluopsRotatedIouForwardProblem;

typedef struct mluopsRotatedIouBackwardProblem {
  mluopsRotatedIouShape shape;
  const void* grad_ious;
  const void* box1;
  const void* box2;
  void* grad_box1;
  void* grad_box2;
} mluopsRotatedIouBackwardProblem;

#if defined(__cplusplus)
}
#endif

#endif /* MLUOPS_PROBLEM_ROTATED_IOU_H_ */
