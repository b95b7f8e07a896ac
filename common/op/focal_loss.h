// Every rule of the focal losses' arguments. Source: mluOpFocalLossSigmoidForward and Backward of MLU-OPS 1.11; mmcv's
// sigmoid_focal_loss and softmax_focal_loss.
#pragma once

#include "common/op/check.h"
#include "mluops/op/focal_loss.h"
#include "mluops/problem/focal_loss.h"

namespace mluops::op {

struct FocalLossArgs {
  mluOpHandle_t handle;
  TensorArg input, target, weight;
  Scalar alpha, gamma;
  TensorArg result;
};

struct FocalLossModes {
  mluOpComputationPreference_t prefer;
  mluOpLossReduction_t reduction;
};

Status check_focal_loss_sigmoid_forward(const FocalLossArgs& args, const FocalLossModes& modes,
                                        mluopsFocalLossProblem& problem);
Status check_focal_loss_sigmoid_backward(const FocalLossArgs& args, const FocalLossModes& modes,
                                         mluopsFocalLossProblem& problem);
Status check_focal_loss_softmax_forward(const FocalLossArgs& args, mluopsFocalLossProblem& problem);
Status check_focal_loss_softmax_backward(const FocalLossArgs& args, mluopsFocalLossProblem& problem);

}  // namespace mluops::op
