// Every rule of deformable convolution's arguments. Source: mluOpDCNForward, BackwardData and BackwardWeight of MLU-OPS
// 1.11.
#pragma once

#include <cstddef>

#include "common/op/check.h"
#include "mluops/op/dcn.h"
#include "mluops/problem/dcn.h"

/// What mluOpDCNDescriptor_t points to; no valid form until set.
struct mluOpDCNStruct {
  int pad[4] = {};
  int stride[2] = {};
  int dilation[2] = {};
  int deformable_group = 0;
  int conv_group = 0;
  int im2col_step = 0;
};

namespace mluops::op {

/// What mluOpSetDCNDescriptor is given.
struct DcnForm {
  int dimensions;
  const int *pad, *stride, *dilation;
  int deformable_group, conv_group, im2col_step;
  mluOpDataType_t compute_type;
};

/// Arguments of all three functions; `filter`, `bias` and `output` are those tensors or their gradients. A function
/// that has no bias leaves it absent.
struct DcnArgs {
  mluOpHandle_t handle;
  mluOpDCNDescriptor_t dcn_desc;
  TensorArg input, offset, mask, filter, bias, output;
  void* workspace;
  std::size_t workspace_size;
};

/// The results of mluOpDCNBackwardData.
struct DcnDataGradients {
  TensorArg input, offset, mask;
};

Status check_dcn_descriptor(mluOpDCNDescriptor_t dcn_desc, const DcnForm& form);
Status check_dcn_forward(const DcnArgs& args, mluopsDcnForwardProblem& problem);
Status check_dcn_backward_data(const DcnArgs& args, const DcnDataGradients& gradients,
                               mluopsDcnBackwardDataProblem& problem);
Status check_dcn_backward_weight(const DcnArgs& args, mluopsDcnBackwardWeightProblem& problem);

/// The rules of the functions that tell the workspace's size; data is not looked at. Gradients are checked where the
/// function has any and they are given.
Status check_dcn_workspace(const DcnArgs& args, const DcnDataGradients* gradients, std::size_t* size);

}  // namespace mluops::op
