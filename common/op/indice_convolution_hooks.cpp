#include "common/op/indice_convolution.h"
#include "common/op/indice_pairs.h"
#include "mluops/problem/get_indice_pairs.h"

namespace mluops::op {

Status is_filter(const TensorArg& filters, int most_axes) {
  return rank(*filters.desc) < 4 ? has_rank(filters, most_axes + 2) : Status::go_on();
}

Status has_filter_layout(const TensorArg& filters, int least_axes, int most_axes, bool strict, mluOpStatus_t status) {
  if (!strict) least_axes = 2, most_axes = MLUOPS_MOST_SPARSE_AXES;
  const int axes = rank(*filters.desc) - 2;
  if (axes < least_axes || axes > most_axes) {
    return Status::error(status, std::string(filters.name) + ": wanted " + std::to_string(least_axes + 2) + " to " +
                                     std::to_string(most_axes + 2) + " dimensions, got " + dims_text(*filters.desc));
  }
  const mluOpTensorLayout_t layout = filters.desc->layout;
  const bool flat = layout == MLUOP_LAYOUT_NHWC || layout == MLUOP_LAYOUT_NCHW || layout == MLUOP_LAYOUT_HWCN;
  const bool deep = layout == MLUOP_LAYOUT_NDHWC || layout == MLUOP_LAYOUT_NCDHW;
  if (layout == MLUOP_LAYOUT_ARRAY || (flat && axes == 2) || (deep && axes == 3)) return Status::go_on();
  return Status::error(status, std::string(filters.name) + ": wanted layout " +
                                   (axes == 2   ? "LAYOUT_ARRAY, _NHWC, _NCHW or _HWCN"
                                    : axes == 3 ? "LAYOUT_ARRAY, _NDHWC or _NCDHW"
                                                : "LAYOUT_ARRAY") +
                                   ", got " + layout_name(layout));
}

FilterForm form_of(const TensorArg& filters) {
  const auto& dims = filters.desc->dims;
  const std::size_t last = dims.size() - 1;
  const auto product = [&](std::size_t first, std::size_t end) {
    std::int64_t volume = 1;
    for (std::size_t i = first; i < end; ++i) volume *= dims[i];
    return volume;
  };
  switch (filters.desc->layout) {
    case MLUOP_LAYOUT_NHWC:
    case MLUOP_LAYOUT_NDHWC: {
      const std::int64_t k = product(1, last), ci = dims[last];
      return {k, ci, dims[0], {ci, 1, k * ci}};
    }
    case MLUOP_LAYOUT_NCHW:
    case MLUOP_LAYOUT_NCDHW: {
      const std::int64_t k = product(2, last + 1), ci = dims[1];
      return {k, ci, dims[0], {1, k, k * ci}};
    }
    default: {
      const std::int64_t ci = dims[last - 1], co = dims[last];
      return {product(0, last - 1), ci, co, {ci * co, co, 1}};
    }
  }
}

Status rows_have_places(const TensorArg& rows, const TensorArg& pairs, std::int64_t inverse) {
  return inverse == 0 ? has_dim(rows, 0, pairs.desc->dims[2], "the places of indice_pairs") : Status::go_on();
}

Status are_data_pairs(const IndiceConvolutionBackwardDataArgs& a) {
  const std::int64_t outputs = a.output_grad.desc->dims[0], offsets = a.indice_pairs.desc->dims[0];
  if (a.sub_m != 0) {
    MLUOPS_RETURN_IF_FINISHED(has_dim(a.output_grad, 0, a.input_grad.desc->dims[0], "the inputs (sub_m)"));
  }
  if (a.handle->contract == MLUOP_EXT_CONTRACT_EXTENDED) return Status::go_on();
  const std::int64_t most = most_pairs(a.indice_pairs, a.indice_num);
  MLUOPS_RETURN_IF_FINISHED(in_range("the greatest of indice_num", most, 0, outputs));
  if (a.sub_m == 0 || offsets == 0) return Status::go_on();
  if (offsets % 2 == 0) {
    return Status::bad_param("filters: wanted an odd volume (sub_m), got " + std::to_string(offsets));
  }
  return in_range("the greatest of indice_num (sub_m)", most, 0, a.indice_num[offsets / 2]);
}

std::string sides_text(const mluopsIndicePairs& pairs) {
  for (std::int64_t side = 1; side * side * side <= pairs.offsets; ++side) {
    if (side * side * side == pairs.offsets) return std::to_string(side);
  }
  return std::to_string(pairs.offsets) + "x1x1";
}

const char* filters_text(const mluopsIndiceConvolutionShape& s, const mluopsIndicePairs& pairs) {
  const auto is = [&](std::int64_t k, std::int64_t i, std::int64_t o) {
    return s.filter_strides[0] == k && s.filter_strides[1] == i && s.filter_strides[2] == o;
  };
  return is(s.ci * s.co, s.co, 1) ? "array" : is(s.ci, 1, pairs.offsets * s.ci) ? "channels_last" : "channels_first";
}

}  // namespace mluops::op
