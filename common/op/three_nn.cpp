#include "common/op/three_nn.h"

#include "common/case_text.h"
#include "common/shape.h"

namespace mluops::op {
namespace {

Status check_types(const ThreeNNForwardArgs& a) {
  MLUOPS_RETURN_IF_FINISHED(has_float_dtype(a.unknown, a.handle->contract));
  MLUOPS_RETURN_IF_FINISHED(same_dtype(a.known, a.unknown));
  MLUOPS_RETURN_IF_FINISHED(same_dtype(a.dist2, a.unknown));
  return has_dtype(a.idx, MLUOP_DTYPE_INT32);
}

Status check_relations(const ThreeNNForwardArgs& a) {
  const auto& unknown = a.unknown.desc->dims;
  MLUOPS_RETURN_IF_FINISHED(has_dim(a.unknown, 2, 3, "coordinates of a point"));
  MLUOPS_RETURN_IF_FINISHED(has_dim(a.known, 0, unknown[0], "the batch"));
  MLUOPS_RETURN_IF_FINISHED(has_dim(a.known, 2, 3, "coordinates of a point"));
  MLUOPS_RETURN_IF_FINISHED(same_dims(a.dist2, a.unknown));
  return same_dims(a.idx, a.unknown);
}

}  // namespace

Status check_three_nn_forward(const ThreeNNForwardArgs& a, mluopsThreeNNForwardProblem& problem) {
  MLUOPS_RETURN_IF_FINISHED(not_null("handle", a.handle));
  const auto all = {a.unknown, a.known, a.dist2, a.idx};
  MLUOPS_RETURN_IF_FINISHED(have_descs(all));
  for (const TensorArg& t : all) MLUOPS_RETURN_IF_FINISHED(has_rank(t, 3));
  MLUOPS_RETURN_IF_FINISHED(are_arrays(all));
  MLUOPS_RETURN_IF_FINISHED(check_types(a));
  MLUOPS_RETURN_IF_FINISHED(check_relations(a));
  MLUOPS_RETURN_IF_FINISHED(are_dense_and_countable(all, a.handle->contract));
  MLUOPS_RETURN_IF_FINISHED(is_indexable(a.known, 1));
  MLUOPS_RETURN_IF_FINISHED(not_empty(a.unknown));
  if (is_empty(a.known)) return Status::nothing_to_do();
  if (a.workspace_size > 0) MLUOPS_RETURN_IF_FINISHED(not_null("workspace", a.workspace));
  MLUOPS_RETURN_IF_FINISHED(have_data(all));
  MLUOPS_RETURN_IF_FINISHED(no_overlap({a.unknown, a.known}, {a.dist2, a.idx}));
  const auto& unknown = a.unknown.desc->dims;
  problem = {{a.unknown.desc->dtype, unknown[0], unknown[1], a.known.desc->dims[1]},
             a.unknown.data,
             a.known.data,
             const_cast<void*>(a.dist2.data),
             int32_data(a.idx)};
  return Status::go_on();
}

Status check_three_nn_workspace(mluOpHandle_t handle, const TensorArg& known, std::size_t* workspace_size) {
  MLUOPS_RETURN_IF_FINISHED(not_null("handle", handle));
  MLUOPS_RETURN_IF_FINISHED(have_descs({known}));
  MLUOPS_RETURN_IF_FINISHED(not_null("workspace_size", workspace_size));
  MLUOPS_RETURN_IF_FINISHED(has_rank(known, 3));
  MLUOPS_RETURN_IF_FINISHED(is_countable(known, handle->contract));
  return tell_workspace({{known.desc->elements, element_bytes(known)}}, workspace_size);
}

std::string case_keys(const mluopsThreeNNForwardProblem& p) {
  const mluopsThreeNNShape& s = p.shape;
  return CaseKeys()("b", s.b)("n", s.n)("m", s.m).text();
}

}  // namespace mluops::op
