// Every rule of AssignScoreWithk's arguments. Source: mmcv's assign_score_withk.
#pragma once

#include "common/op/check.h"
#include "mluops/problem/assign_score_withk.h"

namespace mluops::op {

struct AssignScoreWithkForwardArgs {
  mluOpHandle_t handle;
  TensorArg points, centers, scores, knn_idx, output;
};

struct AssignScoreWithkBackwardArgs {
  mluOpHandle_t handle;
  TensorArg grad_output, points, centers, scores, knn_idx, grad_points, grad_centers, grad_scores;
};

Status check_assign_score_withk_forward(const AssignScoreWithkForwardArgs& args,
                                        mluopsAssignScoreWithkForwardProblem& problem);
Status check_assign_score_withk_backward(const AssignScoreWithkBackwardArgs& args,
                                         mluopsAssignScoreWithkBackwardProblem& problem);

}  // namespace mluops::op
