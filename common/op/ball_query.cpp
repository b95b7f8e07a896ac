#include "common/op/ball_query.h"

#include <limits>

#include "common/case_text.h"

namespace mluops::op {
namespace {

/// A NaN is not >= 0.
Status is_radius(const char* name, double value) {
  if (value >= 0) return Status::go_on();
  return Status::bad_param(std::string(name) + ": wanted >= 0, got " + std::to_string(value));
}

Status check_parameters(const BallQueryArgs& a) {
  MLUOPS_RETURN_IF_FINISHED(is_radius("min_radius", a.min_radius.exact));
  MLUOPS_RETURN_IF_FINISHED(is_radius("max_radius", a.max_radius.exact));
  return at_least("nsample", a.nsample, 0);
}

Status check_types(const BallQueryArgs& a) {
  MLUOPS_RETURN_IF_FINISHED(has_float_dtype(a.new_xyz, a.handle->contract));
  MLUOPS_RETURN_IF_FINISHED(same_dtype(a.xyz, a.new_xyz));
  return has_dtype(a.idx, MLUOP_DTYPE_INT32);
}

Status check_relations(const BallQueryArgs& a) {
  const auto& centres = a.new_xyz.desc->dims;
  MLUOPS_RETURN_IF_FINISHED(has_dim(a.new_xyz, 2, 3, "coordinates of a point"));
  MLUOPS_RETURN_IF_FINISHED(has_dim(a.xyz, 0, centres[0], "the batch"));
  MLUOPS_RETURN_IF_FINISHED(has_dim(a.xyz, 2, 3, "coordinates of a point"));
  MLUOPS_RETURN_IF_FINISHED(has_dim(a.idx, 0, centres[0], "the batch"));
  MLUOPS_RETURN_IF_FINISHED(has_dim(a.idx, 1, centres[1], "the centres of new_xyz"));
  return has_dim(a.idx, 2, a.nsample, "nsample");
}

}  // namespace

Status check_ball_query(const BallQueryArgs& a, mluopsBallQueryProblem& problem) {
  MLUOPS_RETURN_IF_FINISHED(not_null("handle", a.handle));
  MLUOPS_RETURN_IF_FINISHED(check_parameters(a));
  const auto all = {a.new_xyz, a.xyz, a.idx};
  MLUOPS_RETURN_IF_FINISHED(have_descs(all));
  for (const TensorArg& t : all) MLUOPS_RETURN_IF_FINISHED(has_rank(t, 3));
  MLUOPS_RETURN_IF_FINISHED(are_arrays(all));
  MLUOPS_RETURN_IF_FINISHED(check_types(a));
  MLUOPS_RETURN_IF_FINISHED(check_relations(a));
  MLUOPS_RETURN_IF_FINISHED(are_dense_and_countable(all, a.handle->contract));
  MLUOPS_RETURN_IF_FINISHED(is_indexable(a.xyz, 1));
  MLUOPS_RETURN_IF_FINISHED(not_empty(a.new_xyz));
  if (is_empty(a.xyz) || is_empty(a.idx)) return Status::nothing_to_do();
  MLUOPS_RETURN_IF_FINISHED(have_data(all));
  MLUOPS_RETURN_IF_FINISHED(no_overlap({a.new_xyz, a.xyz}, {a.idx}));
  const auto& centres = a.new_xyz.desc->dims;
  problem = {{a.new_xyz.desc->dtype, centres[0], centres[1], a.xyz.desc->dims[1], a.nsample, a.min_radius.value,
              a.max_radius.value},
             a.new_xyz.data,
             a.xyz.data,
             int32_data(a.idx),
             a.min_radius.of(a.xyz.desc->dtype),
             a.max_radius.of(a.xyz.desc->dtype)};
  return Status::go_on();
}

std::string case_keys(const mluopsBallQueryProblem& p) {
  const mluopsBallQueryShape& s = p.shape;
  CaseKeys keys = CaseKeys()("b", s.b)("m", s.m)("n", s.n)("s", s.nsample);
  return keys.scalar("min", p.exact_min_radius, s.dtype).scalar("max", p.exact_max_radius, s.dtype).text();
}

}  // namespace mluops::op
