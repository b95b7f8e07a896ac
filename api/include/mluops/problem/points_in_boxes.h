/* The problems of PointsInBoxes (see mluops/problem.h for what has been validated). */
#ifndef MLUOPS_PROBLEM_POINTS_IN_BOXES_H_
#define MLUOPS_PROBLEM_POINTS_IN_BOXES_H_

#include <stdint.h>

#include "mlu_op_types.h"

#if defined(__cplusplus)
extern "C" {
#endif

/** PointsInBoxes: points [b,m,3], boxes [b,n,7]. */
typedef struct mluopsPointsInBoxesShape {
  mluOpDataType_t dtype;
  int64_t b, m, n;
  int32_t centred; /**< 1: z of a box is its centre, and 1e-5 is added to half its sides; 0: z is the bottom */
} mluopsPointsInBoxesShape;

/** idx [b,m]: the first box, or -1. */
typedef struct mluopsPointsInBoxesPartProblem {
  mluopsPointsInBoxesShape shape;
  const void* points;
  const void* boxes;
  int32_t* idx;
} mluopsPointsInBoxesPartProblem;

/** inside [b,m,n]: 1 or 0. */
typedef struct mluopsPointsInBoxesAllProblem {
  mluopsPointsInBoxesShape shape;
  const void* points;
  const void* boxes;
  int32_t* inside;
} mluopsPointsInBoxesAllProblem;

#if defined(__cplusplus)
}
#endif

#endif /* MLUOPS_PROBLEM_POINTS_IN_BOXES_H_ */
