#include "common/op/knn.h"

#include <limits>

#include "common/case_text.h"

namespace mluops::op {
namespace {

Status check_types(const KnnArgs& a) {
  MLUOPS_RETURN_IF_FINISHED(has_float_dtype(a.xyz, a.handle->contract));
  MLUOPS_RETURN_IF_FINISHED(same_dtype(a.new_xyz, a.xyz));
  MLUOPS_RETURN_IF_FINISHED(has_dtype(a.idx, MLUOP_DTYPE_INT32));
  return same_dtype(a.dist2, a.xyz);
}

Status check_relations(const KnnArgs& a) {
  const auto& centres = a.new_xyz.desc->dims;
  MLUOPS_RETURN_IF_FINISHED(has_dim(a.new_xyz, 2, 3, "coordinates of a point"));
  MLUOPS_RETURN_IF_FINISHED(has_dim(a.xyz, 0, centres[0], "the batch"));
  MLUOPS_RETURN_IF_FINISHED(has_dim(a.xyz, 2, 3, "coordinates of a point"));
  MLUOPS_RETURN_IF_FINISHED(has_dim(a.idx, 0, centres[0], "the batch"));
  MLUOPS_RETURN_IF_FINISHED(has_dim(a.idx, 1, centres[1], "the centres of new_xyz"));
  MLUOPS_RETURN_IF_FINISHED(has_dim(a.idx, 2, a.k, "k"));
  return same_dims(a.dist2, a.idx);
}

}  // namespace

Status check_knn(const KnnArgs& a, mluopsKnnProblem& problem) {
  MLUOPS_RETURN_IF_FINISHED(not_null("handle", a.handle));
  MLUOPS_RETURN_IF_FINISHED(in_range("k", a.k, 1, std::numeric_limits<int>::max()));
  const auto all = {a.xyz, a.new_xyz, a.idx, a.dist2};
  MLUOPS_RETURN_IF_FINISHED(have_descs(all));
  for (const TensorArg& t : all) MLUOPS_RETURN_IF_FINISHED(has_rank(t, 3));
  MLUOPS_RETURN_IF_FINISHED(are_arrays(all));
  MLUOPS_RETURN_IF_FINISHED(check_types(a));
  MLUOPS_RETURN_IF_FINISHED(check_relations(a));
  MLUOPS_RETURN_IF_FINISHED(are_dense_and_countable(all, a.handle->contract));
  MLUOPS_RETURN_IF_FINISHED(is_indexable(a.xyz, 1));
  MLUOPS_RETURN_IF_FINISHED(not_empty(a.new_xyz));
  if (is_empty(a.xyz)) return Status::nothing_to_do();
  MLUOPS_RETURN_IF_FINISHED(have_data(all));
  MLUOPS_RETURN_IF_FINISHED(no_overlap({a.xyz, a.new_xyz}, {a.idx, a.dist2}));
  const auto& centres = a.new_xyz.desc->dims;
  problem = {{a.xyz.desc->dtype, centres[0], a.xyz.desc->dims[1], centres[1], a.k},
             a.xyz.data,
             a.new_xyz.data,
             int32_data(a.idx),
             const_cast<void*>(a.dist2.data)};
  return Status::go_on();
}

std::string case_keys(const mluopsKnnProblem& p) {
  const mluopsKnnShape& s = p.shape;
  return CaseKeys()("b", s.b)("n", s.n)("m", s.m)("k", s.k).text();
}

}  // namespace mluops::op
