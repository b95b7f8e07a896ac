#include "common/op/psamask.h"

#include <limits>

#include "common/case_text.h"

namespace mluops::op {
namespace {
Status check_types(const PsamaskArgs& a) {
  if (a.handle->contract == MLUOP_EXT_CONTRACT_EXTENDED) {
    MLUOPS_RETURN_IF_FINISHED(has_float_dtype(a.source, a.handle->contract));
    return same_dtype(a.target, a.source);
  }
  MLUOPS_RETURN_IF_FINISHED(has_dtype(a.source, MLUOP_DTYPE_FLOAT));
  return has_dtype(a.target, MLUOP_DTYPE_FLOAT);
}

// `masks` has a channel per mask cell (x, dx), `maps` one per pixel (y, dy).
Status check_shapes(const PsamaskArgs& a, const TensorArg& masks, const TensorArg& maps) {
  for (const TensorArg* t : {&masks, &maps}) MLUOPS_RETURN_IF_FINISHED(has_rank(*t, 4));
  for (const TensorArg* t : {&masks, &maps}) MLUOPS_RETURN_IF_FINISHED(has_image_layout(*t, masks, a.handle->contract));
  MLUOPS_RETURN_IF_FINISHED(check_types(a));
  MLUOPS_RETURN_IF_FINISHED(in_range("psa_type", a.psa_type, 0, 1));
  MLUOPS_RETURN_IF_FINISHED(at_least("h_mask", a.h_mask, 0));
  MLUOPS_RETURN_IF_FINISHED(at_least("w_mask", a.w_mask, 0));
  const std::int64_t h = size_of(masks, Axis::kH), w = size_of(masks, Axis::kW);
  MLUOPS_RETURN_IF_FINISHED(has_dim(maps, Axis::kN, size_of(masks, Axis::kN), "the batch"));
  MLUOPS_RETURN_IF_FINISHED(has_dim(maps, Axis::kH, h, "the height"));
  MLUOPS_RETURN_IF_FINISHED(has_dim(maps, Axis::kW, w, "the width"));
  MLUOPS_RETURN_IF_FINISHED(has_dim(masks, Axis::kC, std::int64_t{a.h_mask} * a.w_mask, "h_mask * w_mask"));
  std::int64_t pixels = 0;
  if (__builtin_mul_overflow(h, w, &pixels)) pixels = -1;
  return has_dim(maps, Axis::kC, pixels, "height * width");
}

Status check_memory(const PsamaskArgs& a) {
  // MLU-OPS maps every failure of this function's shape check, strides and size included, to BAD_PARAM.
  for (const TensorArg* t : {&a.source, &a.target}) MLUOPS_RETURN_IF_FINISHED(is_dense(*t, MLUOP_STATUS_BAD_PARAM));
  for (const TensorArg* t : {&a.source, &a.target}) {
    const Status s = is_countable(*t, a.handle->contract);
    if (s.failed()) return Status::bad_param(s.text());
  }
  if (is_empty(a.source) || is_empty(a.target)) return Status::nothing_to_do();
  MLUOPS_RETURN_IF_FINISHED(have_data({a.source, a.target}));
  return no_overlap({a.source}, {a.target});
}

mluopsPsamaskShape shape_of(const PsamaskArgs& a) {
  const TensorArg& t = a.source;
  return {t.desc->dtype, size_of(t, Axis::kN), size_of(t, Axis::kH), size_of(t, Axis::kW), a.h_mask, a.w_mask,
          a.psa_type};
}

Status check(const PsamaskArgs& a, const TensorArg& masks, const TensorArg& maps) {
  MLUOPS_RETURN_IF_FINISHED(not_null("handle", a.handle));
  MLUOPS_RETURN_IF_FINISHED(have_descs({a.source, a.target}));
  MLUOPS_RETURN_IF_FINISHED(check_shapes(a, masks, maps));
  return check_memory(a);
}

}  // namespace

Status check_psamask_forward(const PsamaskArgs& a, mluopsPsamaskForwardProblem& problem) {
  MLUOPS_RETURN_IF_FINISHED(check(a, a.source, a.target));
  problem = {shape_of(a), a.source.data, const_cast<void*>(a.target.data), a.source.desc->layout};
  return Status::go_on();
}

Status check_psamask_backward(const PsamaskArgs& a, mluopsPsamaskBackwardProblem& problem) {
  MLUOPS_RETURN_IF_FINISHED(check(a, a.target, a.source));
  problem = {shape_of(a), a.source.data, const_cast<void*>(a.target.data), a.source.desc->layout};
  return Status::go_on();
}

namespace {

std::string keys_of(const mluopsPsamaskShape& s) {
  return CaseKeys()("n", s.n)("h", s.h)("w", s.w)("hm", s.h_mask)("wm", s.w_mask)("type", s.psa_type).text();
}

}  // namespace

std::string case_keys(const mluopsPsamaskForwardProblem& p) {
  return keys_of(p.shape);
}
std::string case_keys(const mluopsPsamaskBackwardProblem& p) {
  return keys_of(p.shape);
}

}  // namespace mluops::op
