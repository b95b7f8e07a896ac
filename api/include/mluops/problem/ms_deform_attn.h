/* The problems of MsDeformAttn (see mluops/problem.h for what has been validated). */
#ifndef MLUOPS_PROBLEM_MS_DEFORM_ATTN_H_
#define MLUOPS_PROBLEM_MS_DEFORM_ATTN_H_

#include <stdint.h>

#include "mlu_op_types.h"

#if defined(__cplusplus)
extern "C" {
#endif

/** MsDeformAttn: value [batch,keys,heads,channels], spatial_shapes [levels,2] of h and w, level_start_index [levels],
 * sampling_loc [batch,queries,heads,levels,points,2] of x and y, attn_weight [batch,queries,heads,levels,points],
 * output [batch,queries,heads,channels]. keys, levels and points may be 0, the pointers of empty tensors NULL. Every
 * level lies inside of [0,keys). Locations are arbitrary. */
typedef struct mluopsMsDeformAttnShape {
  mluOpDataType_t dtype;
  int64_t batch, keys, heads, channels, levels, queries, points;
} mluopsMsDeformAttnShape;

typedef struct mluopsMsDeformAttnForwardProblem {
  mluopsMsDeformAttnShape shape;
  const void* value;
  const int32_t* spatial_shapes;
  const int32_t* level_start_index;
  const void* sampling_loc;
  const void* attn_weight;
  void* output;
} mluopsMsDeformAttnForwardProblem;

typedef struct mluopsMsDeformAttnBackwardProblem {
  mluopsMsDeformAttnShape shape;
  const void* value;
  const int32_t* spatial_shapes;
  const int32_t* level_start_index;
  const void* sampling_loc;
  const void* attn_weight;
  const void* grad_output;
  void* grad_value;
  void* grad_sampling_loc;
  void* grad_attn_weight;
} mluopsMsDeformAttnBackwardProblem;

#if defined(__cplusplus)
}
#endif

#endif /* MLUOPS_PROBLEM_MS_DEFORM_ATTN_H_ */
