/* The problem of FocalLossSigmoid and FocalLossSoftmax (see mluops/problem.h for what has been validated). */
#ifndef MLUOPS_PROBLEM_FOCAL_LOSS_H_
#define MLUOPS_PROBLEM_FOCAL_LOSS_H_

#include <stdint.h>

#include "mlu_op_types.h"

#if defined(__cplusplus)
extern "C" {
#endif

typedef struct mluopsFocalLossShape {
  mluOpDataType_t dtype;
  int64_t n, c;
  float alpha, gamma;
} mluopsFocalLossShape;

/** Both losses, both directions: input [n,c], target [n], weight [c]; result [n,c], of the softmax loss [n].
 * Targets are at most c; of the softmax loss, and where there is a weight, they are below c. Sigmoid with a weight:
 * they are not negative either. */
typedef struct mluopsFocalLossProblem {
  mluopsFocalLossShape shape;
  const void* input; /* sigmoid: logits; softmax: probabilities */
  const int32_t* target;
  const void* weight; /* NULL: none */
  void* result;       /* output or grad_input */
  double exact_alpha; /* alpha; in DOUBLE what the caller may have given more exactly */
  double exact_gamma; /* likewise */
} mluopsFocalLossProblem;

#if defined(__cplusplus)
}
#endif

#endif /* MLUOPS_PROBLEM_FOCAL_LOSS_H_ */
