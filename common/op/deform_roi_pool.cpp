#include "common/op/deform_roi_pool.h"

#include <limits>

#include "common/case_text.h"
#include "common/op/rois.h"

namespace mluops::op {
namespace {
Status all_dense(std::initializer_list<TensorArg> tensors) {
  for (const TensorArg& t : tensors) {
    if (t.desc != nullptr) MLUOPS_RETURN_IF_FINISHED(is_dense(t, MLUOP_STATUS_NOT_SUPPORTED));
  }
  return Status::go_on();
}

/// rois [r,5], pooled sizes, and the pooled tensor (output or grad_output) [r,ph,pw,*].
Status check_rois(const TensorArg& rois, const DeformRoiPoolParams& p, const TensorArg& pooled) {
  MLUOPS_RETURN_IF_FINISHED(is_rois(rois));
  MLUOPS_RETURN_IF_FINISHED(at_least("pooled_height", p.pooled_height, 1));
  MLUOPS_RETURN_IF_FINISHED(at_least("pooled_width", p.pooled_width, 1));
  MLUOPS_RETURN_IF_FINISHED(has_dim(pooled, Axis::kH, p.pooled_height, "pooled_height"));
  return has_dim(pooled, Axis::kW, p.pooled_width, "pooled_width");
}

/// offset or grad_offset, where present: [r,2,ph,pw].
Status check_offset(const TensorArg& t, const TensorArg& input, const TensorArg& rois, const DeformRoiPoolParams& p) {
  if (t.desc == nullptr) return Status::go_on();
  MLUOPS_RETURN_IF_FINISHED(same_dtype(t, input));
  MLUOPS_RETURN_IF_FINISHED(has_rank(t, 4));
  MLUOPS_RETURN_IF_FINISHED(has_dim(t, 0, rois.desc->dims[0], "the number of rois"));
  MLUOPS_RETURN_IF_FINISHED(has_dim(t, 1, 2, "x and y"));
  MLUOPS_RETURN_IF_FINISHED(has_dim(t, 2, p.pooled_height, "pooled_height"));
  return has_dim(t, 3, p.pooled_width, "pooled_width");
}

/// Which empty tensors are refused and which end the call.
Status check_emptiness(const TensorArg& input, const TensorArg& rois, const TensorArg& pooled) {
  const auto refuse = [](const TensorArg& t) {
    return Status::bad_param(std::string(t.name) + ": wanted a non-empty tensor, got " + dims_text(*t.desc));
  };
  if (input.desc->dims[0] == 0) return refuse(input);
  if (is_empty(rois)) return refuse(rois);
  if (is_empty(pooled)) return refuse(pooled);
  return is_empty(input) ? Status::nothing_to_do() : Status::go_on();  // height or width 0
}

mluopsDeformRoiPoolShape shape_of(const TensorArg& input, const TensorArg& rois, const DeformRoiPoolParams& p) {
  return {input.desc->dtype,        size_of(input, Axis::kN),
          size_of(input, Axis::kH), size_of(input, Axis::kW),
          size_of(input, Axis::kC), rois.desc->dims[0],
          p.pooled_height,          p.pooled_width,
          p.spatial_scale.value,    p.gamma.value,
          p.sampling_ratio};
}

Status check_forward_form(const DeformRoiPoolForwardArgs& a) {
  MLUOPS_RETURN_IF_FINISHED(not_null("handle", a.handle));
  MLUOPS_RETURN_IF_FINISHED(have_descs({a.input, a.rois, a.output}));
  for (const TensorArg* t : {&a.input, &a.output}) {
    MLUOPS_RETURN_IF_FINISHED(has_image_layout(*t, a.input, a.handle->contract));
    MLUOPS_RETURN_IF_FINISHED(has_rank(*t, 4));
  }
  MLUOPS_RETURN_IF_FINISHED(all_dense({a.input, a.rois, a.offset, a.output}));
  MLUOPS_RETURN_IF_FINISHED(has_float_dtype(a.input, a.handle->contract));
  for (const TensorArg* t : {&a.rois, &a.output}) MLUOPS_RETURN_IF_FINISHED(same_dtype(*t, a.input));
  return Status::go_on();
}

Status check_backward_form(const DeformRoiPoolBackwardArgs& a) {
  MLUOPS_RETURN_IF_FINISHED(not_null("handle", a.handle));
  MLUOPS_RETURN_IF_FINISHED(have_descs({a.grad_output, a.input, a.rois, a.grad_input}));
  for (const TensorArg* t : {&a.grad_output, &a.input, &a.grad_input}) {
    MLUOPS_RETURN_IF_FINISHED(has_image_layout(*t, a.input, a.handle->contract));
    MLUOPS_RETURN_IF_FINISHED(has_rank(*t, 4));
  }
  MLUOPS_RETURN_IF_FINISHED(all_dense({a.input, a.grad_output, a.rois, a.offset, a.grad_input, a.grad_offset}));
  MLUOPS_RETURN_IF_FINISHED(has_float_dtype(a.input, a.handle->contract));
  for (const TensorArg* t : {&a.grad_output, &a.rois, &a.grad_input}) {
    MLUOPS_RETURN_IF_FINISHED(same_dtype(*t, a.input));
  }
  return Status::go_on();
}

/// offset and grad_offset: both or neither, with the right shape.
Status check_offsets(const DeformRoiPoolBackwardArgs& a) {
  MLUOPS_RETURN_IF_FINISHED(present_or_absent(a.offset));
  MLUOPS_RETURN_IF_FINISHED(present_or_absent(a.grad_offset));
  if ((a.offset.desc == nullptr) != (a.grad_offset.desc == nullptr)) {
    return Status::bad_param(std::string("grad_offset: wanted it exactly when offset is given, got ") +
                             (a.offset.desc != nullptr ? "only offset" : "only grad_offset"));
  }
  MLUOPS_RETURN_IF_FINISHED(check_offset(a.offset, a.input, a.rois, a.params));
  return check_offset(a.grad_offset, a.input, a.rois, a.params);
}

}  // namespace

Status check_deform_roi_pool_forward(const DeformRoiPoolForwardArgs& a, mluopsDeformRoiPoolForwardProblem& problem) {
  MLUOPS_RETURN_IF_FINISHED(check_forward_form(a));
  MLUOPS_RETURN_IF_FINISHED(check_rois(a.rois, a.params, a.output));
  MLUOPS_RETURN_IF_FINISHED(check_offset(a.offset, a.input, a.rois, a.params));
  MLUOPS_RETURN_IF_FINISHED(has_dim(a.output, Axis::kN, a.rois.desc->dims[0], "the number of rois"));
  MLUOPS_RETURN_IF_FINISHED(has_dim(a.output, Axis::kC, size_of(a.input, Axis::kC), "the channels of input"));
  MLUOPS_RETURN_IF_FINISHED(all_countable({a.input, a.rois, a.offset, a.output}, a.handle->contract));
  MLUOPS_RETURN_IF_FINISHED(present_or_absent(a.offset));
  MLUOPS_RETURN_IF_FINISHED(check_emptiness(a.input, a.rois, a.output));
  MLUOPS_RETURN_IF_FINISHED(have_data({a.input, a.rois, a.output}));
  MLUOPS_RETURN_IF_FINISHED(no_overlap({a.input, a.rois, a.offset}, {a.output}));
  MLUOPS_RETURN_IF_FINISHED(check_batch_indices(a.rois, a.input.desc->dims[0]));
  problem = {shape_of(a.input, a.rois, a.params),
             a.input.data,
             a.rois.data,
             a.offset.data,
             const_cast<void*>(a.output.data),
             a.input.desc->layout,
             a.params.spatial_scale.of(a.input.desc->dtype),
             a.params.gamma.of(a.input.desc->dtype)};
  return Status::go_on();
}

Status check_deform_roi_pool_backward(const DeformRoiPoolBackwardArgs& a, mluopsDeformRoiPoolBackwardProblem& problem) {
  MLUOPS_RETURN_IF_FINISHED(check_backward_form(a));
  MLUOPS_RETURN_IF_FINISHED(check_rois(a.rois, a.params, a.grad_output));
  MLUOPS_RETURN_IF_FINISHED(same_dims(a.grad_input, a.input));
  MLUOPS_RETURN_IF_FINISHED(check_offsets(a));
  MLUOPS_RETURN_IF_FINISHED(has_dim(a.grad_output, Axis::kN, a.rois.desc->dims[0], "the number of rois"));
  MLUOPS_RETURN_IF_FINISHED(has_dim(a.grad_output, Axis::kC, size_of(a.input, Axis::kC), "the channels of input"));
  MLUOPS_RETURN_IF_FINISHED(
      all_countable({a.grad_output, a.input, a.rois, a.offset, a.grad_input, a.grad_offset}, a.handle->contract));
  MLUOPS_RETURN_IF_FINISHED(check_emptiness(a.input, a.rois, a.grad_output));
  MLUOPS_RETURN_IF_FINISHED(have_data({a.grad_output, a.input, a.rois, a.grad_input}));
  MLUOPS_RETURN_IF_FINISHED(no_overlap({a.grad_output, a.input, a.rois, a.offset}, {a.grad_input, a.grad_offset}));
  MLUOPS_RETURN_IF_FINISHED(check_batch_indices(a.rois, a.input.desc->dims[0]));
  problem = {shape_of(a.input, a.rois, a.params),
             a.grad_output.data,
             a.input.data,
             a.rois.data,
             a.offset.data,
             const_cast<void*>(a.grad_input.data),
             const_cast<void*>(a.grad_offset.data),
             a.input.desc->layout,
             a.params.spatial_scale.of(a.input.desc->dtype),
             a.params.gamma.of(a.input.desc->dtype)};
  return Status::go_on();
}

namespace {

template <class Problem>
std::string deform_keys(const Problem& p) {
  const mluopsDeformRoiPoolShape& s = p.shape;
  CaseKeys keys;
  keys("b", s.batch)("h", s.h)("w", s.w)("c", s.c)("r", s.rois)("ph", s.pooled_h)("pw", s.pooled_w);
  keys.scalar("scale", p.exact_spatial_scale, s.dtype)("ratio", s.sampling_ratio)
      .scalar("gamma", p.exact_gamma, s.dtype);
  return keys("offset", p.offset != nullptr ? 1 : 0).text();
}

}  // namespace

std::string case_keys(const mluopsDeformRoiPoolForwardProblem& p) {
  return deform_keys(p);
}
std::string case_keys(const mluopsDeformRoiPoolBackwardProblem& p) {
  return deform_keys(p);
}

}  // namespace mluops::op
