#include "common/op/gather_points.h"

#include "common/case_text.h"

namespace mluops::op {
namespace {

/// `known` is the tensor [b,c,n], `taken` that of [b,c,m...].
Status check_relations(const GatherPointsArgs& a, const TensorArg& known, const TensorArg& taken) {
  MLUOPS_RETURN_IF_FINISHED(has_dim(a.idx, 0, known.desc->dims[0], "the batch"));
  MLUOPS_RETURN_IF_FINISHED(has_dim(taken, 0, known.desc->dims[0], "the batch"));
  MLUOPS_RETURN_IF_FINISHED(has_dim(taken, 1, known.desc->dims[1], "the channels"));
  for (int axis = 1; axis < a.index_rank; ++axis) {
    const std::int64_t wanted = a.idx.desc->dims[static_cast<std::size_t>(axis)];
    MLUOPS_RETURN_IF_FINISHED(has_dim(taken, axis + 1, wanted, "as in idx"));
  }
  return Status::go_on();
}

Status check_types(const GatherPointsArgs& a) {
  MLUOPS_RETURN_IF_FINISHED(has_float_dtype(a.source, a.handle->contract));
  MLUOPS_RETURN_IF_FINISHED(has_dtype(a.idx, MLUOP_DTYPE_INT32));
  return same_dtype(a.target, a.source);
}

Status check_form(const GatherPointsArgs& a, const TensorArg& known, const TensorArg& taken) {
  MLUOPS_RETURN_IF_FINISHED(not_null("handle", a.handle));
  const auto all = {a.source, a.idx, a.target};
  MLUOPS_RETURN_IF_FINISHED(have_descs(all));
  MLUOPS_RETURN_IF_FINISHED(has_rank(known, 3));
  MLUOPS_RETURN_IF_FINISHED(has_rank(a.idx, a.index_rank));
  MLUOPS_RETURN_IF_FINISHED(has_rank(taken, a.index_rank + 1));
  MLUOPS_RETURN_IF_FINISHED(are_arrays(all));
  MLUOPS_RETURN_IF_FINISHED(check_types(a));
  MLUOPS_RETURN_IF_FINISHED(check_relations(a, known, taken));
  MLUOPS_RETURN_IF_FINISHED(are_dense_and_countable(all, a.handle->contract));
  if (is_empty(a.target)) return Status::nothing_to_do();
  MLUOPS_RETURN_IF_FINISHED(not_empty(a.source));
  MLUOPS_RETURN_IF_FINISHED(have_data(all));
  return no_overlap({a.source, a.idx}, {a.target});
}

mluopsGatherPointsShape shape_of(const GatherPointsArgs& a, const TensorArg& known) {
  const auto& k = known.desc->dims;
  return {known.desc->dtype, k[0], k[1], k[2], a.idx.desc->elements / k[0]};
}

}  // namespace

Status check_gather_points_forward(const GatherPointsArgs& a, mluopsGatherPointsForwardProblem& problem) {
  MLUOPS_RETURN_IF_FINISHED(check_form(a, a.source, a.target));
  problem = {shape_of(a, a.source), a.source.data, static_cast<const std::int32_t*>(a.idx.data),
             const_cast<void*>(a.target.data)};
  return Status::go_on();
}

Status check_gather_points_backward(const GatherPointsArgs& a, mluopsGatherPointsBackwardProblem& problem) {
  MLUOPS_RETURN_IF_FINISHED(check_form(a, a.target, a.source));
  problem = {shape_of(a, a.target), a.source.data, static_cast<const std::int32_t*>(a.idx.data),
             const_cast<void*>(a.target.data)};
  return Status::go_on();
}

namespace {

std::string keys_of(const mluopsGatherPointsShape& s) {
  return CaseKeys()("b", s.b)("c", s.c)("n", s.n)("m", s.m).text();
}

}  // namespace

std::string case_keys(const mluopsGatherPointsForwardProblem& p) {
  return keys_of(p.shape);
}
std::string case_keys(const mluopsGatherPointsBackwardProblem& p) {
  return keys_of(p.shape);
}

}  // namespace mluops::op
