#include "common/op/three_interpolate.h"

#include "common/case_text.h"

namespace mluops::op {
namespace {

Status check_types(const ThreeInterpolateArgs& a) {
  MLUOPS_RETURN_IF_FINISHED(has_float_dtype(a.source, a.handle->contract));
  MLUOPS_RETURN_IF_FINISHED(same_dtype(a.weights, a.source));
  MLUOPS_RETURN_IF_FINISHED(has_dtype(a.indices, MLUOP_DTYPE_INT32));
  return same_dtype(a.target, a.source);
}

/// `points` is the tensor [b,c,n].
Status check_relations(const ThreeInterpolateArgs& a, const TensorArg& points) {
  const auto& source = a.source.desc->dims;
  MLUOPS_RETURN_IF_FINISHED(has_dim(a.indices, 0, source[0], "the batch"));
  MLUOPS_RETURN_IF_FINISHED(same_dims(a.weights, a.indices));
  MLUOPS_RETURN_IF_FINISHED(has_dim(a.indices, 2, 3, "neighbours of a point"));
  MLUOPS_RETURN_IF_FINISHED(has_dim(a.target, 0, source[0], "the batch"));
  MLUOPS_RETURN_IF_FINISHED(has_dim(a.target, 1, source[1], "the channels"));
  return has_dim(points, 2, a.indices.desc->dims[1], "the points of indices");
}

Status check_form(const ThreeInterpolateArgs& a, const TensorArg& points) {
  MLUOPS_RETURN_IF_FINISHED(not_null("handle", a.handle));
  const auto all = {a.source, a.indices, a.weights, a.target};
  MLUOPS_RETURN_IF_FINISHED(have_descs(all));
  for (const TensorArg& t : all) MLUOPS_RETURN_IF_FINISHED(has_rank(t, 3));
  MLUOPS_RETURN_IF_FINISHED(are_arrays(all));
  MLUOPS_RETURN_IF_FINISHED(check_types(a));
  MLUOPS_RETURN_IF_FINISHED(check_relations(a, points));
  MLUOPS_RETURN_IF_FINISHED(are_dense_and_countable(all, a.handle->contract));
  for (const TensorArg& t : {a.indices, a.weights, points}) MLUOPS_RETURN_IF_FINISHED(not_empty(t));
  return Status::go_on();
}

Status check_memory(const ThreeInterpolateArgs& a) {
  MLUOPS_RETURN_IF_FINISHED(have_data({a.source, a.indices, a.weights, a.target}));
  return no_overlap({a.source, a.indices, a.weights}, {a.target});
}

mluopsThreeInterpolateShape interpolation_shape(const TensorArg& known, const TensorArg& points) {
  const auto& k = known.desc->dims;
  return {known.desc->dtype, k[0], k[1], k[2], points.desc->dims[2]};
}

}  // namespace

Status check_three_interpolate_forward(const ThreeInterpolateArgs& a, mluopsThreeInterpolateForwardProblem& problem) {
  MLUOPS_RETURN_IF_FINISHED(check_form(a, a.target));
  if (is_empty(a.source)) return Status::nothing_to_do();  // M = 0; B and C are not 0 here
  MLUOPS_RETURN_IF_FINISHED(check_memory(a));
  problem = {interpolation_shape(a.source, a.target), a.source.data, static_cast<const int32_t*>(a.indices.data),
             a.weights.data, const_cast<void*>(a.target.data)};
  return Status::go_on();
}

Status check_three_interpolate_backward(const ThreeInterpolateArgs& a, mluopsThreeInterpolateBackwardProblem& problem) {
  MLUOPS_RETURN_IF_FINISHED(check_form(a, a.source));
  MLUOPS_RETURN_IF_FINISHED(not_empty(a.target));
  MLUOPS_RETURN_IF_FINISHED(check_memory(a));
  problem = {interpolation_shape(a.target, a.source), a.source.data, static_cast<const int32_t*>(a.indices.data),
             a.weights.data, const_cast<void*>(a.target.data)};
  return Status::go_on();
}

namespace {

std::string keys_of(const mluopsThreeInterpolateShape& s) {
  return CaseKeys()("b", s.b)("c", s.c)("m", s.m)("n", s.n).text();
}

}  // namespace

std::string case_keys(const mluopsThreeInterpolateForwardProblem& p) {
  return keys_of(p.shape);
}
std::string case_keys(const mluopsThreeInterpolateBackwardProblem& p) {
  return keys_of(p.shape);
}

}  // namespace mluops::op
