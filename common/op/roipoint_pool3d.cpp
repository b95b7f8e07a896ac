#include "common/op/roipoint_pool3d.h"

#include "common/case_text.h"
#include "common/shape.h"

namespace mluops::op {
namespace {

Status check_ranks(const RoiPointPool3dArgs& a) {
  MLUOPS_RETURN_IF_FINISHED(has_rank(a.points, 3));
  MLUOPS_RETURN_IF_FINISHED(has_rank(a.point_features, 3));
  MLUOPS_RETURN_IF_FINISHED(has_rank(a.boxes3d, 3));
  MLUOPS_RETURN_IF_FINISHED(has_rank(a.pooled_features, 4));
  return has_rank(a.pooled_empty_flag, 2);
}

Status check_types(const RoiPointPool3dArgs& a) {
  MLUOPS_RETURN_IF_FINISHED(has_float_dtype(a.points, a.handle->contract));
  MLUOPS_RETURN_IF_FINISHED(has_dtype(a.pooled_empty_flag, MLUOP_DTYPE_INT32));
  MLUOPS_RETURN_IF_FINISHED(same_dtype(a.point_features, a.points));
  MLUOPS_RETURN_IF_FINISHED(same_dtype(a.boxes3d, a.points));
  return same_dtype(a.pooled_features, a.points);
}

Status check_dims(const RoiPointPool3dArgs& a) {
  MLUOPS_RETURN_IF_FINISHED(has_dim(a.points, 0, a.batch_size, "batch_size"));
  MLUOPS_RETURN_IF_FINISHED(has_dim(a.points, 1, a.pts_num, "pts_num"));
  MLUOPS_RETURN_IF_FINISHED(has_dim(a.points, 2, 3, "coordinates of a point"));
  MLUOPS_RETURN_IF_FINISHED(has_dim(a.point_features, 0, a.batch_size, "batch_size"));
  MLUOPS_RETURN_IF_FINISHED(has_dim(a.point_features, 1, a.pts_num, "pts_num"));
  MLUOPS_RETURN_IF_FINISHED(has_dim(a.point_features, 2, a.feature_in_len, "feature_in_len"));
  MLUOPS_RETURN_IF_FINISHED(has_dim(a.boxes3d, 0, a.batch_size, "batch_size"));
  MLUOPS_RETURN_IF_FINISHED(has_dim(a.boxes3d, 1, a.boxes_num, "boxes_num"));
  MLUOPS_RETURN_IF_FINISHED(has_dim(a.boxes3d, 2, 7, "numbers of a box"));
  MLUOPS_RETURN_IF_FINISHED(has_dim(a.pooled_features, 0, a.batch_size, "batch_size"));
  MLUOPS_RETURN_IF_FINISHED(has_dim(a.pooled_features, 1, a.boxes_num, "boxes_num"));
  MLUOPS_RETURN_IF_FINISHED(has_dim(a.pooled_features, 2, a.sampled_pts_num, "sampled_pts_num"));
  MLUOPS_RETURN_IF_FINISHED(
      has_dim(a.pooled_features, 3, std::int64_t{a.feature_in_len} + 3, "coordinates and features"));
  MLUOPS_RETURN_IF_FINISHED(has_dim(a.pooled_empty_flag, 0, a.batch_size, "batch_size"));
  return has_dim(a.pooled_empty_flag, 1, a.boxes_num, "boxes_num");
}

Status check_form(const RoiPointPool3dArgs& a) {
  MLUOPS_RETURN_IF_FINISHED(not_null("handle", a.handle));
  const auto all = {a.points, a.point_features, a.boxes3d, a.pooled_features, a.pooled_empty_flag};
  MLUOPS_RETURN_IF_FINISHED(have_descs(all));
  MLUOPS_RETURN_IF_FINISHED(check_ranks(a));
  MLUOPS_RETURN_IF_FINISHED(check_dims(a));
  for (const TensorArg& t : all) MLUOPS_RETURN_IF_FINISHED(is_dense(t, MLUOP_STATUS_NOT_SUPPORTED));
  MLUOPS_RETURN_IF_FINISHED(check_types(a));
  MLUOPS_RETURN_IF_FINISHED(all_countable(all, a.handle->contract));
  for (const TensorArg& t : all) MLUOPS_RETURN_IF_FINISHED(not_empty(t));
  return Status::go_on();
}

}  // namespace

Status check_roipoint_pool3d(const RoiPointPool3dArgs& a, mluopsRoiPointPool3dProblem& problem) {
  MLUOPS_RETURN_IF_FINISHED(check_form(a));
  if (a.workspace_size > 0) MLUOPS_RETURN_IF_FINISHED(not_null("workspace", a.workspace));
  MLUOPS_RETURN_IF_FINISHED(have_data({a.points, a.point_features, a.boxes3d, a.pooled_features, a.pooled_empty_flag}));
  MLUOPS_RETURN_IF_FINISHED(
      no_overlap({a.points, a.point_features, a.boxes3d}, {a.pooled_features, a.pooled_empty_flag}));
  problem = {{a.points.desc->dtype, a.batch_size, a.pts_num, a.boxes_num, a.feature_in_len, a.sampled_pts_num},
             a.points.data,
             a.point_features.data,
             a.boxes3d.data,
             const_cast<void*>(a.pooled_features.data),
             int32_data(a.pooled_empty_flag)};
  return Status::go_on();
}

Status check_roipoint_pool3d_workspace(const RoiPointPool3dArgs& a, std::size_t* size) {
  MLUOPS_RETURN_IF_FINISHED(not_null("size", size));
  MLUOPS_RETURN_IF_FINISHED(check_form(a));
  const std::int64_t bytes = element_bytes(a.points);
  return tell_workspace({{a.points.desc->elements, bytes}, {a.point_features.desc->elements, bytes}}, size);
}

std::string case_keys(const mluopsRoiPointPool3dProblem& p) {
  const mluopsRoiPointPool3dShape& s = p.shape;
  return CaseKeys()("b", s.b)("n", s.n)("m", s.m)("c", s.c)("s", s.samples).text();
}

}  // namespace mluops::op
