#include <algorithm>
#include <limits>

#include "common/capture.h"
#include "common/case_text.h"
#include "common/op/get_indice_pairs.h"

namespace mluops::op {
namespace {

constexpr std::int64_t kMostOffsets = 4096;
constexpr std::int64_t kMostPlaces = std::int64_t{1} << 62;

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

}  // namespace

std::int64_t volume_of(const mluOpSparseConvolutionStruct& d, std::int64_t first,
                       std::int32_t mluopsSparseAxis::*size) {
  std::int64_t product = first;
  for (int a = 0; a < d.axes; ++a) {
    if (__builtin_mul_overflow(product, std::int64_t{d.axis[a].*size}, &product)) return kMostPlaces;
  }
  return std::min(product, kMostPlaces);
}

Status can_find_pairs(const mluOpSparseConvolutionStruct& d, bool strict) {
  const std::int64_t most = std::numeric_limits<std::int32_t>::max();
  MLUOPS_RETURN_IF_FINISHED(in_range("sparse_conv_desc: axes of space", d.axes, strict ? 3 : 2, strict ? 3 : most));
  if (strict && d.transpose) return Status::bad_param("sparse_conv_desc: transpose: wanted 0, got 1");
  for (int a = 0; a < d.axes; ++a) MLUOPS_RETURN_IF_FINISHED(check_axis(d, d.axis[a], strict));
  return Status::go_on();
}

Status has_few_places(const GetIndicePairsArgs& a) {
  const mluOpSparseConvolutionStruct& d = *a.sparse_conv_desc;
  MLUOPS_RETURN_IF_FINISHED(
      in_range("the volume of filter_space", volume_of(d, 1, &mluopsSparseAxis::filter), 1, kMostOffsets));
  const std::int64_t before = volume_of(d, d.batch, &mluopsSparseAxis::input);
  const std::int64_t after = volume_of(d, d.batch, &mluopsSparseAxis::output);
  if (std::max(before, after) == kMostPlaces) {
    return Status::not_supported("sparse_conv_desc: wanted fewer than 2^62 places, got more");
  }
  if (a.handle->contract == MLUOP_EXT_CONTRACT_EXTENDED) return Status::go_on();
  MLUOPS_RETURN_IF_FINISHED(in_range("dimension 0 of indices", a.indices.desc->dims[0], 0, before));
  return in_range("dimension 0 of out_indices", a.out_indices.desc->dims[0], 0, after);
}

Status none_where_empty(const GetIndicePairsArgs& a) {
  if (!any_empty({a.indices, a.indice_pairs, a.out_indices, a.indice_num})) return Status::go_on();
  a.sparse_conv_desc->num_act_out = 0;
  return Status::nothing_to_do();
}

Status note_num_act_out(const GetIndicePairsArgs& a) {
  if (capturing()) note_tensor("num_act_out", one_int32(), &a.sparse_conv_desc->num_act_out, true);
  return Status::go_on();
}

mluopsGetIndicePairsShape pairs_shape_of(const GetIndicePairsArgs& a) {
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
