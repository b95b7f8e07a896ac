// Every rule of IndiceConvolution's arguments. Source: statuses as MLU-OPS gives them; mmcv's indice_conv.
#pragma once

#include <cstddef>
#include <cstdint>

#include "common/op/check.h"
#include "mluops/problem/get_indice_pairs.h"
#include "mluops/problem/indice_convolution.h"

namespace mluops::op {

/// Arguments of all three functions; `rows` is the tensor of inputs, features or input_grad, `results` that of outputs.
struct IndiceConvolutionArgs {
  mluOpHandle_t handle;
  TensorArg rows, filters, indice_pairs;
  const std::int64_t* indice_num;
  std::int64_t inverse, sub_m;
  void* workspace;
  std::size_t workspace_size;
  TensorArg results;
};

Status check_indice_convolution_forward(const IndiceConvolutionArgs& args, std::int64_t num_act_out,
                                        mluopsIndiceConvolutionForwardProblem& problem);
Status check_indice_convolution_backward_data(const IndiceConvolutionArgs& args,
                                              mluopsIndiceConvolutionBackwardDataProblem& problem);
Status check_indice_convolution_backward_filter(const IndiceConvolutionArgs& args,
                                                mluopsIndiceConvolutionBackwardFilterProblem& problem);

/// The data pointers of args are not looked at.
Status check_indice_convolution_forward_workspace(const IndiceConvolutionArgs& args, std::int64_t num_act_out,
                                                  std::size_t* size);
Status check_indice_convolution_backward_data_workspace(const IndiceConvolutionArgs& args, std::size_t* size);
Status check_indice_convolution_backward_filter_workspace(const IndiceConvolutionArgs& args, std::size_t* size);

}  // namespace mluops::op
