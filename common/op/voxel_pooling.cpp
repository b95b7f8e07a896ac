#include "common/op/voxel_pooling.h"

#include "common/case_text.h"

namespace mluops::op {
namespace {

Status check_numbers(const VoxelPoolingArgs& a) {
  MLUOPS_RETURN_IF_FINISHED(at_least("batch_size", a.batch_size, 1));
  MLUOPS_RETURN_IF_FINISHED(at_least("num_points", a.num_points, 1));
  MLUOPS_RETURN_IF_FINISHED(at_least("num_channels", a.num_channels, 1));
  MLUOPS_RETURN_IF_FINISHED(at_least("num_voxel_x", a.num_voxel_x, 1));
  MLUOPS_RETURN_IF_FINISHED(at_least("num_voxel_y", a.num_voxel_y, 1));
  return at_least("num_voxel_z", a.num_voxel_z, 1);
}

Status check_shapes(const VoxelPoolingArgs& a) {
  for (const TensorArg& t : {a.geom_xyz, a.input_features, a.pos_memo}) {
    MLUOPS_RETURN_IF_FINISHED(has_rank(t, 3));
    MLUOPS_RETURN_IF_FINISHED(has_dim(t, 0, a.batch_size, "batch_size"));
    MLUOPS_RETURN_IF_FINISHED(has_dim(t, 1, a.num_points, "num_points"));
  }
  MLUOPS_RETURN_IF_FINISHED(has_dim(a.geom_xyz, 2, 3, "x, y, z"));
  MLUOPS_RETURN_IF_FINISHED(has_dim(a.input_features, 2, a.num_channels, "num_channels"));
  MLUOPS_RETURN_IF_FINISHED(has_dim(a.pos_memo, 2, 3, "image, y, x"));
  MLUOPS_RETURN_IF_FINISHED(has_rank(a.output_features, 4));
  MLUOPS_RETURN_IF_FINISHED(has_dim(a.output_features, 0, a.batch_size, "batch_size"));
  MLUOPS_RETURN_IF_FINISHED(has_dim(a.output_features, 1, a.num_voxel_y, "num_voxel_y"));
  MLUOPS_RETURN_IF_FINISHED(has_dim(a.output_features, 2, a.num_voxel_x, "num_voxel_x"));
  return has_dim(a.output_features, 3, a.num_channels, "num_channels");
}

}  // namespace

Status check_voxel_pooling_forward(const VoxelPoolingArgs& a, mluopsVoxelPoolingForwardProblem& problem) {
  const auto all = {a.geom_xyz, a.input_features, a.output_features, a.pos_memo};
  MLUOPS_RETURN_IF_FINISHED(not_null("handle", a.handle));
  MLUOPS_RETURN_IF_FINISHED(have_descs(all));
  MLUOPS_RETURN_IF_FINISHED(check_numbers(a));
  MLUOPS_RETURN_IF_FINISHED(check_shapes(a));
  for (const TensorArg& t : {a.geom_xyz, a.pos_memo}) MLUOPS_RETURN_IF_FINISHED(has_dtype(t, MLUOP_DTYPE_INT32));
  MLUOPS_RETURN_IF_FINISHED(is_float(a.input_features, a.handle->contract));
  MLUOPS_RETURN_IF_FINISHED(same_dtype(a.output_features, a.input_features));
  MLUOPS_RETURN_IF_FINISHED(are_arrays(all));
  MLUOPS_RETURN_IF_FINISHED(have_dense_data(all, a.handle->contract));
  MLUOPS_RETURN_IF_FINISHED(no_overlap({a.geom_xyz, a.input_features}, {a.output_features, a.pos_memo}));
  problem = {{a.input_features.desc->dtype, a.batch_size, a.num_points, a.num_channels, a.num_voxel_x, a.num_voxel_y,
              a.num_voxel_z},
             static_cast<const std::int32_t*>(a.geom_xyz.data),
             a.input_features.data,
             const_cast<void*>(a.output_features.data),
             int32_data(a.pos_memo)};
  return Status::go_on();
}

std::string case_keys(const mluopsVoxelPoolingForwardProblem& p) {
  const mluopsVoxelPoolingShape& s = p.shape;
  return CaseKeys()("b", s.batch)("n", s.points)("c", s.c)("x", s.x)("y", s.y)("z", s.z).text();
}

}  // namespace mluops::op
