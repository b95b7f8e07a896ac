// Every rule of MsDeformAttn's arguments. Source: mluOpMsDeformAttnForward and Backward of MLU-OPS 1.11.
#pragma once

#include "common/op/check.h"
#include "mluops/problem/ms_deform_attn.h"

namespace mluops::op {

struct MsDeformAttnInputs {
  mluOpHandle_t handle;
  TensorArg value, spatial_shapes, level_start_index, sampling_loc, attn_weight;
  TensorArg output;  ///< or grad_output
  int im2col_step;
};

struct MsDeformAttnGradients {
  TensorArg value, sampling_loc, attn_weight;
};

Status check_ms_deform_attn_forward(const MsDeformAttnInputs& args, mluopsMsDeformAttnForwardProblem& problem);
Status check_ms_deform_attn_backward(const MsDeformAttnInputs& args, const MsDeformAttnGradients& gradients,
                                     mluopsMsDeformAttnBackwardProblem& problem);

}  // namespace mluops::op
