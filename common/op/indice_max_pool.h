// Every rule of IndiceMaxPool's arguments. Source: mmcv's indice_maxpool.
#pragma once

#include <cstdint>

#include "common/op/check.h"
#include "mluops/problem/indice_max_pool.h"

namespace mluops::op {

struct IndiceMaxPoolForwardArgs {
  mluOpHandle_t handle;
  TensorArg features, indice_pairs;
  const std::int64_t* indice_num;
  TensorArg features_out;
};

struct IndiceMaxPoolBackwardArgs {
  mluOpHandle_t handle;
  TensorArg features, features_out, output_grad, indice_pairs;
  const std::int64_t* indice_num;
  TensorArg input_grad;
};

Status check_indice_max_pool_forward(const IndiceMaxPoolForwardArgs& args, mluopsIndiceMaxPoolForwardProblem& problem);
Status check_indice_max_pool_backward(const IndiceMaxPoolBackwardArgs& args,
                                      mluopsIndiceMaxPoolBackwardProblem& problem);

}  // namespace mluops::op
