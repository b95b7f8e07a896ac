// Rules of tensors of RoIs, [R, 5]: batch index, x1, y1, x2, y2.
#pragma once

#include "common/op/check.h"

namespace mluops::op {

/// Shape of a tensor of RoIs.
Status is_rois(const TensorArg& rois);
/// rois[i][0], cut to a whole number, selects an image of the batch. NaN selects none. Reads the data.
Status check_batch_indices(const TensorArg& rois, std::int64_t batch);

}  // namespace mluops::op
