// Every rule of BallQuery's arguments. Source: statuses as MLU-OPS 1.11 gives them.
#pragma once

#include "common/op/check.h"
#include "mluops/problem/ball_query.h"

namespace mluops::op {

struct BallQueryArgs {
  mluOpHandle_t handle;
  TensorArg new_xyz, xyz;
  Scalar min_radius, max_radius;
  std::int32_t nsample;
  TensorArg idx;
};

Status check_ball_query(const BallQueryArgs& args, mluopsBallQueryProblem& problem);

}  // namespace mluops::op
