#include "common/op/furthest_point_sample.h"

#include "common/case_text.h"

namespace mluops::op {
namespace {

Status check_form(const FurthestPointSampleArgs& a) {
  MLUOPS_RETURN_IF_FINISHED(not_null("handle", a.handle));
  const auto all = {a.source, a.idx};
  MLUOPS_RETURN_IF_FINISHED(have_descs(all));
  MLUOPS_RETURN_IF_FINISHED(has_rank(a.source, 3));
  MLUOPS_RETURN_IF_FINISHED(has_rank(a.idx, 2));
  MLUOPS_RETURN_IF_FINISHED(are_arrays(all));
  MLUOPS_RETURN_IF_FINISHED(has_float_dtype(a.source, a.handle->contract));
  MLUOPS_RETURN_IF_FINISHED(has_dtype(a.idx, MLUOP_DTYPE_INT32));
  return has_dim(a.idx, 0, a.source.desc->dims[0], "the batch");
}

Status check_memory(const FurthestPointSampleArgs& a) {
  const auto all = {a.source, a.idx};
  MLUOPS_RETURN_IF_FINISHED(are_dense_and_countable(all, a.handle->contract));
  MLUOPS_RETURN_IF_FINISHED(is_indexable(a.source, 1));
  if (is_empty(a.idx)) return Status::nothing_to_do();
  MLUOPS_RETURN_IF_FINISHED(not_empty(a.source));
  MLUOPS_RETURN_IF_FINISHED(have_data(all));
  return no_overlap({a.source}, {a.idx});
}

mluopsFurthestPointSampleShape shape_of(const FurthestPointSampleArgs& a) {
  const auto& source = a.source.desc->dims;
  return {a.source.desc->dtype, source[0], source[1], a.idx.desc->dims[1]};
}

}  // namespace

Status check_furthest_point_sample(const FurthestPointSampleArgs& a, mluopsFurthestPointSampleProblem& problem) {
  MLUOPS_RETURN_IF_FINISHED(check_form(a));
  MLUOPS_RETURN_IF_FINISHED(has_dim(a.source, 2, 3, "coordinates of a point"));
  MLUOPS_RETURN_IF_FINISHED(check_memory(a));
  problem = {shape_of(a), a.source.data, int32_data(a.idx)};
  return Status::go_on();
}

Status check_furthest_point_sample_with_dist(const FurthestPointSampleArgs& a,
                                             mluopsFurthestPointSampleWithDistProblem& problem) {
  MLUOPS_RETURN_IF_FINISHED(check_form(a));
  MLUOPS_RETURN_IF_FINISHED(has_dim(a.source, 2, a.source.desc->dims[1], "one distance to each point"));
  MLUOPS_RETURN_IF_FINISHED(check_memory(a));
  problem = {shape_of(a), a.source.data, int32_data(a.idx)};
  return Status::go_on();
}

namespace {

std::string keys_of(const mluopsFurthestPointSampleShape& s) {
  return CaseKeys()("b", s.b)("n", s.n)("m", s.m).text();
}

}  // namespace

std::string case_keys(const mluopsFurthestPointSampleProblem& p) {
  return keys_of(p.shape);
}
std::string case_keys(const mluopsFurthestPointSampleWithDistProblem& p) {
  return keys_of(p.shape);
}

}  // namespace mluops::op
