#include "common/op/voxelization.h"

#include <limits>

#include "common/case_text.h"

namespace mluops::op {
namespace {

/// What hard and dynamic voxelization share: the points and the grid.
Status check_grid(const TensorArg& points, const TensorArg& voxel_size, const TensorArg& coors_range,
                  mluOpExtContract_t contract) {
  MLUOPS_RETURN_IF_FINISHED(has_rank(points, 2));
  MLUOPS_RETURN_IF_FINISHED(has_rank(voxel_size, 1));
  MLUOPS_RETURN_IF_FINISHED(has_dim(voxel_size, 0, 3, "x, y, z"));
  MLUOPS_RETURN_IF_FINISHED(has_rank(coors_range, 1));
  MLUOPS_RETURN_IF_FINISHED(has_dim(coors_range, 0, 6, "least and greatest x, y, z"));
  MLUOPS_RETURN_IF_FINISHED(is_float(points, contract));
  MLUOPS_RETURN_IF_FINISHED(same_dtype(voxel_size, points));
  MLUOPS_RETURN_IF_FINISHED(same_dtype(coors_range, points));
  MLUOPS_RETURN_IF_FINISHED(not_empty(points));
  return at_least("dimension 1 of points", points.desc->dims[1], 3);
}

Status check_outputs(const VoxelizationArgs& a) {
  MLUOPS_RETURN_IF_FINISHED(has_rank(a.voxels, 3));
  MLUOPS_RETURN_IF_FINISHED(has_dim(a.voxels, 0, a.max_voxels, "max_voxels"));
  MLUOPS_RETURN_IF_FINISHED(has_dim(a.voxels, 1, a.max_points, "max_points"));
  MLUOPS_RETURN_IF_FINISHED(has_dim(a.voxels, 2, a.points.desc->dims[1], "the features of points"));
  MLUOPS_RETURN_IF_FINISHED(same_dtype(a.voxels, a.points));
  MLUOPS_RETURN_IF_FINISHED(has_rank(a.coors, 2));
  MLUOPS_RETURN_IF_FINISHED(has_dim(a.coors, 0, a.max_voxels, "max_voxels"));
  MLUOPS_RETURN_IF_FINISHED(has_dim(a.coors, 1, 3, "coordinates of a voxel"));
  MLUOPS_RETURN_IF_FINISHED(has_rank(a.num_points_per_voxel, 1));
  MLUOPS_RETURN_IF_FINISHED(has_dim(a.num_points_per_voxel, 0, a.max_voxels, "max_voxels"));
  MLUOPS_RETURN_IF_FINISHED(has_rank(a.voxel_num, 1));
  MLUOPS_RETURN_IF_FINISHED(has_dim(a.voxel_num, 0, 1, "one number"));
  for (const TensorArg& t : {a.coors, a.num_points_per_voxel, a.voxel_num}) {
    MLUOPS_RETURN_IF_FINISHED(has_dtype(t, MLUOP_DTYPE_INT32));
  }
  return Status::go_on();
}

Status check_form(const VoxelizationArgs& a) {
  MLUOPS_RETURN_IF_FINISHED(not_null("handle", a.handle));
  const auto all = {a.points, a.voxel_size, a.coors_range, a.voxels, a.coors, a.num_points_per_voxel, a.voxel_num};
  MLUOPS_RETURN_IF_FINISHED(have_descs(all));
  if (!a.deterministic) return Status::bad_param("deterministic: wanted true, got false");
  MLUOPS_RETURN_IF_FINISHED(in_range("max_points", a.max_points, 0, std::numeric_limits<int>::max()));
  MLUOPS_RETURN_IF_FINISHED(in_range("max_voxels", a.max_voxels, 0, std::numeric_limits<int>::max()));
  MLUOPS_RETURN_IF_FINISHED(in_range("NDim", a.dimensions, 3, 3));
  MLUOPS_RETURN_IF_FINISHED(check_grid(a.points, a.voxel_size, a.coors_range, a.handle->contract));
  MLUOPS_RETURN_IF_FINISHED(check_outputs(a));
  MLUOPS_RETURN_IF_FINISHED(are_dense_and_countable(all, a.handle->contract));
  return is_indexable(a.points, 0);
}

}  // namespace

Status check_voxelization(const VoxelizationArgs& a, mluopsVoxelizationProblem& problem) {
  MLUOPS_RETURN_IF_FINISHED(check_form(a));
  if (a.workspace_size > 0) MLUOPS_RETURN_IF_FINISHED(not_null("workspace", a.workspace));
  if (a.max_points == 0 || a.max_voxels == 0) return Status::nothing_to_do();
  MLUOPS_RETURN_IF_FINISHED(
      have_data({a.points, a.voxel_size, a.coors_range, a.voxels, a.coors, a.num_points_per_voxel, a.voxel_num}));
  MLUOPS_RETURN_IF_FINISHED(
      no_overlap({a.points, a.voxel_size, a.coors_range}, {a.voxels, a.coors, a.num_points_per_voxel, a.voxel_num}));
  const auto& points = a.points.desc->dims;
  problem = {{a.points.desc->dtype, points[0], points[1], a.max_points, a.max_voxels},
             a.points.data,
             a.voxel_size.data,
             a.coors_range.data,
             const_cast<void*>(a.voxels.data),
             int32_data(a.coors),
             int32_data(a.num_points_per_voxel),
             int32_data(a.voxel_num)};
  return Status::go_on();
}

Status check_dynamic_voxelize(const DynamicVoxelizeArgs& a, mluopsDynamicVoxelizeProblem& problem) {
  MLUOPS_RETURN_IF_FINISHED(not_null("handle", a.handle));
  const auto all = {a.points, a.voxel_size, a.coors_range, a.coors};
  MLUOPS_RETURN_IF_FINISHED(have_descs(all));
  MLUOPS_RETURN_IF_FINISHED(check_grid(a.points, a.voxel_size, a.coors_range, a.handle->contract));
  const auto& points = a.points.desc->dims;
  MLUOPS_RETURN_IF_FINISHED(has_rank(a.coors, 2));
  MLUOPS_RETURN_IF_FINISHED(has_dim(a.coors, 0, points[0], "the points"));
  MLUOPS_RETURN_IF_FINISHED(has_dim(a.coors, 1, 3, "coordinates of a voxel"));
  MLUOPS_RETURN_IF_FINISHED(has_dtype(a.coors, MLUOP_DTYPE_INT32));
  MLUOPS_RETURN_IF_FINISHED(are_dense_and_countable(all, a.handle->contract));
  MLUOPS_RETURN_IF_FINISHED(have_data(all));
  MLUOPS_RETURN_IF_FINISHED(no_overlap({a.points, a.voxel_size, a.coors_range}, {a.coors}));
  problem = {{a.points.desc->dtype, points[0], points[1], 0, 0},
             a.points.data,
             a.voxel_size.data,
             a.coors_range.data,
             int32_data(a.coors)};
  return Status::go_on();
}

Status check_voxelization_workspace(const VoxelizationArgs& a, std::size_t* size) {
  MLUOPS_RETURN_IF_FINISHED(not_null("size", size));
  MLUOPS_RETURN_IF_FINISHED(check_form(a));
  if (a.max_points == 0 || a.max_voxels == 0) return Status::nothing_to_do();
  return tell_workspace({{a.points.desc->dims[0], 6, sizeof(std::int32_t)}}, size);
}

std::string case_keys(const mluopsVoxelizationProblem& p) {
  const mluopsVoxelizationShape& s = p.shape;
  return CaseKeys()("n", s.n)("f", s.features)("points", s.max_points)("voxels", s.max_voxels).text();
}
std::string case_keys(const mluopsDynamicVoxelizeProblem& p) {
  return CaseKeys()("n", p.shape.n)("f", p.shape.features).text();
}

}  // namespace mluops::op
