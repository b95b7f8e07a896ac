#include "common/op/indice_convolution.h"

#include <algorithm>
#include <string_view>

#include "common/case_text.h"
#include "common/op/indice_pairs.h"

namespace mluops::op {
namespace {

/// Filters as [offsets, ci, co], whatever their layout.
struct FilterForm {
  std::int64_t offsets, ci, co;
  std::int64_t strides[3];
};

bool is_strict(const IndiceConvolutionArgs& a) {
  return a.handle->contract != MLUOP_EXT_CONTRACT_EXTENDED;
}

/// Ranks by layout: ARRAY has the axes of space first, then ci and co.
Status has_filter_layout(const TensorArg& filters, int least_axes, int most_axes) {
  const int axes = rank(*filters.desc) - 2;
  if (axes < least_axes || axes > most_axes) {
    return Status::not_supported(std::string(filters.name) + ": wanted " + std::to_string(least_axes + 2) + " to " +
                                 std::to_string(most_axes + 2) + " dimensions, got " + dims_text(*filters.desc));
  }
  const mluOpTensorLayout_t layout = filters.desc->layout;
  const bool flat = layout == MLUOP_LAYOUT_NHWC || layout == MLUOP_LAYOUT_NCHW || layout == MLUOP_LAYOUT_HWCN;
  const bool deep = layout == MLUOP_LAYOUT_NDHWC || layout == MLUOP_LAYOUT_NCDHW;
  if (layout == MLUOP_LAYOUT_ARRAY || (flat && axes == 2) || (deep && axes == 3)) return Status::go_on();
  return Status::not_supported(std::string(filters.name) + ": wanted layout " +
                               (axes == 2   ? "LAYOUT_ARRAY, _NHWC, _NCHW or _HWCN"
                                : axes == 3 ? "LAYOUT_ARRAY, _NDHWC or _NCDHW"
                                            : "LAYOUT_ARRAY") +
                               ", got " + layout_name(layout));
}

/// filters has four dimensions or more and is countable.
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

/// Beside ranks: dtypes, strides, sizes that are countable.
Status have_form(const IndiceConvolutionArgs& a) {
  MLUOPS_RETURN_IF_FINISHED(has_rank(a.rows, 2));
  MLUOPS_RETURN_IF_FINISHED(has_rank(a.indice_pairs, 3));
  MLUOPS_RETURN_IF_FINISHED(has_rank(a.results, 2));
  MLUOPS_RETURN_IF_FINISHED(has_float_dtype(a.rows, a.handle->contract));
  MLUOPS_RETURN_IF_FINISHED(same_dtype(a.filters, a.rows));
  MLUOPS_RETURN_IF_FINISHED(same_dtype(a.results, a.rows));
  const auto all = {a.rows, a.filters, a.indice_pairs, a.results};
  MLUOPS_RETURN_IF_FINISHED(are_dense_and_countable(all, a.handle->contract));
  MLUOPS_RETURN_IF_FINISHED(is_indexable(a.rows, 0));
  return is_indexable(a.results, 0);
}

Status have_shapes(const IndiceConvolutionArgs& a) {
  const FilterForm f = form_of(a.filters);
  const bool given = std::string_view(a.filters.name) == "filters";
  MLUOPS_RETURN_IF_FINISHED(
      has_dim(a.rows, 1, f.ci, given ? "the input channels of filters" : "the input channels of filters_grad"));
  MLUOPS_RETURN_IF_FINISHED(
      has_dim(a.results, 1, f.co, given ? "the output channels of filters" : "the output channels of filters_grad"));
  MLUOPS_RETURN_IF_FINISHED(
      has_dim(a.indice_pairs, 0, f.offsets, given ? "the volume of filters" : "the volume of filters_grad"));
  if (a.inverse == 0) {
    MLUOPS_RETURN_IF_FINISHED(has_dim(a.rows, 0, a.indice_pairs.desc->dims[2], "the places of indice_pairs"));
  }
  return check_indice_pairs(a.indice_pairs, a.indice_num);
}

/// All rules that the three functions share but the data's. STRICT refuses inverse with the status given.
Status check_common(const IndiceConvolutionArgs& a, int least_axes, int most_axes, mluOpStatus_t no_inverse) {
  MLUOPS_RETURN_IF_FINISHED(not_null("handle", a.handle));
  MLUOPS_RETURN_IF_FINISHED(have_descs({a.rows, a.filters, a.indice_pairs, a.results}));
  MLUOPS_RETURN_IF_FINISHED(in_range("sub_m", a.sub_m, 0, 1));
  MLUOPS_RETURN_IF_FINISHED(in_range("inverse", a.inverse, 0, 1));
  if (is_strict(a) && a.inverse != 0) return Status::error(no_inverse, "inverse: wanted 0, got 1");
  if (rank(*a.filters.desc) < 4) return has_rank(a.filters, most_axes + 2);
  MLUOPS_RETURN_IF_FINISHED(have_form(a));
  MLUOPS_RETURN_IF_FINISHED(have_shapes(a));
  return is_strict(a) ? has_filter_layout(a.filters, least_axes, most_axes)
                      : has_filter_layout(a.filters, 2, MLUOPS_MOST_SPARSE_AXES);
}

Status check_forward_form(const IndiceConvolutionArgs& a, std::int64_t num_act_out) {
  MLUOPS_RETURN_IF_FINISHED(check_common(a, 3, 3, MLUOP_STATUS_NOT_SUPPORTED));
  return has_dim(a.results, 0, num_act_out, "num_act_out");
}

Status check_backward_data_form(const IndiceConvolutionArgs& a) {
  MLUOPS_RETURN_IF_FINISHED(check_common(a, 2, 3, MLUOP_STATUS_NOT_SUPPORTED));
  const std::int64_t outputs = a.results.desc->dims[0], offsets = a.indice_pairs.desc->dims[0];
  if (a.sub_m != 0) MLUOPS_RETURN_IF_FINISHED(has_dim(a.results, 0, a.rows.desc->dims[0], "the inputs (sub_m)"));
  if (!is_strict(a)) return Status::go_on();
  const std::int64_t most = most_pairs(a.indice_pairs, a.indice_num);
  MLUOPS_RETURN_IF_FINISHED(in_range("the greatest of indice_num", most, 0, outputs));
  if (a.sub_m == 0 || offsets == 0) return Status::go_on();
  if (offsets % 2 == 0) {
    return Status::bad_param("filters: wanted an odd volume (sub_m), got " + std::to_string(offsets));
  }
  return in_range("the greatest of indice_num (sub_m)", most, 0, a.indice_num[offsets / 2]);
}

Status check_backward_filter_form(const IndiceConvolutionArgs& a) {
  return check_common(a, 2, 3, MLUOP_STATUS_BAD_PARAM);
}

/// Nothing to do where a tensor is empty; else data is there, `output` apart from the others.
Status check_data(const IndiceConvolutionArgs& a, const TensorArg& output) {
  const auto all = {a.rows, a.filters, a.indice_pairs, a.results};
  if (std::any_of(all.begin(), all.end(), is_empty)) return Status::nothing_to_do();
  MLUOPS_RETURN_IF_FINISHED(have_data(all));
  if (a.workspace_size > 0) MLUOPS_RETURN_IF_FINISHED(not_null("workspace", a.workspace));
  for (const TensorArg& t : all) {
    if (t.name != output.name) MLUOPS_RETURN_IF_FINISHED(no_overlap({t}, {output}));
  }
  return Status::go_on();
}

mluopsIndiceConvolutionShape shape_of(const IndiceConvolutionArgs& a) {
  const FilterForm f = form_of(a.filters);
  return {a.rows.desc->dtype,
          a.rows.desc->dims[0],
          a.results.desc->dims[0],
          f.ci,
          f.co,
          {f.strides[0], f.strides[1], f.strides[2]},
          static_cast<std::int32_t>(a.inverse)};
}

/// A row of inputs and one of outputs for each pair of the largest offset, and `more` elements.
Status tell_workspace_of(const IndiceConvolutionArgs& a, std::int64_t more, std::size_t* size) {
  const FilterForm f = form_of(a.filters);
  const std::int64_t pairs = most_pairs(a.indice_pairs, a.indice_num), bytes = element_bytes(a.rows);
  return tell_workspace({{pairs, f.ci, bytes}, {pairs, f.co, bytes}, {more, bytes}}, size);
}

}  // namespace

Status check_indice_convolution_forward(const IndiceConvolutionArgs& a, std::int64_t num_act_out,
                                        mluopsIndiceConvolutionForwardProblem& problem) {
  MLUOPS_RETURN_IF_FINISHED(check_forward_form(a, num_act_out));
  MLUOPS_RETURN_IF_FINISHED(check_data(a, a.results));
  problem = {shape_of(a), indice_pairs_of(a.indice_pairs, a.indice_num), a.rows.data, a.filters.data,
             const_cast<void*>(a.results.data)};
  return Status::go_on();
}

Status check_indice_convolution_backward_data(const IndiceConvolutionArgs& a,
                                              mluopsIndiceConvolutionBackwardDataProblem& problem) {
  MLUOPS_RETURN_IF_FINISHED(check_backward_data_form(a));
  MLUOPS_RETURN_IF_FINISHED(check_data(a, a.rows));
  problem = {shape_of(a), indice_pairs_of(a.indice_pairs, a.indice_num), a.results.data, a.filters.data,
             const_cast<void*>(a.rows.data)};
  return Status::go_on();
}

Status check_indice_convolution_backward_filter(const IndiceConvolutionArgs& a,
                                                mluopsIndiceConvolutionBackwardFilterProblem& problem) {
  MLUOPS_RETURN_IF_FINISHED(check_backward_filter_form(a));
  MLUOPS_RETURN_IF_FINISHED(check_data(a, a.filters));
  problem = {shape_of(a), indice_pairs_of(a.indice_pairs, a.indice_num), a.rows.data, a.results.data,
             const_cast<void*>(a.filters.data)};
  return Status::go_on();
}

Status check_indice_convolution_forward_workspace(const IndiceConvolutionArgs& a, std::int64_t num_act_out,
                                                  std::size_t* size) {
  MLUOPS_RETURN_IF_FINISHED(not_null("size", size));
  MLUOPS_RETURN_IF_FINISHED(check_forward_form(a, num_act_out));
  return tell_workspace_of(a, a.results.desc->elements, size);
}

Status check_indice_convolution_backward_data_workspace(const IndiceConvolutionArgs& a, std::size_t* size) {
  MLUOPS_RETURN_IF_FINISHED(not_null("workspace_size", size));
  MLUOPS_RETURN_IF_FINISHED(check_backward_data_form(a));
  return tell_workspace_of(a, a.filters.desc->elements + a.rows.desc->elements, size);
}

Status check_indice_convolution_backward_filter_workspace(const IndiceConvolutionArgs& a, std::size_t* size) {
  MLUOPS_RETURN_IF_FINISHED(not_null("size", size));
  MLUOPS_RETURN_IF_FINISHED(check_backward_filter_form(a));
  return tell_workspace_of(a, a.filters.desc->elements, size);
}

namespace {

/// Filters of so many offsets: a cube of three axes, or a row.
std::string sides_text(std::int64_t offsets) {
  for (std::int64_t side = 1; side * side * side <= offsets; ++side) {
    if (side * side * side == offsets) return std::to_string(side);
  }
  return std::to_string(offsets) + "x1x1";
}

std::string keys_of(const mluopsIndiceConvolutionShape& s, const mluopsIndicePairs& pairs) {
  const auto is = [&](std::int64_t k, std::int64_t i, std::int64_t o) {
    return s.filter_strides[0] == k && s.filter_strides[1] == i && s.filter_strides[2] == o;
  };
  CaseKeys keys;
  keys("l", s.inputs)("m", s.outputs)("ci", s.ci)("co", s.co)("k", sides_text(pairs.offsets))("inverse", s.inverse);
  keys("filters", is(s.ci * s.co, s.co, 1)            ? "array"
                  : is(s.ci, 1, pairs.offsets * s.ci) ? "channels_last"
                                                      : "channels_first");
  return keys.text();
}

}  // namespace

std::string case_keys(const mluopsIndiceConvolutionForwardProblem& p) {
  return keys_of(p.shape, p.pairs);
}
std::string case_keys(const mluopsIndiceConvolutionBackwardDataProblem& p) {
  return keys_of(p.shape, p.pairs);
}
std::string case_keys(const mluopsIndiceConvolutionBackwardFilterProblem& p) {
  return keys_of(p.shape, p.pairs);
}

}  // namespace mluops::op
