#include "common/op/roiaware_pool3d.h"

#include <limits>

#include "common/case_text.h"
#include "common/shape.h"

namespace mluops::op {
namespace {

constexpr int kMostInt = std::numeric_limits<int>::max();

Status check_sizes(const RoiAwarePool3dSizes& s) {
  MLUOPS_RETURN_IF_FINISHED(in_range("pool_method", s.pool_method, 0, 1));
  MLUOPS_RETURN_IF_FINISHED(in_range("max_pts_each_voxel", s.max_pts_each_voxel, 1, kMostInt));
  MLUOPS_RETURN_IF_FINISHED(in_range("out_x", s.out_x, 1, 256));
  MLUOPS_RETURN_IF_FINISHED(in_range("out_y", s.out_y, 1, 256));
  return in_range("out_z", s.out_z, 1, 256);
}

/// [boxes_num, out_x, out_y, out_z, last]
Status has_voxels(const TensorArg& t, const RoiAwarePool3dSizes& s, int last, const char* meaning) {
  MLUOPS_RETURN_IF_FINISHED(has_rank(t, 5));
  MLUOPS_RETURN_IF_FINISHED(has_dim(t, 0, s.boxes_num, "boxes_num"));
  MLUOPS_RETURN_IF_FINISHED(has_dim(t, 1, s.out_x, "out_x"));
  MLUOPS_RETURN_IF_FINISHED(has_dim(t, 2, s.out_y, "out_y"));
  MLUOPS_RETURN_IF_FINISHED(has_dim(t, 3, s.out_z, "out_z"));
  return has_dim(t, 4, last, meaning);
}

Status has_rows(const TensorArg& t, std::int64_t rows, const char* rows_meaning, std::int64_t columns,
                const char* columns_meaning) {
  MLUOPS_RETURN_IF_FINISHED(has_rank(t, 2));
  MLUOPS_RETURN_IF_FINISHED(has_dim(t, 0, rows, rows_meaning));
  return has_dim(t, 1, columns, columns_meaning);
}

mluopsRoiAwarePool3dShape shape_of(const RoiAwarePool3dSizes& s, mluOpDataType_t dtype, std::int64_t points) {
  return {dtype, s.boxes_num, points, s.channels, s.max_pts_each_voxel, s.out_x, s.out_y, s.out_z, s.pool_method};
}

Status check_forward_tensors(const RoiAwarePool3dForwardArgs& a) {
  const RoiAwarePool3dSizes& s = a.sizes;
  MLUOPS_RETURN_IF_FINISHED(has_rows(a.rois, s.boxes_num, "boxes_num", 7, "numbers of a box"));
  MLUOPS_RETURN_IF_FINISHED(has_rows(a.pts, a.pts_num, "pts_num", 3, "coordinates of a point"));
  MLUOPS_RETURN_IF_FINISHED(has_rows(a.pts_feature, a.pts_num, "pts_num", s.channels, "channels"));
  MLUOPS_RETURN_IF_FINISHED(has_voxels(a.argmax, s, s.channels, "channels"));
  MLUOPS_RETURN_IF_FINISHED(has_voxels(a.pts_idx_of_voxels, s, s.max_pts_each_voxel, "max_pts_each_voxel"));
  MLUOPS_RETURN_IF_FINISHED(has_voxels(a.pooled_features, s, s.channels, "channels"));
  MLUOPS_RETURN_IF_FINISHED(has_float_dtype(a.rois, a.handle->contract));
  for (const TensorArg& t : {a.pts, a.pts_feature, a.pooled_features}) {
    MLUOPS_RETURN_IF_FINISHED(same_dtype(t, a.rois));
  }
  MLUOPS_RETURN_IF_FINISHED(has_dtype(a.argmax, MLUOP_DTYPE_INT32));
  return has_dtype(a.pts_idx_of_voxels, MLUOP_DTYPE_INT32);
}

}  // namespace

Status check_roiaware_pool3d_forward(const RoiAwarePool3dForwardArgs& a, mluopsRoiAwarePool3dForwardProblem& problem) {
  MLUOPS_RETURN_IF_FINISHED(not_null("handle", a.handle));
  const auto all = {a.rois, a.pts, a.pts_feature, a.argmax, a.pts_idx_of_voxels, a.pooled_features};
  MLUOPS_RETURN_IF_FINISHED(have_descs(all));
  MLUOPS_RETURN_IF_FINISHED(check_sizes(a.sizes));
  MLUOPS_RETURN_IF_FINISHED(check_forward_tensors(a));
  MLUOPS_RETURN_IF_FINISHED(have_dense_data(all, a.handle->contract));
  if (a.workspace_size > 0) MLUOPS_RETURN_IF_FINISHED(not_null("workspace", a.workspace));
  MLUOPS_RETURN_IF_FINISHED(
      no_overlap({a.rois, a.pts, a.pts_feature}, {a.argmax, a.pts_idx_of_voxels, a.pooled_features}));
  problem = {shape_of(a.sizes, a.rois.desc->dtype, a.pts_num),
             a.rois.data,
             a.pts.data,
             a.pts_feature.data,
             int32_data(a.argmax),
             int32_data(a.pts_idx_of_voxels),
             const_cast<void*>(a.pooled_features.data)};
  return Status::go_on();
}

Status check_roiaware_pool3d_backward(const RoiAwarePool3dBackwardArgs& a,
                                      mluopsRoiAwarePool3dBackwardProblem& problem) {
  MLUOPS_RETURN_IF_FINISHED(not_null("handle", a.handle));
  const auto all = {a.pts_idx_of_voxels, a.argmax, a.grad_out, a.grad_in};
  MLUOPS_RETURN_IF_FINISHED(have_descs(all));
  const RoiAwarePool3dSizes& s = a.sizes;
  MLUOPS_RETURN_IF_FINISHED(check_sizes(s));
  MLUOPS_RETURN_IF_FINISHED(has_voxels(a.pts_idx_of_voxels, s, s.max_pts_each_voxel, "max_pts_each_voxel"));
  MLUOPS_RETURN_IF_FINISHED(has_voxels(a.argmax, s, s.channels, "channels"));
  MLUOPS_RETURN_IF_FINISHED(has_voxels(a.grad_out, s, s.channels, "channels"));
  MLUOPS_RETURN_IF_FINISHED(has_rank(a.grad_in, 2));
  MLUOPS_RETURN_IF_FINISHED(has_dim(a.grad_in, 1, s.channels, "channels"));
  MLUOPS_RETURN_IF_FINISHED(has_float_dtype(a.grad_out, a.handle->contract));
  MLUOPS_RETURN_IF_FINISHED(same_dtype(a.grad_in, a.grad_out));
  MLUOPS_RETURN_IF_FINISHED(has_dtype(a.pts_idx_of_voxels, MLUOP_DTYPE_INT32));
  MLUOPS_RETURN_IF_FINISHED(has_dtype(a.argmax, MLUOP_DTYPE_INT32));
  MLUOPS_RETURN_IF_FINISHED(have_dense_data(all, a.handle->contract));
  MLUOPS_RETURN_IF_FINISHED(no_overlap({a.pts_idx_of_voxels, a.argmax, a.grad_out}, {a.grad_in}));
  problem = {shape_of(s, a.grad_out.desc->dtype, a.grad_in.desc->dims[0]), int32_data(a.pts_idx_of_voxels),
             int32_data(a.argmax), a.grad_out.data, const_cast<void*>(a.grad_in.data)};
  return Status::go_on();
}

Status check_roiaware_pool3d_workspace(mluOpHandle_t handle, const TensorArg& rois, const TensorArg& pts,
                                       const TensorArg& pts_feature, std::size_t* workspace_size) {
  MLUOPS_RETURN_IF_FINISHED(not_null("handle", handle));
  MLUOPS_RETURN_IF_FINISHED(have_descs({rois, pts, pts_feature}));
  MLUOPS_RETURN_IF_FINISHED(not_null("workspace_size", workspace_size));
  for (const TensorArg& t : {rois, pts, pts_feature}) {
    MLUOPS_RETURN_IF_FINISHED(has_rank(t, 2));
    MLUOPS_RETURN_IF_FINISHED(is_countable(t, handle->contract));
  }
  return tell_workspace({{rois.desc->dims[0], pts.desc->dims[0], sizeof(std::int32_t)},
                         {pts.desc->elements, element_bytes(pts)},
                         {pts_feature.desc->elements, element_bytes(pts)}},
                        workspace_size);
}

namespace {

std::string keys_of(const mluopsRoiAwarePool3dShape& s) {
  return CaseKeys()("n", s.n)("p", s.points)("c", s.c)("x", s.x)("y", s.y)("z", s.z)("s", s.most)("mean", s.mean)
      .text();
}

}  // namespace

std::string case_keys(const mluopsRoiAwarePool3dForwardProblem& p) {
  return keys_of(p.shape);
}
std::string case_keys(const mluopsRoiAwarePool3dBackwardProblem& p) {
  return keys_of(p.shape);
}

}  // namespace mluops::op
