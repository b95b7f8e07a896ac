// Deformable convolution sample by sample.
#pragma once

#include "test/reference/reference.h"

namespace mluops::reference {

/// output; tensors in NHWC.
Values dcn_forward(const mluopsDcnForwardProblem& problem, Coordinates coordinates = Coordinates::kDouble);

struct DcnDataGradients {
  Values input, offset, mask;  ///< mask: empty where the problem has none
};
DcnDataGradients dcn_backward_data(const mluopsDcnBackwardDataProblem& problem,
                                   Coordinates coordinates = Coordinates::kDouble);

struct DcnWeightGradients {
  Values filter, bias;
};
DcnWeightGradients dcn_backward_weight(const mluopsDcnBackwardWeightProblem& problem,
                                       Coordinates coordinates = Coordinates::kDouble);

}  // namespace mluops::reference
