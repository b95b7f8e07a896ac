#include "common/op/sync_batch_norm.h"

#include <array>

#include "common/dtype.h"

namespace mluops::op {
namespace {

mluOpDataType_t channel_dtype(const TensorArg& x) {
  return x.desc->dtype == MLUOP_DTYPE_DOUBLE ? MLUOP_DTYPE_DOUBLE : MLUOP_DTYPE_FLOAT;
}

struct LayoutRank {
  mluOpTensorLayout_t layout;
  std::size_t rank;
};

constexpr std::array<LayoutRank, 4> kChannelsLast = {
    {{MLUOP_LAYOUT_NHWC, 4}, {MLUOP_LAYOUT_NDHWC, 5}, {MLUOP_LAYOUT_NLC, 3}, {MLUOP_LAYOUT_NC, 2}}};

}  // namespace

Status has_channels_last(const TensorArg& x) {
  for (const LayoutRank& form : kChannelsLast) {
    if (x.desc->layout == form.layout) return has_rank(x, static_cast<int>(form.rank));
  }
  return Status::bad_param(text_of(x.name, ": wanted layout LAYOUT_NHWC, LAYOUT_NDHWC, LAYOUT_NLC or LAYOUT_NC, got ",
                                   layout_name(x.desc->layout)));
}

Status has_layout_of(const TensorArg& t, const TensorArg& x) {
  if (t.desc->layout == x.desc->layout) return same_dims(t, x);
  return Status::bad_param(text_of(t.name, ": wanted the layout of ", x.name, ", ", layout_name(x.desc->layout),
                                   ", got ", layout_name(t.desc->layout)));
}

Status has_channel_dtype(const TensorArg& t, const TensorArg& x) {
  return has_dtype(t, channel_dtype(x));
}

Status has_channel_form(const TensorArg& t, const TensorArg& x, std::int64_t channels) {
  MLUOPS_RETURN_IF_FINISHED(present_or_absent(t));
  if (t.desc == nullptr) return Status::go_on();
  MLUOPS_RETURN_IF_FINISHED(has_layout(t, MLUOP_LAYOUT_ARRAY));
  MLUOPS_RETURN_IF_FINISHED(has_rank(t, 1));
  MLUOPS_RETURN_IF_FINISHED(has_channel_dtype(t, x));
  return has_dim(t, 0, channels, "the channels of x");
}

Status is_wanted(const TensorArg& t, bool wanted, const TensorArg& x, std::int64_t channels) {
  if (!wanted) return Status::go_on();
  MLUOPS_RETURN_IF_FINISHED(have_descs({t}));
  MLUOPS_RETURN_IF_FINISHED(has_channel_form(t, x, channels));
  return is_dense(t, MLUOP_STATUS_NOT_SUPPORTED);
}

std::int64_t channels_of(const TensorArg& x) {
  return x.desc->dims.back();
}

std::int64_t rows_of(const TensorArg& x, std::int64_t channels) {
  return channels == 0 ? 0 : x.desc->elements / channels;
}

}  // namespace mluops::op
