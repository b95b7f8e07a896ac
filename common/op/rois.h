// Rules of tensors of RoIs: a batch index, then where they are.
#pragma once

#include "common/op/check.h"

namespace mluops::op {

/// rois[i][0], cut to a whole number, selects an image of the batch. NaN selects none. Reads the data.
Status check_batch_indices(const TensorArg& rois, std::int64_t batch);

}  // namespace mluops::op
