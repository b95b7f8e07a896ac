// Every rule of ChamferDistance's arguments. Source: mmcv's chamfer_distance.
#pragma once

#include "common/op/check.h"
#include "mluops/problem/chamfer_distance.h"

namespace mluops::op {

struct ChamferDistanceForwardArgs {
  mluOpHandle_t handle;
  TensorArg xyz1, xyz2, dist1, dist2, idx1, idx2;
};

struct ChamferDistanceBackwardArgs {
  mluOpHandle_t handle;
  TensorArg xyz1, xyz2, idx1, idx2, grad_dist1, grad_dist2, grad_xyz1, grad_xyz2;
};

Status check_chamfer_distance_forward(const ChamferDistanceForwardArgs& args,
                                      mluopsChamferDistanceForwardProblem& problem);
Status check_chamfer_distance_backward(const ChamferDistanceBackwardArgs& args,
                                       mluopsChamferDistanceBackwardProblem& problem);

}  // namespace mluops::op
