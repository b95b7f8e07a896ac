#include "common/op/dynamic_point_to_voxel.h"

#include <string>

#include "common/case_text.h"

namespace mluops::op {
namespace {

Status check_reduce(mluOpExtContract_t contract, mluOpReduceMode_t got, std::initializer_list<mluOpReduceMode_t> strict,
                    const char* text) {
  const bool known = got == MLUOP_REDUCE_DSUM || got == MLUOP_REDUCE_DMEAN || got == MLUOP_REDUCE_DMAX;
  if (contract == MLUOP_EXT_CONTRACT_EXTENDED) {
    if (known) return Status::go_on();
    text = "MLUOP_REDUCE_DMAX, _DMEAN or _DSUM";
  } else {
    for (const mluOpReduceMode_t allowed : strict) {
      if (got == allowed) return Status::go_on();
    }
  }
  return Status::bad_param("reduce_type: wanted " + std::string(text) + ", got " + std::to_string(got));
}

Status have_ranks(std::initializer_list<TensorArg> of_two, std::initializer_list<TensorArg> of_one) {
  for (const TensorArg& t : of_two) MLUOPS_RETURN_IF_FINISHED(has_rank(t, 2));
  for (const TensorArg& t : of_one) MLUOPS_RETURN_IF_FINISHED(has_rank(t, 1));
  return Status::go_on();
}

Status are_int32(std::initializer_list<TensorArg> tensors) {
  for (const TensorArg& t : tensors) MLUOPS_RETURN_IF_FINISHED(has_dtype(t, MLUOP_DTYPE_INT32));
  return Status::go_on();
}

// ---- forward ----

Status check_forward_types(const DynamicPointToVoxelForwardArgs& a) {
  MLUOPS_RETURN_IF_FINISHED(is_float(a.feats, a.handle->contract));
  MLUOPS_RETURN_IF_FINISHED(same_dtype(a.voxel_feats, a.feats));
  return are_int32({a.coors, a.voxel_coors, a.point2voxel_map, a.voxel_points_count, a.voxel_num});
}

Status check_forward_dims(const DynamicPointToVoxelForwardArgs& a) {
  const std::int64_t points = a.feats.desc->dims[0];
  MLUOPS_RETURN_IF_FINISHED(has_dim(a.coors, 0, points, "the points"));
  MLUOPS_RETURN_IF_FINISHED(has_dim(a.coors, 1, 3, "coordinates of a voxel"));
  const std::int64_t rows = a.voxel_feats.desc->dims[0];
  MLUOPS_RETURN_IF_FINISHED(has_dim(a.voxel_feats, 1, a.feats.desc->dims[1], "the channels of feats"));
  MLUOPS_RETURN_IF_FINISHED(has_dim(a.voxel_coors, 0, rows, "the rows of voxel_feats"));
  MLUOPS_RETURN_IF_FINISHED(has_dim(a.voxel_coors, 1, 3, "coordinates of a voxel"));
  MLUOPS_RETURN_IF_FINISHED(has_dim(a.point2voxel_map, 0, points, "the points"));
  MLUOPS_RETURN_IF_FINISHED(has_dim(a.voxel_points_count, 0, rows, "the rows of voxel_feats"));
  MLUOPS_RETURN_IF_FINISHED(has_dim(a.voxel_num, 0, 1, "one number"));
  return in_range("dimension 0 of voxel_feats", rows, points > 0 ? 1 : 0, points);
}

Status check_forward_form(const DynamicPointToVoxelForwardArgs& a) {
  MLUOPS_RETURN_IF_FINISHED(not_null("handle", a.handle));
  const auto all = {a.feats,    a.coors, a.voxel_feats, a.voxel_coors, a.point2voxel_map, a.voxel_points_count,
                    a.voxel_num};
  MLUOPS_RETURN_IF_FINISHED(have_descs(all));
  MLUOPS_RETURN_IF_FINISHED(have_ranks({a.feats, a.coors, a.voxel_feats, a.voxel_coors},
                                       {a.point2voxel_map, a.voxel_points_count, a.voxel_num}));
  MLUOPS_RETURN_IF_FINISHED(check_forward_types(a));
  MLUOPS_RETURN_IF_FINISHED(check_reduce(a.handle->contract, a.reduce_type, {MLUOP_REDUCE_DMAX, MLUOP_REDUCE_DMEAN},
                                         "MLUOP_REDUCE_DMAX or _DMEAN"));
  MLUOPS_RETURN_IF_FINISHED(check_forward_dims(a));
  MLUOPS_RETURN_IF_FINISHED(are_dense_and_countable(all, a.handle->contract));
  MLUOPS_RETURN_IF_FINISHED(is_indexable(a.feats, 0));
  if (is_empty(a.feats)) return Status::nothing_to_do();
  if (a.workspace_size > 0) MLUOPS_RETURN_IF_FINISHED(not_null("workspace", a.workspace));
  MLUOPS_RETURN_IF_FINISHED(have_data(all));
  return no_overlap({a.feats, a.coors},
                    {a.voxel_feats, a.voxel_coors, a.point2voxel_map, a.voxel_points_count, a.voxel_num});
}

// ---- backward ----

Status check_backward_types(const DynamicPointToVoxelBackwardArgs& a) {
  MLUOPS_RETURN_IF_FINISHED(is_float(a.grad_voxel_feats, a.handle->contract));
  for (const TensorArg& t : {a.feats, a.voxel_feats, a.grad_feats}) {
    MLUOPS_RETURN_IF_FINISHED(same_dtype(t, a.grad_voxel_feats));
  }
  return are_int32({a.point2voxel_map, a.voxel_points_count, a.voxel_num});
}

Status check_backward_dims(const DynamicPointToVoxelBackwardArgs& a) {
  const auto& points = a.feats.desc->dims;
  const std::int64_t voxels = a.grad_voxel_feats.desc->dims[0];
  MLUOPS_RETURN_IF_FINISHED(has_dim(a.grad_voxel_feats, 1, points[1], "the channels of feats"));
  MLUOPS_RETURN_IF_FINISHED(same_dims(a.voxel_feats, a.grad_voxel_feats));
  MLUOPS_RETURN_IF_FINISHED(has_dim(a.point2voxel_map, 0, points[0], "the points"));
  MLUOPS_RETURN_IF_FINISHED(has_dim(a.voxel_points_count, 0, voxels, "the voxels"));
  MLUOPS_RETURN_IF_FINISHED(has_dim(a.voxel_num, 0, 1, "one number"));
  MLUOPS_RETURN_IF_FINISHED(same_dims(a.grad_feats, a.feats));
  return in_range("dimension 0 of grad_voxel_feats", voxels, 0, points[0]);
}

Status check_backward_form(const DynamicPointToVoxelBackwardArgs& a) {
  MLUOPS_RETURN_IF_FINISHED(not_null("handle", a.handle));
  const auto all = {a.grad_voxel_feats,   a.feats,     a.voxel_feats, a.point2voxel_map,
                    a.voxel_points_count, a.voxel_num, a.grad_feats};
  MLUOPS_RETURN_IF_FINISHED(have_descs(all));
  MLUOPS_RETURN_IF_FINISHED(have_ranks({a.grad_voxel_feats, a.feats, a.voxel_feats, a.grad_feats},
                                       {a.point2voxel_map, a.voxel_points_count, a.voxel_num}));
  MLUOPS_RETURN_IF_FINISHED(check_backward_types(a));
  MLUOPS_RETURN_IF_FINISHED(check_backward_dims(a));
  MLUOPS_RETURN_IF_FINISHED(check_reduce(a.handle->contract, a.reduce_type, {MLUOP_REDUCE_DMAX}, "MLUOP_REDUCE_DMAX"));
  MLUOPS_RETURN_IF_FINISHED(are_dense_and_countable(all, a.handle->contract));
  MLUOPS_RETURN_IF_FINISHED(is_indexable(a.feats, 0));
  if (is_empty(a.grad_feats)) return Status::nothing_to_do();
  if (!is_empty(a.grad_voxel_feats)) {
    MLUOPS_RETURN_IF_FINISHED(have_data({a.grad_voxel_feats, a.voxel_feats, a.voxel_points_count}));
  }
  MLUOPS_RETURN_IF_FINISHED(have_data({a.feats, a.point2voxel_map, a.voxel_num, a.grad_feats}));
  if (a.workspace_size > 0) MLUOPS_RETURN_IF_FINISHED(not_null("workspace", a.workspace));
  return no_overlap({a.grad_voxel_feats, a.feats, a.voxel_feats, a.point2voxel_map, a.voxel_points_count, a.voxel_num},
                    {a.grad_feats});
}

}  // namespace

Status check_dynamic_point_to_voxel_forward(const DynamicPointToVoxelForwardArgs& a,
                                            mluopsDynamicPointToVoxelForwardProblem& problem) {
  MLUOPS_RETURN_IF_FINISHED(check_forward_form(a));
  const auto& feats = a.feats.desc->dims;
  problem = {{a.feats.desc->dtype, feats[0], feats[1], a.voxel_feats.desc->dims[0], a.reduce_type},
             a.feats.data,
             int32_data(a.coors),
             const_cast<void*>(a.voxel_feats.data),
             int32_data(a.voxel_coors),
             int32_data(a.point2voxel_map),
             int32_data(a.voxel_points_count),
             int32_data(a.voxel_num)};
  return Status::go_on();
}

Status check_dynamic_point_to_voxel_backward(const DynamicPointToVoxelBackwardArgs& a,
                                             mluopsDynamicPointToVoxelBackwardProblem& problem) {
  MLUOPS_RETURN_IF_FINISHED(check_backward_form(a));
  const auto& feats = a.feats.desc->dims;
  problem = {{a.feats.desc->dtype, feats[0], feats[1], a.voxel_feats.desc->dims[0], a.reduce_type},
             a.grad_voxel_feats.data,
             a.feats.data,
             a.voxel_feats.data,
             int32_data(a.point2voxel_map),
             int32_data(a.voxel_points_count),
             int32_data(a.voxel_num),
             const_cast<void*>(a.grad_feats.data)};
  return Status::go_on();
}

Status check_dynamic_point_to_voxel_forward_workspace(mluOpHandle_t handle, const TensorArg& feats,
                                                      const TensorArg& coors, std::size_t* workspace_size) {
  MLUOPS_RETURN_IF_FINISHED(not_null("handle", handle));
  MLUOPS_RETURN_IF_FINISHED(have_descs({feats, coors}));
  MLUOPS_RETURN_IF_FINISHED(not_null("workspace_size", workspace_size));
  MLUOPS_RETURN_IF_FINISHED(have_ranks({feats, coors}, {}));
  MLUOPS_RETURN_IF_FINISHED(is_countable(coors, handle->contract));
  return tell_workspace({{coors.desc->dims[0], 3, sizeof(std::int32_t)}}, workspace_size);
}

Status check_dynamic_point_to_voxel_backward_workspace(mluOpHandle_t handle, std::initializer_list<TensorArg> all,
                                                       const TensorArg& voxel_feats, std::size_t* workspace_size) {
  MLUOPS_RETURN_IF_FINISHED(not_null("handle", handle));
  MLUOPS_RETURN_IF_FINISHED(have_descs(all));
  MLUOPS_RETURN_IF_FINISHED(not_null("workspace_size", workspace_size));
  MLUOPS_RETURN_IF_FINISHED(have_ranks({voxel_feats}, {}));
  MLUOPS_RETURN_IF_FINISHED(is_countable(voxel_feats, handle->contract));
  return tell_workspace({{voxel_feats.desc->elements, sizeof(std::int32_t)}}, workspace_size);
}

namespace {

std::string keys_of(const mluopsDynamicPointToVoxelShape& s) {
  return CaseKeys()("n", s.n)("c", s.c)("m", s.m)("reduce", s.reduce == MLUOP_REDUCE_DMAX    ? "max"
                                                            : s.reduce == MLUOP_REDUCE_DMEAN ? "mean"
                                                                                             : "sum")
      .text();
}

}  // namespace

std::string case_keys(const mluopsDynamicPointToVoxelForwardProblem& p) {
  return keys_of(p.shape);
}
std::string case_keys(const mluopsDynamicPointToVoxelBackwardProblem& p) {
  return keys_of(p.shape);
}

}  // namespace mluops::op
