// MsDeformAttn sample by sample, from its formula and its derivatives.
#pragma once

#include "test/reference/reference.h"

namespace mluops::reference {

/// output [batch,queries,heads,channels].
Values ms_deform_attn_forward(const mluopsMsDeformAttnForwardProblem& problem,
                              Coordinates coordinates = Coordinates::kDouble);

struct MsDeformAttnGradients {
  Values value, sampling_loc, attn_weight;
};
MsDeformAttnGradients ms_deform_attn_backward(const mluopsMsDeformAttnBackwardProblem& problem,
                                              Coordinates coordinates = Coordinates::kDouble);

}  // namespace mluops::reference
