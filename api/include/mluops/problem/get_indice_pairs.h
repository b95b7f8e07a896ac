/* The problem of GetIndicePairs (see mluops/problem.h for what has been validated). */
#ifndef MLUOPS_PROBLEM_GET_INDICE_PAIRS_H_
#define MLUOPS_PROBLEM_GET_INDICE_PAIRS_H_

#include <stdint.h>

#if defined(__cplusplus)
extern "C" {
#endif

#define MLUOPS_MOST_SPARSE_AXES 4

/** One axis of space. Of a submanifold convolution pad is filter / 2 and stride 1; where dilation is not 1, stride is.
 */
typedef struct mluopsSparseAxis {
  int32_t input, output; /**< sizes of the grids */
  int32_t filter, pad, stride, dilation;
} mluopsSparseAxis;

typedef struct mluopsGetIndicePairsShape {
  int32_t axes;                                   /**< 2 to 4 */
  mluopsSparseAxis axis[MLUOPS_MOST_SPARSE_AXES]; /**< slowest first */
  int64_t batch;                                  /**< batch times either grid is less than 2^62 */
  int32_t sub_m, transpose;
  int64_t inputs;  /**< rows of indices */
  int64_t outputs; /**< rows of out_indices */
  int64_t offsets; /**< of the filter, its volume */
} mluopsGetIndicePairsShape;

typedef struct mluopsGetIndicePairsProblem {
  mluopsGetIndicePairsShape shape;
  const int32_t* indices; /**< [inputs,axes+1]: batch and place, arbitrary numbers */
  int32_t* indice_pairs;  /**< [offsets,2,inputs] */
  int32_t* out_indices;   /**< [outputs,axes+1] */
  int32_t* indice_num;    /**< [offsets] */
  int32_t* num_act_out;   /**< [1] */
} mluopsGetIndicePairsProblem;

#if defined(__cplusplus)
}
#endif

#endif /* MLUOPS_PROBLEM_GET_INDICE_PAIRS_H_ */
