// What mluOpFFTPlan_t points to, and every rule of a plan.
#pragma once

#include <string>

#include "common/op/check.h"
#include "mluops/op/fft.h"
#include "mluops/problem/fft.h"

struct mluOpFFTStruct {
  mluopsFftShape shape = {};
  std::int64_t input_bytes = 0, output_bytes = 0;  ///< from the first element to the end of the last one
  bool made = false;
};

namespace mluops::op {

struct FftPlanArgs {
  mluOpHandle_t handle;
  mluOpFFTPlan_t plan;
  TensorArg input, output;
  int rank;
  const int* n;
  std::size_t *reserve_size, *workspace_size;
};

/// Sets `made` to what the arguments say.
Status check_fft_plan(const FftPlanArgs& args, mluOpFFTStruct& made);

}  // namespace mluops::op
