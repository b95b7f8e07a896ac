/* The problem of PolyNms (see mluops/problem.h for what has been validated). */
#ifndef MLUOPS_PROBLEM_POLY_NMS_H_
#define MLUOPS_PROBLEM_POLY_NMS_H_

#include <stdint.h>

#include "mlu_op_types.h"

#if defined(__cplusplus)
extern "C" {
#endif

/** boxes [n,9], output [n]; n < 2^31. */
typedef struct mluopsPolyNmsShape {
  mluOpDataType_t dtype;
  int64_t n;
} mluopsPolyNmsShape;

typedef struct mluopsPolyNmsProblem {
  mluopsPolyNmsShape shape;
  const void* boxes; /* NULL where n = 0 */
  int32_t* output;   /* likewise */
  int32_t* output_size;
  double iou_threshold; /* not NaN */
} mluopsPolyNmsProblem;

#if defined(__cplusplus)
}
#endif

#endif /* MLUOPS_PROBLEM_POLY_NMS_H_ */
