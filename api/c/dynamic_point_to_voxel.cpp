#include "common/op/dynamic_point_to_voxel.h"

#include "api/c/boundary.h"
#include "common/dispatch.h"
#include "mluops/op/dynamic_point_to_voxel.h"

using namespace mluops;

mluOpStatus_t mluOpGetDynamicPointToVoxelForwardWorkspaceSize(mluOpHandle_t handle,
                                                              const mluOpTensorDescriptor_t feats_desc,
                                                              const mluOpTensorDescriptor_t coors_desc,
                                                              size_t* workspace_size) {
  return guard(__func__, [&] {
    return op::check_dynamic_point_to_voxel_forward_workspace(handle, {"feats", feats_desc, nullptr},
                                                              {"coors", coors_desc, nullptr}, workspace_size);
  });
}

mluOpStatus_t mluOpDynamicPointToVoxelForward(const mluOpHandle_t handle, const mluOpReduceMode_t reduce_type,
                                              const mluOpTensorDescriptor_t feats_desc, const void* feats,
                                              const mluOpTensorDescriptor_t coors_desc, void* coors, void* workspace,
                                              const size_t workspace_size,
                                              const mluOpTensorDescriptor_t voxel_feats_desc, void* voxel_feats,
                                              const mluOpTensorDescriptor_t voxel_coors_desc, void* voxel_coors,
                                              const mluOpTensorDescriptor_t point2voxel_map_desc, void* point2voxel_map,
                                              const mluOpTensorDescriptor_t voxel_points_count_desc,
                                              void* voxel_points_count, const mluOpTensorDescriptor_t voxel_num_desc,
                                              void* voxel_num) {
  return guard_operator(__func__, handle, [&]() -> Status {
    mluopsDynamicPointToVoxelForwardProblem problem;
    MLUOPS_RETURN_IF_FINISHED(
        op::check_dynamic_point_to_voxel_forward({handle,
                                                  reduce_type,
                                                  {"feats", feats_desc, feats},
                                                  {"coors", coors_desc, coors},
                                                  workspace,
                                                  workspace_size,
                                                  {"voxel_feats", voxel_feats_desc, voxel_feats},
                                                  {"voxel_coors", voxel_coors_desc, voxel_coors},
                                                  {"point2voxel_map", point2voxel_map_desc, point2voxel_map},
                                                  {"voxel_points_count", voxel_points_count_desc, voxel_points_count},
                                                  {"voxel_num", voxel_num_desc, voxel_num}},
                                                 problem));
    return dispatch(*handle, "dynamic_point_to_voxel_forward", problem, &mluopsBackend::dynamic_point_to_voxel_forward);
  });
}

mluOpStatus_t mluOpGetDynamicPointToVoxelBackwardWorkspaceSize(
    const mluOpHandle_t handle, const mluOpReduceMode_t, const mluOpTensorDescriptor_t grad_voxel_feats_desc,
    const mluOpTensorDescriptor_t feats_desc, const mluOpTensorDescriptor_t voxel_feats_desc,
    const mluOpTensorDescriptor_t point2voxel_map_desc, const mluOpTensorDescriptor_t voxel_points_count_desc,
    const mluOpTensorDescriptor_t voxel_num_desc, size_t* workspace_size) {
  return guard(__func__, [&] {
    const op::TensorArg voxel_feats = {"voxel_feats", voxel_feats_desc, nullptr};
    return op::check_dynamic_point_to_voxel_backward_workspace(
        handle,
        {{"grad_voxel_feats", grad_voxel_feats_desc, nullptr},
         {"feats", feats_desc, nullptr},
         voxel_feats,
         {"point2voxel_map", point2voxel_map_desc, nullptr},
         {"voxel_points_count", voxel_points_count_desc, nullptr},
         {"voxel_num", voxel_num_desc, nullptr}},
        voxel_feats, workspace_size);
  });
}

mluOpStatus_t mluOpDynamicPointToVoxelBackward(
    const mluOpHandle_t handle, const mluOpReduceMode_t reduce_type,
    const mluOpTensorDescriptor_t grad_voxel_feats_desc, const void* grad_voxel_feats,
    const mluOpTensorDescriptor_t feats_desc, const void* feats, const mluOpTensorDescriptor_t voxel_feats_desc,
    const void* voxel_feats, const mluOpTensorDescriptor_t point2voxel_map_desc, const void* point2voxel_map,
    const mluOpTensorDescriptor_t voxel_points_count_desc, const void* voxel_points_count,
    const mluOpTensorDescriptor_t voxel_num_desc, const void* voxel_num, void* workspace, const size_t workspace_size,
    const mluOpTensorDescriptor_t grad_feats_desc, void* grad_feats) {
  return guard_operator(__func__, handle, [&]() -> Status {
    mluopsDynamicPointToVoxelBackwardProblem problem;
    MLUOPS_RETURN_IF_FINISHED(
        op::check_dynamic_point_to_voxel_backward({handle,
                                                   reduce_type,
                                                   {"grad_voxel_feats", grad_voxel_feats_desc, grad_voxel_feats},
                                                   {"feats", feats_desc, feats},
                                                   {"voxel_feats", voxel_feats_desc, voxel_feats},
                                                   {"point2voxel_map", point2voxel_map_desc, point2voxel_map},
                                                   {"voxel_points_count", voxel_points_count_desc, voxel_points_count},
                                                   {"voxel_num", voxel_num_desc, voxel_num},
                                                   workspace,
                                                   workspace_size,
                                                   {"grad_feats", grad_feats_desc, grad_feats}},
                                                  problem));
    return dispatch(*handle, "dynamic_point_to_voxel_backward", problem,
                    &mluopsBackend::dynamic_point_to_voxel_backward);
  });
}
