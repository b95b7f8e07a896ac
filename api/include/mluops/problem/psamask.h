/* The problems of PSAMask (see mluops/problem.h for what has been validated). */
#ifndef MLUOPS_PROBLEM_PSAMASK_H_
#define MLUOPS_PROBLEM_PSAMASK_H_

#include <stdint.h>

#include "mlu_op.h"

#if defined(__cplusplus)
extern "C" {
#endif

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
  int nchw; /* 1: the image tensors are NCHW (only asked of backends whose "layouts" property names it) */
} mluopsPsamaskForwardProblem;

typedef struct {
  mluopsPsamaskShape shape;
  const void* dy;
  void* dx;
  int nchw; /* 1: the image tensors are NCHW (only asked of backends whose "layouts" property names it) */
} mluopsPsamaskBackwardProblem;

#if defined(__cplusplus)
}
#endif

#endif /* MLUOPS_PROBLEM_PSAMASK_H_ */
