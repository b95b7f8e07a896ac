/* The problems of MaskedIm2col and MaskedCol2im (see mluops/problem.h for what has been validated). */
#ifndef MLUOPS_PROBLEM_MASKED_IM2COL_H_
#define MLUOPS_PROBLEM_MASKED_IM2COL_H_

#include <stdint.h>

#include "mlu_op_types.h"

#if defined(__cplusplus)
extern "C" {
#endif

/** Image [c,h,w], columns [c*kernel_h*kernel_w,m]; MaskedCol2im: kernel 1 x 1, no padding. */
typedef struct mluopsMaskedIm2colShape {
  mluOpDataType_t dtype;
  int64_t c, h, w;
  int64_t m; /* MaskedCol2im: may be 0 */
  int64_t kernel_h, kernel_w, pad_h, pad_w;
} mluopsMaskedIm2colShape;

typedef struct mluopsMaskedIm2colForwardProblem {
  mluopsMaskedIm2colShape shape;
  const void* feature;
  const int32_t* mask_h_idx; /* arbitrary */
  const int32_t* mask_w_idx; /* likewise */
  void* data_col;
} mluopsMaskedIm2colForwardProblem;

typedef struct mluopsMaskedCol2imForwardProblem {
  mluopsMaskedIm2colShape shape;
  const void* col;
  const int32_t* mask_h_idx; /* arbitrary: pixels outside are not written, of several for one pixel the last is */
  const int32_t* mask_w_idx; /* likewise */
  void* im;
} mluopsMaskedCol2imForwardProblem;

#if defined(__cplusplus)
}
#endif

#endif /* MLUOPS_PROBLEM_MASKED_IM2COL_H_ */
