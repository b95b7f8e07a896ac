#include "common/op/chamfer_distance.h"

#include "common/case_text.h"

namespace mluops::op {
namespace {

/// One of the two sets and what belongs to its points.
Status check_set(const TensorArg& xyz, const TensorArg& like, std::initializer_list<TensorArg> of_points,
                 std::initializer_list<TensorArg> indices, mluOpExtContract_t contract) {
  MLUOPS_RETURN_IF_FINISHED(has_rank(xyz, 3));
  MLUOPS_RETURN_IF_FINISHED(has_dim(xyz, 2, 2, "x, y"));
  MLUOPS_RETURN_IF_FINISHED(has_dim(xyz, 0, like.desc->dims[0], "the batch"));
  MLUOPS_RETURN_IF_FINISHED(has_float_dtype(xyz, contract));
  MLUOPS_RETURN_IF_FINISHED(same_dtype(xyz, like));
  const auto of_one_number = [&](const TensorArg& t) -> Status {
    MLUOPS_RETURN_IF_FINISHED(has_rank(t, 2));
    MLUOPS_RETURN_IF_FINISHED(has_dim(t, 0, xyz.desc->dims[0], "the batch"));
    return has_dim(t, 1, xyz.desc->dims[1], "the points");
  };
  for (const TensorArg& t : of_points) {
    MLUOPS_RETURN_IF_FINISHED(of_one_number(t));
    MLUOPS_RETURN_IF_FINISHED(same_dtype(t, like));
  }
  for (const TensorArg& t : indices) {
    MLUOPS_RETURN_IF_FINISHED(of_one_number(t));
    MLUOPS_RETURN_IF_FINISHED(has_dtype(t, MLUOP_DTYPE_INT32));
  }
  return Status::go_on();
}

Status are_indexable(const TensorArg& xyz1, const TensorArg& xyz2) {
  MLUOPS_RETURN_IF_FINISHED(is_indexable(xyz1, 1));
  return is_indexable(xyz2, 1);
}

mluopsChamferDistanceShape shape_of(const TensorArg& xyz1, const TensorArg& xyz2) {
  return {xyz1.desc->dtype, xyz1.desc->dims[0], xyz1.desc->dims[1], xyz2.desc->dims[1]};
}

}  // namespace

Status check_chamfer_distance_forward(const ChamferDistanceForwardArgs& a,
                                      mluopsChamferDistanceForwardProblem& problem) {
  MLUOPS_RETURN_IF_FINISHED(not_null("handle", a.handle));
  const auto all = {a.xyz1, a.xyz2, a.dist1, a.dist2, a.idx1, a.idx2};
  MLUOPS_RETURN_IF_FINISHED(have_descs(all));
  MLUOPS_RETURN_IF_FINISHED(check_set(a.xyz1, a.xyz1, {a.dist1}, {a.idx1}, a.handle->contract));
  MLUOPS_RETURN_IF_FINISHED(check_set(a.xyz2, a.xyz1, {a.dist2}, {a.idx2}, a.handle->contract));
  MLUOPS_RETURN_IF_FINISHED(are_arrays(all));
  MLUOPS_RETURN_IF_FINISHED(have_dense_data(all, a.handle->contract));
  MLUOPS_RETURN_IF_FINISHED(are_indexable(a.xyz1, a.xyz2));
  MLUOPS_RETURN_IF_FINISHED(no_overlap({a.xyz1, a.xyz2}, {a.dist1, a.dist2, a.idx1, a.idx2}));
  problem = {shape_of(a.xyz1, a.xyz2),        a.xyz1.data,        a.xyz2.data,       const_cast<void*>(a.dist1.data),
             const_cast<void*>(a.dist2.data), int32_data(a.idx1), int32_data(a.idx2)};
  return Status::go_on();
}

Status check_chamfer_distance_backward(const ChamferDistanceBackwardArgs& a,
                                       mluopsChamferDistanceBackwardProblem& problem) {
  MLUOPS_RETURN_IF_FINISHED(not_null("handle", a.handle));
  const auto all = {a.xyz1, a.xyz2, a.idx1, a.idx2, a.grad_dist1, a.grad_dist2, a.grad_xyz1, a.grad_xyz2};
  MLUOPS_RETURN_IF_FINISHED(have_descs(all));
  MLUOPS_RETURN_IF_FINISHED(check_set(a.xyz1, a.xyz1, {a.grad_dist1}, {a.idx1}, a.handle->contract));
  MLUOPS_RETURN_IF_FINISHED(check_set(a.xyz2, a.xyz1, {a.grad_dist2}, {a.idx2}, a.handle->contract));
  MLUOPS_RETURN_IF_FINISHED(same_dtype(a.grad_xyz1, a.xyz1));
  MLUOPS_RETURN_IF_FINISHED(same_dtype(a.grad_xyz2, a.xyz1));
  MLUOPS_RETURN_IF_FINISHED(same_dims(a.grad_xyz1, a.xyz1));
  MLUOPS_RETURN_IF_FINISHED(same_dims(a.grad_xyz2, a.xyz2));
  MLUOPS_RETURN_IF_FINISHED(are_arrays(all));
  MLUOPS_RETURN_IF_FINISHED(have_dense_data(all, a.handle->contract));
  MLUOPS_RETURN_IF_FINISHED(are_indexable(a.xyz1, a.xyz2));
  MLUOPS_RETURN_IF_FINISHED(
      no_overlap({a.xyz1, a.xyz2, a.idx1, a.idx2, a.grad_dist1, a.grad_dist2}, {a.grad_xyz1, a.grad_xyz2}));
  problem = {shape_of(a.xyz1, a.xyz2),
             a.xyz1.data,
             a.xyz2.data,
             int32_data(a.idx1),
             int32_data(a.idx2),
             a.grad_dist1.data,
             a.grad_dist2.data,
             const_cast<void*>(a.grad_xyz1.data),
             const_cast<void*>(a.grad_xyz2.data)};
  return Status::go_on();
}

namespace {

std::string keys_of(const mluopsChamferDistanceShape& s) {
  return CaseKeys()("b", s.b)("n", s.n)("m", s.m).text();
}

}  // namespace

std::string case_keys(const mluopsChamferDistanceForwardProblem& p) {
  return keys_of(p.shape);
}
std::string case_keys(const mluopsChamferDistanceBackwardProblem& p) {
  return keys_of(p.shape);
}

}  // namespace mluops::op
