// IndiceConvolution from its definition.
#pragma once

#include "test/reference/reference.h"

namespace mluops::reference {

/// [outputs,co].
Values indice_convolution_forward(const mluopsIndiceConvolutionForwardProblem& problem);
/// [inputs,ci].
Values indice_convolution_backward_data(const mluopsIndiceConvolutionBackwardDataProblem& problem);
/// As the filters stand in memory.
Values indice_convolution_backward_filter(const mluopsIndiceConvolutionBackwardFilterProblem& problem);

}  // namespace mluops::reference
