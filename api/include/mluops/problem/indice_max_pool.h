/* The problems of IndiceMaxPool (see mluops/problem.h for what has been validated). */
#ifndef MLUOPS_PROBLEM_INDICE_MAX_POOL_H_
#define MLUOPS_PROBLEM_INDICE_MAX_POOL_H_

#include <stdint.h>

#include "mlu_op_types.h"
#include "mluops/problem/indice_convolution.h"

#if defined(__cplusplus)
extern "C" {
#endif

/** features [inputs,c], features_out [outputs,c]. */
typedef struct mluopsIndiceMaxPoolShape {
  mluOpDataType_t dtype;
  int64_t inputs, outputs, c;
} mluopsIndiceMaxPoolShape;

typedef struct mluopsIndiceMaxPoolForwardProblem {
  mluopsIndiceMaxPoolShape shape;
  mluopsIndicePairs pairs;
  const void* features;
  void* features_out;
} mluopsIndiceMaxPoolForwardProblem;

typedef struct mluopsIndiceMaxPoolBackwardProblem {
  mluopsIndiceMaxPoolShape shape;
  mluopsIndicePairs pairs;
  const void* features;
  const void* features_out;
  const void* output_grad;
  void* input_grad;
} mluopsIndiceMaxPoolBackwardProblem;

#if defined(__cplusplus)
}
#endif

#endif /* MLUOPS_PROBLEM_INDICE_MAX_POOL_H_ */
