/* The problems of IndiceConvolution (see mluops/problem.h for what has been validated). */
#ifndef MLUOPS_PROBLEM_INDICE_CONVOLUTION_H_
#define MLUOPS_PROBLEM_INDICE_CONVOLUTION_H_

#include <stdint.h>

#include "mlu_op_types.h"

#if defined(__cplusplus)
extern "C" {
#endif

/** Pairs of rows: indice_pairs [offsets,2,places], whose numbers are arbitrary; the first indice_num[k] of each offset
 *  count, 0 <= indice_num[k] <= places. */
typedef struct mluopsIndicePairs {
  int64_t offsets, places;
  const int32_t* indice_pairs;
  const int64_t* indice_num;
} mluopsIndicePairs;

/** features [inputs,ci], output [outputs,co]; element (k,i,o) of the filters is strides[0]*k + strides[1]*i +
 *  strides[2]*o, all of them a dense tensor. inverse: inputs are the second row of the pairs, outputs the first. */
typedef struct mluopsIndiceConvolutionShape {
  mluOpDataType_t dtype;
  int64_t inputs, outputs;
  int64_t ci, co;
  int64_t filter_strides[3];
  int32_t inverse;
} mluopsIndiceConvolutionShape;

typedef struct mluopsIndiceConvolutionForwardProblem {
  mluopsIndiceConvolutionShape shape;
  mluopsIndicePairs pairs;
  const void* features;
  const void* filters;
  void* features_out;
} mluopsIndiceConvolutionForwardProblem;

typedef struct mluopsIndiceConvolutionBackwardDataProblem {
  mluopsIndiceConvolutionShape shape;
  mluopsIndicePairs pairs;
  const void* grad_output;
  const void* filters;
  void* grad_input;
} mluopsIndiceConvolutionBackwardDataProblem;

typedef struct mluopsIndiceConvolutionBackwardFilterProblem {
  mluopsIndiceConvolutionShape shape;
  mluopsIndicePairs pairs;
  const void* features;
  const void* grad_output;
  void* grad_filters;
} mluopsIndiceConvolutionBackwardFilterProblem;

#if defined(__cplusplus)
}
#endif

#endif /* MLUOPS_PROBLEM_INDICE_CONVOLUTION_H_ */
