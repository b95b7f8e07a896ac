// PsRoiPool pixel by pixel, in double but for the coordinates.
#pragma once

#include "test/reference/reference.h"

namespace mluops::reference {

struct PsRoiPoolResult {
  Values output;           ///< [rois,pooled_h,pooled_w,output_dim]
  Values mapping_channel;  ///< likewise
};
PsRoiPoolResult ps_roi_pool_forward(const mluopsPsRoiPoolForwardProblem& problem,
                                    Coordinates coordinates = Coordinates::kDouble);
/// grad_input [batch,h,w,output_dim*pooled_h*pooled_w].
Values ps_roi_pool_backward(const mluopsPsRoiPoolBackwardProblem& problem,
                            Coordinates coordinates = Coordinates::kDouble);

}  // namespace mluops::reference
