// Every rule of GatherPoints' and GroupPoints' arguments. Source: mmcv's gather_points and grouping_operation.
#pragma once

#include "common/op/check.h"
#include "mluops/problem/gather_points.h"

namespace mluops::op {

struct GatherPointsArgs {
  mluOpHandle_t handle;
  TensorArg source;  // points [b,c,n] or grad_output [b,c,m...]
  TensorArg idx;     // [b,m...]
  TensorArg target;  // output [b,c,m...] or grad_points [b,c,n]
  int index_rank;    // 2: GatherPoints, [b,m]; 3: GroupPoints, [b,groups,samples]
};

Status check_gather_points_forward(const GatherPointsArgs& args, mluopsGatherPointsForwardProblem& problem);
Status check_gather_points_backward(const GatherPointsArgs& args, mluopsGatherPointsBackwardProblem& problem);

}  // namespace mluops::op
