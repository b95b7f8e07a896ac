// Every rule of GetIndicePairs's arguments. Source: statuses as MLU-OPS gives them; mmcv's get_indice_pairs.
#pragma once

#include <cstddef>
#include <cstdint>

#include "common/op/check.h"
#include "mluops/problem/get_indice_pairs.h"

/// What mluOpSparseConvolutionDescriptor_t points to; axes is 0 until set.
struct mluOpSparseConvolutionStruct {
  int axes = 0;
  int batch = 0;
  mluopsSparseAxis axis[MLUOPS_MOST_SPARSE_AXES] = {};
  bool sub_m = false, transpose = false;
  std::int32_t num_act_out = 0;
};

namespace mluops::op {

struct SparseConvolutionArgs {
  int dim_nb, batch;
  const int *pad, *stride, *dilation, *input_space, *filter_space, *output_space;
  int sub_m, transpose, inverse;
};

struct GetIndicePairsArgs {
  mluOpHandle_t handle;
  mluOpSparseConvolutionDescriptor_t sparse_conv_desc;
  TensorArg indices;
  void* workspace;
  std::size_t workspace_size;
  TensorArg indice_pairs, out_indices, indice_num;
};

Status check_sparse_convolution_descriptor(const SparseConvolutionArgs& args, mluOpSparseConvolutionStruct& desc);
/// Sets the descriptor's num_act_out to 0 where a tensor is empty.
Status check_get_indice_pairs(const GetIndicePairsArgs& args, mluopsGetIndicePairsProblem& problem);
/// The data pointers of args are not looked at.
Status check_get_indice_pairs_workspace(const GetIndicePairsArgs& args, std::size_t* workspace_size);

}  // namespace mluops::op
