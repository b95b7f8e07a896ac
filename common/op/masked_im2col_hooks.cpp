#include "common/op/masked_im2col.h"

namespace mluops::op {

Status has_columns(const TensorArg& data_col, std::int64_t channels, std::int64_t window) {
  if (window == 1) return has_dim(data_col, 0, channels, "the channels of the image");
  const std::int64_t rows = size_of(data_col, 0);
  if (rows % window == 0 && rows / window == channels) return Status::go_on();
  return Status::bad_param(text_of(data_col.name, ": wanted dimension 0 to be ", channels,
                                   " channels times a window of ", window, ", got ", shape_text(data_col)));
}

}  // namespace mluops::op
