/* The problem of DiffIouRotatedSortVertices (see mluops/problem.h for what has been validated). */
#ifndef MLUOPS_PROBLEM_DIFF_IOU_ROTATED_H_
#define MLUOPS_PROBLEM_DIFF_IOU_ROTATED_H_

#include <stdint.h>

#include "mlu_op_types.h"

#if defined(__cplusplus)
extern "C" {
#endif

/** Pairs of rectangles, all batches together. */
typedef struct mluopsDiffIouRotatedSortVerticesShape {
  mluOpDataType_t dtype;
  int64_t n;
} mluopsDiffIouRotatedSortVerticesShape;

typedef struct mluopsDiffIouRotatedSortVerticesProblem {
  mluopsDiffIouRotatedSortVerticesShape shape;
  const void* vertices;     /**< [n,24,2] */
  const uint8_t* mask;      /**< [n,24] */
  const int32_t* num_valid; /**< [n], arbitrary numbers */
  int32_t* idx;             /**< [n,9] */
} mluopsDiffIouRotatedSortVerticesProblem;

#if defined(__cplusplus)
}
#endif

#endif /* MLUOPS_PROBLEM_DIFF_IOU_ROTATED_H_ */
