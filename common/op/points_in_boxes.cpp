#include "common/op/points_in_boxes.h"

#include "common/case_text.h"

namespace mluops::op {
namespace {

Status check_types(const PointsInBoxesArgs& a) {
  MLUOPS_RETURN_IF_FINISHED(is_float(a.points, a.handle->contract));
  MLUOPS_RETURN_IF_FINISHED(same_dtype(a.boxes, a.points));
  return has_dtype(a.result, MLUOP_DTYPE_INT32);
}

Status check_relations(const PointsInBoxesArgs& a, int result_rank) {
  const auto& points = a.points.desc->dims;
  MLUOPS_RETURN_IF_FINISHED(has_dim(a.points, 2, 3, "coordinates of a point"));
  MLUOPS_RETURN_IF_FINISHED(has_dim(a.boxes, 0, points[0], "the batch"));
  MLUOPS_RETURN_IF_FINISHED(has_dim(a.boxes, 2, 7, "numbers of a box"));
  MLUOPS_RETURN_IF_FINISHED(has_dim(a.result, 0, points[0], "the batch"));
  MLUOPS_RETURN_IF_FINISHED(has_dim(a.result, 1, points[1], "the points"));
  return result_rank == 2 ? Status::go_on() : has_dim(a.result, 2, a.boxes.desc->dims[1], "the boxes");
}

Status check_form(const PointsInBoxesArgs& a, int result_rank) {
  MLUOPS_RETURN_IF_FINISHED(not_null("handle", a.handle));
  const auto all = {a.points, a.boxes, a.result};
  MLUOPS_RETURN_IF_FINISHED(have_descs(all));
  MLUOPS_RETURN_IF_FINISHED(has_rank(a.points, 3));
  MLUOPS_RETURN_IF_FINISHED(has_rank(a.boxes, 3));
  MLUOPS_RETURN_IF_FINISHED(has_rank(a.result, result_rank));
  MLUOPS_RETURN_IF_FINISHED(are_arrays(all));
  MLUOPS_RETURN_IF_FINISHED(check_types(a));
  MLUOPS_RETURN_IF_FINISHED(check_relations(a, result_rank));
  MLUOPS_RETURN_IF_FINISHED(are_dense_and_countable(all, a.handle->contract));
  MLUOPS_RETURN_IF_FINISHED(is_indexable(a.boxes, 1));
  for (const TensorArg& t : all) {
    if (is_empty(t)) return Status::nothing_to_do();
  }
  MLUOPS_RETURN_IF_FINISHED(have_data(all));
  return no_overlap({a.points, a.boxes}, {a.result});
}

mluopsPointsInBoxesShape shape_of(const PointsInBoxesArgs& a) {
  const auto& points = a.points.desc->dims;
  return {a.points.desc->dtype, points[0], points[1], a.boxes.desc->dims[1], a.centred ? 1 : 0};
}

}  // namespace

Status check_points_in_boxes_part(const PointsInBoxesArgs& a, mluopsPointsInBoxesPartProblem& problem) {
  MLUOPS_RETURN_IF_FINISHED(check_form(a, 2));
  problem = {shape_of(a), a.points.data, a.boxes.data, int32_data(a.result)};
  return Status::go_on();
}

Status check_points_in_boxes_all(const PointsInBoxesArgs& a, mluopsPointsInBoxesAllProblem& problem) {
  MLUOPS_RETURN_IF_FINISHED(check_form(a, 3));
  problem = {shape_of(a), a.points.data, a.boxes.data, int32_data(a.result)};
  return Status::go_on();
}

std::string case_keys(const mluopsPointsInBoxesPartProblem& p) {
  const mluopsPointsInBoxesShape& s = p.shape;
  return CaseKeys()("b", s.b)("m", s.m)("n", s.n)("z", s.centred != 0 ? "centre" : "bottom").text();
}
std::string case_keys(const mluopsPointsInBoxesAllProblem& p) {
  return CaseKeys()("b", p.shape.b)("m", p.shape.m)("n", p.shape.n).text();
}

}  // namespace mluops::op
