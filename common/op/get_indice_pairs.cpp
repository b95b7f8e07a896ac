#include "common/op/get_indice_pairs.h"

#include <algorithm>
#include <limits>

#include "common/capture.h"
#include "common/case_text.h"

namespace mluops::op {
namespace {

constexpr std::int64_t kMostOffsets = 4096;
constexpr std::int64_t kMostPlaces = std::int64_t{1} << 62;

std::int64_t volume(const mluOpSparseConvolutionStruct& d, std::int64_t first, std::int32_t mluopsSparseAxis::*size) {
  std::int64_t product = first;
  for (int a = 0; a < d.axes; ++a) {
    if (__builtin_mul_overflow(product, std::int64_t{d.axis[a].*size}, &product)) return kMostPlaces;
  }
  return std::min(product, kMostPlaces);
}

/// What one axis allows by itself.
Status check_axis(const mluOpSparseConvolutionStruct& d, const mluopsSparseAxis& axis, bool strict) {
  if (axis.stride != 1 && axis.dilation != 1) {
    return Status::bad_param("sparse_conv_desc: wanted stride or dilation of an axis to be 1, got " +
                             std::to_string(axis.stride) + " and " + std::to_string(axis.dilation));
  }
  if (!d.sub_m) return Status::go_on();
  if (axis.input != axis.output) {
    return Status::bad_param("sparse_conv_desc: wanted output_space to be input_space (sub_m), got " +
                             std::to_string(axis.output) + " and " + std::to_string(axis.input));
  }
  if (strict) {
    MLUOPS_RETURN_IF_FINISHED(in_range("sparse_conv_desc: stride (sub_m)", axis.stride, 1, 1));
    MLUOPS_RETURN_IF_FINISHED(in_range("sparse_conv_desc: dilation (sub_m)", axis.dilation, 1, 1));
  }
  return Status::go_on();
}

Status check_descriptor(const mluOpSparseConvolutionStruct& d, bool strict) {
  const std::int64_t most = std::numeric_limits<std::int32_t>::max();
  MLUOPS_RETURN_IF_FINISHED(in_range("sparse_conv_desc: axes of space", d.axes, strict ? 3 : 2, strict ? 3 : most));
  if (strict && d.transpose) return Status::bad_param("sparse_conv_desc: transpose: wanted 0, got 1");
  for (int a = 0; a < d.axes; ++a) MLUOPS_RETURN_IF_FINISHED(check_axis(d, d.axis[a], strict));
  return Status::go_on();
}

Status check_shapes(const GetIndicePairsArgs& a, bool strict) {
  const mluOpSparseConvolutionStruct& d = *a.sparse_conv_desc;
  const std::int64_t inputs = a.indices.desc->dims[0], outputs = a.out_indices.desc->dims[0];
  const std::int64_t offsets = volume(d, 1, &mluopsSparseAxis::filter);
  MLUOPS_RETURN_IF_FINISHED(has_dim(a.indices, 1, d.axes + 1, "a batch and a place"));
  MLUOPS_RETURN_IF_FINISHED(has_dim(a.out_indices, 1, d.axes + 1, "a batch and a place"));
  MLUOPS_RETURN_IF_FINISHED(has_dim(a.indice_pairs, 0, offsets, "the volume of the filter"));
  MLUOPS_RETURN_IF_FINISHED(has_dim(a.indice_pairs, 1, 2, "input and output"));
  MLUOPS_RETURN_IF_FINISHED(has_dim(a.indice_pairs, 2, inputs, "the rows of indices"));
  MLUOPS_RETURN_IF_FINISHED(has_dim(a.indice_num, 0, offsets, "the volume of the filter"));
  MLUOPS_RETURN_IF_FINISHED(in_range("the volume of filter_space", offsets, 1, kMostOffsets));
  const std::int64_t before = volume(d, d.batch, &mluopsSparseAxis::input);
  const std::int64_t after = volume(d, d.batch, &mluopsSparseAxis::output);
  if (std::max(before, after) == kMostPlaces) {
    return Status::not_supported("sparse_conv_desc: wanted fewer than 2^62 places, got more");
  }
  if (!strict) return Status::go_on();
  MLUOPS_RETURN_IF_FINISHED(in_range("dimension 0 of indices", inputs, 0, before));
  return in_range("dimension 0 of out_indices", outputs, 0, after);
}

Status check_all_but_data(const GetIndicePairsArgs& a) {
  MLUOPS_RETURN_IF_FINISHED(not_null("handle", a.handle));
  MLUOPS_RETURN_IF_FINISHED(not_null("sparse_conv_desc", a.sparse_conv_desc));
  const auto all = {a.indices, a.indice_pairs, a.out_indices, a.indice_num};
  MLUOPS_RETURN_IF_FINISHED(have_descs(all));
  MLUOPS_RETURN_IF_FINISHED(has_rank(a.indices, 2));
  MLUOPS_RETURN_IF_FINISHED(has_rank(a.indice_pairs, 3));
  MLUOPS_RETURN_IF_FINISHED(has_rank(a.out_indices, 2));
  MLUOPS_RETURN_IF_FINISHED(has_rank(a.indice_num, 1));
  const bool strict = a.handle->contract != MLUOP_EXT_CONTRACT_EXTENDED;
  MLUOPS_RETURN_IF_FINISHED(check_descriptor(*a.sparse_conv_desc, strict));
  MLUOPS_RETURN_IF_FINISHED(check_shapes(a, strict));
  MLUOPS_RETURN_IF_FINISHED(are_dense_and_countable(all, a.handle->contract));
  for (const TensorArg& t : all) MLUOPS_RETURN_IF_FINISHED(has_dtype(t, MLUOP_DTYPE_INT32));
  MLUOPS_RETURN_IF_FINISHED(is_indexable(a.indices, 0));
  return is_indexable(a.out_indices, 0);
}

mluopsGetIndicePairsShape shape_of(const GetIndicePairsArgs& a) {
  const mluOpSparseConvolutionStruct& d = *a.sparse_conv_desc;
  mluopsGetIndicePairsShape s = {};
  s.axes = d.axes;
  std::copy_n(d.axis, d.axes, s.axis);
  for (int i = 0; d.sub_m && i < d.axes; ++i) {
    s.axis[i].pad = d.axis[i].filter / 2;
    s.axis[i].stride = 1;
  }
  s.batch = d.batch;
  s.sub_m = d.sub_m ? 1 : 0;
  s.transpose = d.transpose && !d.sub_m ? 1 : 0;
  s.inputs = a.indices.desc->dims[0];
  s.outputs = a.out_indices.desc->dims[0];
  s.offsets = a.indice_num.desc->dims[0];
  return s;
}

}  // namespace

Status check_sparse_convolution_descriptor(const SparseConvolutionArgs& a, mluOpSparseConvolutionStruct& desc) {
  struct Numbers {
    const char* name;
    const int* values;
    int least;
    std::int32_t mluopsSparseAxis::*member;
  };
  const Numbers all[] = {{"pad", a.pad, 0, &mluopsSparseAxis::pad},
                         {"stride", a.stride, 1, &mluopsSparseAxis::stride},
                         {"dilation", a.dilation, 1, &mluopsSparseAxis::dilation},
                         {"input_space", a.input_space, 1, &mluopsSparseAxis::input},
                         {"filter_space", a.filter_space, 1, &mluopsSparseAxis::filter},
                         {"output_space", a.output_space, 1, &mluopsSparseAxis::output}};
  for (const Numbers& n : all) MLUOPS_RETURN_IF_FINISHED(not_null(n.name, n.values));
  MLUOPS_RETURN_IF_FINISHED(in_range("dimNb", a.dim_nb, 4, MLUOPS_MOST_SPARSE_AXES + 2));
  const std::int64_t most = std::numeric_limits<std::int32_t>::max();
  MLUOPS_RETURN_IF_FINISHED(in_range("batch", a.batch, 1, most));
  MLUOPS_RETURN_IF_FINISHED(in_range("transpose", a.transpose, 0, 1));
  MLUOPS_RETURN_IF_FINISHED(in_range("inverse", a.inverse, 0, 0));
  mluOpSparseConvolutionStruct made;
  made.axes = a.dim_nb - 2;
  made.batch = a.batch;
  made.sub_m = a.sub_m != 0;
  made.transpose = a.transpose != 0;
  for (const Numbers& n : all) {
    for (int i = 0; i < made.axes; ++i) {
      MLUOPS_RETURN_IF_FINISHED(in_range(n.name, n.values[i], n.least, most));
      made.axis[i].*n.member = n.values[i];
    }
  }
  desc = made;
  return Status::go_on();
}

Status check_get_indice_pairs(const GetIndicePairsArgs& a, mluopsGetIndicePairsProblem& problem) {
  MLUOPS_RETURN_IF_FINISHED(check_all_but_data(a));
  if (any_empty({a.indices, a.indice_pairs, a.out_indices, a.indice_num})) {
    a.sparse_conv_desc->num_act_out = 0;
    return Status::nothing_to_do();
  }
  MLUOPS_RETURN_IF_FINISHED(have_data({a.indices, a.indice_pairs, a.out_indices, a.indice_num}));
  if (a.workspace_size > 0) MLUOPS_RETURN_IF_FINISHED(not_null("workspace", a.workspace));
  MLUOPS_RETURN_IF_FINISHED(no_overlap({a.indices}, {a.indice_pairs, a.out_indices, a.indice_num}));
  if (capturing()) note_tensor("num_act_out", one_int32(), &a.sparse_conv_desc->num_act_out, true);
  problem = {shape_of(a),
             int32_data(a.indices),
             int32_data(a.indice_pairs),
             int32_data(a.out_indices),
             int32_data(a.indice_num),
             &a.sparse_conv_desc->num_act_out};
  return Status::go_on();
}

Status check_get_indice_pairs_workspace(const GetIndicePairsArgs& a, std::size_t* workspace_size) {
  MLUOPS_RETURN_IF_FINISHED(not_null("workspace_size", workspace_size));
  MLUOPS_RETURN_IF_FINISHED(check_all_but_data(a));
  const bool empty = any_empty({a.indices, a.indice_pairs, a.out_indices, a.indice_num});
  return tell_workspace({{empty ? 0 : a.indice_pairs.desc->elements / 2, 5, sizeof(std::int32_t)}}, workspace_size);
}

std::string case_keys(const mluopsGetIndicePairsProblem& p) {
  const mluopsGetIndicePairsShape& s = p.shape;
  const char* const sizes[] = {"t", "z", "y", "x"};
  CaseKeys keys;
  keys("n", s.inputs)("b", s.batch);
  for (int i = 0; i < s.axes; ++i) keys(sizes[4 - s.axes + i], s.axis[i].input);
  const auto each = [&](const char* key, std::int32_t mluopsSparseAxis::*member) {
    std::int32_t numbers[MLUOPS_MOST_SPARSE_AXES];
    for (int i = 0; i < s.axes; ++i) numbers[i] = s.axis[i].*member;
    keys(key, axes_text(numbers, s.axes));
  };
  each("k", &mluopsSparseAxis::filter);
  each("stride", &mluopsSparseAxis::stride);
  each("pad", &mluopsSparseAxis::pad);
  each("dilation", &mluopsSparseAxis::dilation);
  each("out", &mluopsSparseAxis::output);
  keys("kind", s.sub_m != 0 ? "subm" : s.transpose != 0 ? "transpose" : "regular")("axes", s.axes);
  return keys("rows", s.outputs).text();
}

}  // namespace mluops::op
