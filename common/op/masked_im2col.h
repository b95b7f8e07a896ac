// Every rule of MaskedIm2col's and MaskedCol2im's arguments. Source: mlu_op.h of mlu-ops.
#pragma once

#include "common/op/check.h"
#include "mluops/problem/masked_im2col.h"

namespace mluops::op {

struct MaskedIm2colArgs {
  mluOpHandle_t handle;
  TensorArg feature, mask_h_idx, mask_w_idx;
  int kernel_h, kernel_w, pad_h, pad_w;
  TensorArg data_col;
};

struct MaskedCol2imArgs {
  mluOpHandle_t handle;
  TensorArg col, mask_h_idx, mask_w_idx, im;
};

Status check_masked_im2col_forward(const MaskedIm2colArgs& args, mluopsMaskedIm2colForwardProblem& problem);
Status check_masked_col2im_forward(const MaskedCol2imArgs& args, mluopsMaskedCol2imForwardProblem& problem);

}  // namespace mluops::op
