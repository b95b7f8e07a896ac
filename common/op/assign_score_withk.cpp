#include "common/op/assign_score_withk.h"

#include "common/case_text.h"

namespace mluops::op {
namespace {

/// What both directions share; `output` is grad_output in the backward one.
struct Common {
  TensorArg points, centers, scores, knn_idx, output;
};

Status check_common(const Common& c, mluOpExtContract_t contract) {
  for (const TensorArg& t : {c.points, c.centers, c.scores, c.output}) MLUOPS_RETURN_IF_FINISHED(has_rank(t, 4));
  MLUOPS_RETURN_IF_FINISHED(has_rank(c.knn_idx, 3));
  MLUOPS_RETURN_IF_FINISHED(has_float_dtype(c.points, contract));
  for (const TensorArg& t : {c.centers, c.scores, c.output}) MLUOPS_RETURN_IF_FINISHED(same_dtype(t, c.points));
  MLUOPS_RETURN_IF_FINISHED(has_dtype(c.knn_idx, MLUOP_DTYPE_INT32));
  const auto &points = c.points.desc->dims, &neighbours = c.knn_idx.desc->dims;
  MLUOPS_RETURN_IF_FINISHED(same_dims(c.centers, c.points));
  MLUOPS_RETURN_IF_FINISHED(has_dim(c.knn_idx, 0, points[0], "the batch"));
  MLUOPS_RETURN_IF_FINISHED(has_dim(c.scores, 0, points[0], "the batch"));
  MLUOPS_RETURN_IF_FINISHED(has_dim(c.scores, 1, neighbours[1], "the centres of knn_idx"));
  MLUOPS_RETURN_IF_FINISHED(has_dim(c.scores, 2, neighbours[2], "the neighbours of knn_idx"));
  MLUOPS_RETURN_IF_FINISHED(has_dim(c.scores, 3, points[2], "the matrices of points"));
  MLUOPS_RETURN_IF_FINISHED(has_dim(c.output, 0, points[0], "the batch"));
  MLUOPS_RETURN_IF_FINISHED(has_dim(c.output, 1, points[3], "the channels of points"));
  MLUOPS_RETURN_IF_FINISHED(has_dim(c.output, 2, neighbours[1], "the centres of knn_idx"));
  return has_dim(c.output, 3, neighbours[2], "the neighbours of knn_idx");
}

mluopsAssignScoreWithkShape shape_of(const Common& c) {
  const auto &points = c.points.desc->dims, &neighbours = c.knn_idx.desc->dims;
  return {c.points.desc->dtype, points[0], points[1], points[2], points[3], neighbours[1], neighbours[2]};
}

}  // namespace

Status check_assign_score_withk_forward(const AssignScoreWithkForwardArgs& a,
                                        mluopsAssignScoreWithkForwardProblem& problem) {
  MLUOPS_RETURN_IF_FINISHED(not_null("handle", a.handle));
  const auto all = {a.points, a.centers, a.scores, a.knn_idx, a.output};
  MLUOPS_RETURN_IF_FINISHED(have_descs(all));
  const Common common = {a.points, a.centers, a.scores, a.knn_idx, a.output};
  MLUOPS_RETURN_IF_FINISHED(check_common(common, a.handle->contract));
  MLUOPS_RETURN_IF_FINISHED(are_arrays(all));
  MLUOPS_RETURN_IF_FINISHED(have_dense_data(all, a.handle->contract));
  MLUOPS_RETURN_IF_FINISHED(no_overlap({a.points, a.centers, a.scores, a.knn_idx}, {a.output}));
  problem = {shape_of(common),
             a.points.data,
             a.centers.data,
             a.scores.data,
             static_cast<const std::int32_t*>(a.knn_idx.data),
             const_cast<void*>(a.output.data)};
  return Status::go_on();
}

Status check_assign_score_withk_backward(const AssignScoreWithkBackwardArgs& a,
                                         mluopsAssignScoreWithkBackwardProblem& problem) {
  MLUOPS_RETURN_IF_FINISHED(not_null("handle", a.handle));
  const auto all = {a.grad_output, a.points,      a.centers,      a.scores,
                    a.knn_idx,     a.grad_points, a.grad_centers, a.grad_scores};
  MLUOPS_RETURN_IF_FINISHED(have_descs(all));
  const Common common = {a.points, a.centers, a.scores, a.knn_idx, a.grad_output};
  MLUOPS_RETURN_IF_FINISHED(check_common(common, a.handle->contract));
  for (const TensorArg& t : {a.grad_points, a.grad_centers, a.grad_scores}) {
    MLUOPS_RETURN_IF_FINISHED(same_dtype(t, a.points));
  }
  MLUOPS_RETURN_IF_FINISHED(same_dims(a.grad_points, a.points));
  MLUOPS_RETURN_IF_FINISHED(same_dims(a.grad_centers, a.points));
  MLUOPS_RETURN_IF_FINISHED(same_dims(a.grad_scores, a.scores));
  MLUOPS_RETURN_IF_FINISHED(are_arrays(all));
  MLUOPS_RETURN_IF_FINISHED(have_dense_data(all, a.handle->contract));
  MLUOPS_RETURN_IF_FINISHED(no_overlap({a.grad_output, a.points, a.centers, a.scores, a.knn_idx},
                                       {a.grad_points, a.grad_centers, a.grad_scores}));
  problem = {shape_of(common),
             a.grad_output.data,
             a.points.data,
             a.centers.data,
             a.scores.data,
             static_cast<const std::int32_t*>(a.knn_idx.data),
             const_cast<void*>(a.grad_points.data),
             const_cast<void*>(a.grad_centers.data),
             const_cast<void*>(a.grad_scores.data)};
  return Status::go_on();
}

namespace {

std::string keys_of(const mluopsAssignScoreWithkShape& s) {
  return CaseKeys()("b", s.b)("n", s.n)("m", s.m)("o", s.o)("p", s.p)("k", s.k).text();
}

}  // namespace

std::string case_keys(const mluopsAssignScoreWithkForwardProblem& p) {
  return keys_of(p.shape);
}
std::string case_keys(const mluopsAssignScoreWithkBackwardProblem& p) {
  return keys_of(p.shape);
}

}  // namespace mluops::op
