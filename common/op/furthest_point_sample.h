// Every rule of FurthestPointSample's arguments. Source: mmcv's furthest_point_sample.
#pragma once

#include "common/op/check.h"
#include "mluops/problem/furthest_point_sample.h"

namespace mluops::op {

struct FurthestPointSampleArgs {
  mluOpHandle_t handle;
  TensorArg source;  // points [b,n,3] or distances [b,n,n]
  TensorArg idx;
};

Status check_furthest_point_sample(const FurthestPointSampleArgs& args, mluopsFurthestPointSampleProblem& problem);
Status check_furthest_point_sample_with_dist(const FurthestPointSampleArgs& args,
                                             mluopsFurthestPointSampleWithDistProblem& problem);

}  // namespace mluops::op
