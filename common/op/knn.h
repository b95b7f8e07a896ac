// Every rule of Knn's arguments. Source: mmcv's knn.
#pragma once

#include "common/op/check.h"
#include "mluops/problem/knn.h"

namespace mluops::op {

struct KnnArgs {
  mluOpHandle_t handle;
  TensorArg xyz, new_xyz;
  int k;
  TensorArg idx, dist2;
};

Status check_knn(const KnnArgs& args, mluopsKnnProblem& problem);

}  // namespace mluops::op
