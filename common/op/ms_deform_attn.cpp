#include "common/op/ms_deform_attn.h"

#include <algorithm>

#include "common/case_text.h"

namespace mluops::op {
namespace {

std::int64_t dim(const TensorArg& t, std::size_t axis) {
  return t.desc->dims[axis];
}

Status check_form(const MsDeformAttnInputs& a) {
  const struct {
    const TensorArg& tensor;
    int rank;
  } all[] = {{a.value, 4},        {a.spatial_shapes, 2}, {a.level_start_index, 1},
             {a.sampling_loc, 6}, {a.attn_weight, 5},    {a.output, 4}};
  for (const auto& [tensor, rank] : all) {
    MLUOPS_RETURN_IF_FINISHED(has_layout(tensor, MLUOP_LAYOUT_ARRAY));
    MLUOPS_RETURN_IF_FINISHED(has_rank(tensor, rank));
  }
  for (const TensorArg* t : {&a.spatial_shapes, &a.level_start_index}) {
    MLUOPS_RETURN_IF_FINISHED(has_dtype(*t, MLUOP_DTYPE_INT32));
  }
  const bool extended = a.handle->contract == MLUOP_EXT_CONTRACT_EXTENDED;
  MLUOPS_RETURN_IF_FINISHED(extended ? has_float_dtype(a.value, a.handle->contract)
                                     : has_dtype(a.value, MLUOP_DTYPE_FLOAT));
  for (const TensorArg* t : {&a.sampling_loc, &a.attn_weight, &a.output}) {
    MLUOPS_RETURN_IF_FINISHED(same_dtype(*t, a.value));
  }
  return Status::go_on();
}

Status check_relations(const MsDeformAttnInputs& a) {
  const std::int64_t levels = dim(a.spatial_shapes, 0), queries = dim(a.output, 1);
  MLUOPS_RETURN_IF_FINISHED(has_dim(a.spatial_shapes, 1, 2, "height and width"));
  MLUOPS_RETURN_IF_FINISHED(has_dim(a.level_start_index, 0, levels, "the levels of spatial_shapes"));
  for (const TensorArg* t : {&a.sampling_loc, &a.attn_weight}) {
    MLUOPS_RETURN_IF_FINISHED(has_dim(*t, 0, dim(a.value, 0), "the batch"));
    MLUOPS_RETURN_IF_FINISHED(has_dim(*t, 1, queries, "the queries"));
    MLUOPS_RETURN_IF_FINISHED(has_dim(*t, 2, dim(a.value, 2), "the heads"));
    MLUOPS_RETURN_IF_FINISHED(has_dim(*t, 3, levels, "the levels of spatial_shapes"));
  }
  MLUOPS_RETURN_IF_FINISHED(has_dim(a.sampling_loc, 4, dim(a.attn_weight, 4), "the points"));
  MLUOPS_RETURN_IF_FINISHED(has_dim(a.sampling_loc, 5, 2, "x and y"));
  MLUOPS_RETURN_IF_FINISHED(has_dim(a.output, 0, dim(a.value, 0), "the batch"));
  MLUOPS_RETURN_IF_FINISHED(has_dim(a.output, 2, dim(a.value, 2), "the heads"));
  return has_dim(a.output, 3, dim(a.value, 3), "the channels");
}

Status check_step(std::int64_t batch, int im2col_step) {
  const std::int64_t step = std::min<std::int64_t>(batch, im2col_step);
  if (step > 0 && batch % step == 0) return Status::go_on();
  return Status::bad_param("im2col_step: wanted > 0 and, where it is less than the batch, " + std::to_string(batch) +
                           ", a divisor of it, got " + std::to_string(im2col_step));
}

/// Maps lie among the pixels of value. Reads the data.
Status check_levels(const MsDeformAttnInputs& a) {
  const auto* const shapes = static_cast<const std::int32_t*>(a.spatial_shapes.data);
  const auto* const starts = static_cast<const std::int32_t*>(a.level_start_index.data);
  const std::int64_t keys = dim(a.value, 1);
  for (std::int64_t level = 0; level < dim(a.spatial_shapes, 0); ++level) {
    const std::int64_t h = shapes[2 * level], w = shapes[2 * level + 1], start = starts[level];
    if (h >= 0 && w >= 0 && start >= 0 && start <= keys && h * w <= keys - start) continue;
    return Status::bad_param(std::string(a.spatial_shapes.name) + ": wanted maps among the " + std::to_string(keys) +
                             " pixels of " + a.value.name + ", got " + std::to_string(h) + " x " + std::to_string(w) +
                             " from pixel " + std::to_string(start) + " on in level " + std::to_string(level));
  }
  return Status::go_on();
}

/// All there is about the tensors that both directions have, but for their data.
Status check_inputs(const MsDeformAttnInputs& a) {
  MLUOPS_RETURN_IF_FINISHED(check_form(a));
  MLUOPS_RETURN_IF_FINISHED(check_relations(a));
  MLUOPS_RETURN_IF_FINISHED(are_dense_and_countable(
      {a.value, a.spatial_shapes, a.level_start_index, a.sampling_loc, a.attn_weight, a.output}, a.handle->contract));
  MLUOPS_RETURN_IF_FINISHED(not_empty(a.output));
  return check_step(dim(a.value, 0), a.im2col_step);
}

Status check_data(const MsDeformAttnInputs& a) {
  MLUOPS_RETURN_IF_FINISHED(have_data_unless_empty(
      {a.value, a.spatial_shapes, a.level_start_index, a.sampling_loc, a.attn_weight, a.output}));
  return check_levels(a);
}

mluopsMsDeformAttnShape shape_of(const MsDeformAttnInputs& a) {
  return {a.value.desc->dtype, dim(a.value, 0),          dim(a.value, 1),  dim(a.value, 2),
          dim(a.value, 3),     dim(a.spatial_shapes, 0), dim(a.output, 1), dim(a.attn_weight, 4)};
}

Status have_arguments(const MsDeformAttnInputs& a) {
  MLUOPS_RETURN_IF_FINISHED(not_null("handle", a.handle));
  return have_descs({a.value, a.spatial_shapes, a.level_start_index, a.sampling_loc, a.attn_weight, a.output});
}

}  // namespace

Status check_ms_deform_attn_forward(const MsDeformAttnInputs& a, mluopsMsDeformAttnForwardProblem& problem) {
  MLUOPS_RETURN_IF_FINISHED(have_arguments(a));
  MLUOPS_RETURN_IF_FINISHED(check_inputs(a));
  MLUOPS_RETURN_IF_FINISHED(check_data(a));
  MLUOPS_RETURN_IF_FINISHED(
      no_overlap({a.value, a.spatial_shapes, a.level_start_index, a.sampling_loc, a.attn_weight}, {a.output}));
  problem = {shape_of(a),
             a.value.data,
             static_cast<const std::int32_t*>(a.spatial_shapes.data),
             static_cast<const std::int32_t*>(a.level_start_index.data),
             a.sampling_loc.data,
             a.attn_weight.data,
             const_cast<void*>(a.output.data)};
  return Status::go_on();
}

Status check_ms_deform_attn_backward(const MsDeformAttnInputs& a, const MsDeformAttnGradients& g,
                                     mluopsMsDeformAttnBackwardProblem& problem) {
  MLUOPS_RETURN_IF_FINISHED(have_arguments(a));
  MLUOPS_RETURN_IF_FINISHED(have_descs({g.value, g.sampling_loc, g.attn_weight}));
  MLUOPS_RETURN_IF_FINISHED(check_inputs(a));
  const TensorArg pairs[][2] = {{g.value, a.value}, {g.sampling_loc, a.sampling_loc}, {g.attn_weight, a.attn_weight}};
  for (const auto& [gradient, input] : pairs) {
    MLUOPS_RETURN_IF_FINISHED(has_layout(gradient, MLUOP_LAYOUT_ARRAY));
    MLUOPS_RETURN_IF_FINISHED(has_rank(gradient, rank(*input.desc)));
    MLUOPS_RETURN_IF_FINISHED(same_dtype(gradient, input));
    MLUOPS_RETURN_IF_FINISHED(same_dims(gradient, input));
    MLUOPS_RETURN_IF_FINISHED(is_dense(gradient, MLUOP_STATUS_NOT_SUPPORTED));
  }
  MLUOPS_RETURN_IF_FINISHED(check_data(a));
  MLUOPS_RETURN_IF_FINISHED(have_data_unless_empty({g.value, g.sampling_loc, g.attn_weight}));
  MLUOPS_RETURN_IF_FINISHED(
      no_overlap({a.value, a.spatial_shapes, a.level_start_index, a.sampling_loc, a.attn_weight, a.output},
                 {g.value, g.sampling_loc, g.attn_weight}));
  problem = {shape_of(a),
             a.value.data,
             static_cast<const std::int32_t*>(a.spatial_shapes.data),
             static_cast<const std::int32_t*>(a.level_start_index.data),
             a.sampling_loc.data,
             a.attn_weight.data,
             a.output.data,
             const_cast<void*>(g.value.data),
             const_cast<void*>(g.sampling_loc.data),
             const_cast<void*>(g.attn_weight.data)};
  return Status::go_on();
}

namespace {

/// "25x42+13x21", or "" where the numbers, which are data, are no levels of `keys` pixels that a case could have.
std::string levels_text(const mluopsMsDeformAttnShape& s, const std::int32_t* sizes) {
  std::string text;
  std::int64_t left = s.keys;
  for (std::int64_t level = 0; level < s.levels; ++level) {
    const std::int64_t h = sizes[2 * level], w = sizes[2 * level + 1];
    if (h < 1 || w < 1 || h * w > left) return "";
    left -= h * w;
    text.append(level == 0 ? "" : "+").append(std::to_string(h)).append("x").append(std::to_string(w));
  }
  return text;
}

std::string keys_of(const mluopsMsDeformAttnShape& s, const std::int32_t* sizes) {
  CaseKeys keys;
  keys("b", s.batch)("q", s.queries)("m", s.heads)("d", s.channels)("l", s.levels)("p", s.points);
  const std::string levels = levels_text(s, sizes);
  if (levels.empty()) keys("h", 1)("w", 1);
  return keys("shapes", levels.empty() ? "pyramid" : levels)("keys", s.keys).text();
}

}  // namespace

std::string case_keys(const mluopsMsDeformAttnForwardProblem& p) {
  return keys_of(p.shape, p.spatial_shapes);
}
std::string case_keys(const mluopsMsDeformAttnBackwardProblem& p) {
  return keys_of(p.shape, p.spatial_shapes);
}

}  // namespace mluops::op
