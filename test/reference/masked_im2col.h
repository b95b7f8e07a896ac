// MaskedIm2col and MaskedCol2im element by element.
#pragma once

#include "test/reference/reference.h"

namespace mluops::reference {

/// data_col [c*kernel_h*kernel_w,m].
Values masked_im2col_forward(const mluopsMaskedIm2colForwardProblem& problem);
/// im [c,h,w].
Values masked_col2im_forward(const mluopsMaskedCol2imForwardProblem& problem);

}  // namespace mluops::reference
