// Rules of tensors of RoIs: a batch index, then where they are.
#pragma once

#include "common/op/check.h"

namespace mluops::op {

/// Shape of a tensor of RoIs, whose numbers are `meaning`.
Status is_rois(const TensorArg& rois, int numbers = 5, const char* meaning = "batch index, x1, y1, x2, y2");
/// rois[i][0], cut to a whole number, selects an image of the batch. NaN selects none. Reads the data.
Status check_batch_indices(const TensorArg& rois, std::int64_t batch);

}  // namespace mluops::op
