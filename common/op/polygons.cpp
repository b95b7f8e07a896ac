#include "common/op/polygons.h"

#include "common/case_text.h"

namespace mluops::op {
namespace {

Status has_numbers(const TensorArg& t, std::int64_t numbers, const char* meaning) {
  MLUOPS_RETURN_IF_FINISHED(has_rank(t, 2));
  return has_dim(t, 1, numbers, meaning);
}

Status is_pointsets(const TensorArg& t) {
  return has_numbers(t, 18, "x and y of nine points");
}

Status is_quadrilaterals(const TensorArg& t) {
  return has_numbers(t, 8, "x and y of four corners");
}

/// t [rows of `of`, columns of `by`].
Status is_table(const TensorArg& t, const TensorArg& of, const TensorArg& by) {
  MLUOPS_RETURN_IF_FINISHED(has_rank(t, 2));
  MLUOPS_RETURN_IF_FINISHED(has_dim(t, 0, of.desc->dims[0], of.name));
  return has_dim(t, 1, by.desc->dims[0], by.name);
}

/// What is left to check of tensors whose shapes are right and of which the first decides the dtype.
Status check_data(mluOpHandle_t handle, std::initializer_list<TensorArg> inputs,
                  std::initializer_list<TensorArg> outputs) {
  MLUOPS_RETURN_IF_FINISHED(are_arrays(inputs));
  MLUOPS_RETURN_IF_FINISHED(are_arrays(outputs));
  MLUOPS_RETURN_IF_FINISHED(are_dense_and_countable(inputs, handle->contract));
  MLUOPS_RETURN_IF_FINISHED(are_dense_and_countable(outputs, handle->contract));
  if (any_empty(outputs)) return Status::nothing_to_do();
  MLUOPS_RETURN_IF_FINISHED(have_data(inputs));
  MLUOPS_RETURN_IF_FINISHED(have_data(outputs));
  return no_overlap(inputs, outputs);
}

}  // namespace

Status check_convex_iou(const ConvexIouArgs& a, mluopsConvexIouProblem& problem) {
  MLUOPS_RETURN_IF_FINISHED(not_null("handle", a.handle));
  MLUOPS_RETURN_IF_FINISHED(have_descs({a.pointsets, a.polygons, a.ious}));
  MLUOPS_RETURN_IF_FINISHED(is_pointsets(a.pointsets));
  MLUOPS_RETURN_IF_FINISHED(is_quadrilaterals(a.polygons));
  MLUOPS_RETURN_IF_FINISHED(is_table(a.ious, a.pointsets, a.polygons));
  MLUOPS_RETURN_IF_FINISHED(is_float(a.pointsets, a.handle->contract));
  MLUOPS_RETURN_IF_FINISHED(same_dtype(a.polygons, a.pointsets));
  MLUOPS_RETURN_IF_FINISHED(same_dtype(a.ious, a.pointsets));
  MLUOPS_RETURN_IF_FINISHED(check_data(a.handle, {a.pointsets, a.polygons}, {a.ious}));
  problem = {{a.pointsets.desc->dtype, a.pointsets.desc->dims[0], a.polygons.desc->dims[0]},
             a.pointsets.data,
             a.polygons.data,
             const_cast<void*>(a.ious.data)};
  return Status::go_on();
}

Status check_convex_giou(const ConvexGiouArgs& a, mluopsConvexGiouProblem& problem) {
  MLUOPS_RETURN_IF_FINISHED(not_null("handle", a.handle));
  MLUOPS_RETURN_IF_FINISHED(have_descs({a.pointsets, a.polygons, a.giou, a.grad_pointsets}));
  MLUOPS_RETURN_IF_FINISHED(is_pointsets(a.pointsets));
  MLUOPS_RETURN_IF_FINISHED(is_quadrilaterals(a.polygons));
  const std::int64_t n = a.pointsets.desc->dims[0];
  MLUOPS_RETURN_IF_FINISHED(has_dim(a.polygons, 0, n, "pointsets"));
  MLUOPS_RETURN_IF_FINISHED(has_rank(a.giou, 1));
  MLUOPS_RETURN_IF_FINISHED(has_dim(a.giou, 0, n, "pointsets"));
  MLUOPS_RETURN_IF_FINISHED(same_dims(a.grad_pointsets, a.pointsets));
  MLUOPS_RETURN_IF_FINISHED(is_float(a.pointsets, a.handle->contract));
  for (const TensorArg& t : {a.polygons, a.giou, a.grad_pointsets}) {
    MLUOPS_RETURN_IF_FINISHED(same_dtype(t, a.pointsets));
  }
  MLUOPS_RETURN_IF_FINISHED(check_data(a.handle, {a.pointsets, a.polygons}, {a.giou, a.grad_pointsets}));
  problem = {{a.pointsets.desc->dtype, n},
             a.pointsets.data,
             a.polygons.data,
             const_cast<void*>(a.giou.data),
             const_cast<void*>(a.grad_pointsets.data)};
  return Status::go_on();
}

Status check_min_area_polygons(const MinAreaPolygonsArgs& a, mluopsMinAreaPolygonsProblem& problem) {
  MLUOPS_RETURN_IF_FINISHED(not_null("handle", a.handle));
  MLUOPS_RETURN_IF_FINISHED(have_descs({a.pointsets, a.polygons}));
  MLUOPS_RETURN_IF_FINISHED(is_pointsets(a.pointsets));
  MLUOPS_RETURN_IF_FINISHED(is_quadrilaterals(a.polygons));
  MLUOPS_RETURN_IF_FINISHED(has_dim(a.polygons, 0, a.pointsets.desc->dims[0], "pointsets"));
  MLUOPS_RETURN_IF_FINISHED(is_float(a.pointsets, a.handle->contract));
  MLUOPS_RETURN_IF_FINISHED(same_dtype(a.polygons, a.pointsets));
  MLUOPS_RETURN_IF_FINISHED(check_data(a.handle, {a.pointsets}, {a.polygons}));
  problem = {
      {a.pointsets.desc->dtype, a.pointsets.desc->dims[0]}, a.pointsets.data, const_cast<void*>(a.polygons.data)};
  return Status::go_on();
}

Status check_points_in_polygons(const PointsInPolygonsArgs& a, mluopsPointsInPolygonsProblem& problem) {
  MLUOPS_RETURN_IF_FINISHED(not_null("handle", a.handle));
  MLUOPS_RETURN_IF_FINISHED(have_descs({a.points, a.polygons, a.inside}));
  MLUOPS_RETURN_IF_FINISHED(has_numbers(a.points, 2, "x and y"));
  MLUOPS_RETURN_IF_FINISHED(is_quadrilaterals(a.polygons));
  MLUOPS_RETURN_IF_FINISHED(is_table(a.inside, a.points, a.polygons));
  MLUOPS_RETURN_IF_FINISHED(is_float(a.points, a.handle->contract));
  MLUOPS_RETURN_IF_FINISHED(same_dtype(a.polygons, a.points));
  MLUOPS_RETURN_IF_FINISHED(has_dtype(a.inside, MLUOP_DTYPE_FLOAT));
  MLUOPS_RETURN_IF_FINISHED(check_data(a.handle, {a.points, a.polygons}, {a.inside}));
  problem = {{a.points.desc->dtype, a.points.desc->dims[0], a.polygons.desc->dims[0]},
             a.points.data,
             a.polygons.data,
             static_cast<float*>(const_cast<void*>(a.inside.data))};
  return Status::go_on();
}

std::string case_keys(const mluopsConvexIouProblem& p) {
  return CaseKeys()("n", p.shape.n)("k", p.shape.k).text();
}
std::string case_keys(const mluopsConvexGiouProblem& p) {
  return CaseKeys()("n", p.shape.n).text();
}
std::string case_keys(const mluopsMinAreaPolygonsProblem& p) {
  return CaseKeys()("n", p.shape.n).text();
}
std::string case_keys(const mluopsPointsInPolygonsProblem& p) {
  return CaseKeys()("n", p.shape.n)("m", p.shape.m).text();
}

}  // namespace mluops::op
