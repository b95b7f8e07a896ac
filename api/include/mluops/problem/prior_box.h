/* The problem of PriorBox (see mluops/problem.h for what has been validated). */
#ifndef MLUOPS_PROBLEM_PRIOR_BOX_H_
#define MLUOPS_PROBLEM_PRIOR_BOX_H_

#include <stdint.h>

#include "mlu_op_types.h"

#if defined(__cplusplus)
extern "C" {
#endif

/** min_sizes [sizes], aspect_ratios [ratios], variances [4], max_sizes [max_sizes]; output and var
 *  [h, w, sizes * ratios + max_sizes, 4]. */
typedef struct mluopsPriorBoxShape {
  mluOpDataType_t dtype;
  int64_t sizes, ratios;
  int64_t max_sizes; /* 0 or sizes */
  int64_t h, w;
} mluopsPriorBoxShape;

typedef struct mluopsPriorBoxProblem {
  mluopsPriorBoxShape shape;
  const void* min_sizes;
  const void* aspect_ratios;
  const void* variances;
  const void* max_sizes; /* NULL without */
  void* output;
  void* var;
  int32_t im_height, im_width; /* >= 1 */
  double step_h, step_w;       /* > 0 */
  double offset;
  int32_t clip, min_max_order; /* 0 or 1 */
} mluopsPriorBoxProblem;

#if defined(__cplusplus)
}
#endif

#endif /* MLUOPS_PROBLEM_PRIOR_BOX_H_ */
