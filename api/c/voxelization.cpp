#include "common/op/voxelization.h"

#include "api/c/boundary.h"
#include "common/dispatch.h"
#include "mluops/op/voxelization.h"

using namespace mluops;

mluOpStatus_t mluOpGetVoxelizationWorkspaceSize(mluOpHandle_t handle, const mluOpTensorDescriptor_t points_desc,
                                                const mluOpTensorDescriptor_t voxel_size_desc,
                                                const mluOpTensorDescriptor_t coors_range_desc,
                                                const int32_t max_points, const int32_t max_voxels, const int32_t NDim,
                                                const bool deterministic, const mluOpTensorDescriptor_t voxels_desc,
                                                const mluOpTensorDescriptor_t coors_desc,
                                                const mluOpTensorDescriptor_t num_points_per_voxel_desc,
                                                const mluOpTensorDescriptor_t voxel_num_desc, size_t* size) {
  return guard(__func__, [&] {
    return op::check_voxelization_workspace({handle,
                                             {"points", points_desc, nullptr},
                                             {"voxel_size", voxel_size_desc, nullptr},
                                             {"coors_range", coors_range_desc, nullptr},
                                             max_points,
                                             max_voxels,
                                             NDim,
                                             deterministic,
                                             nullptr,
                                             0,
                                             {"voxels", voxels_desc, nullptr},
                                             {"coors", coors_desc, nullptr},
                                             {"num_points_per_voxel", num_points_per_voxel_desc, nullptr},
                                             {"voxel_num", voxel_num_desc, nullptr}},
                                            size);
  });
}

mluOpStatus_t mluOpVoxelization(mluOpHandle_t handle, const mluOpTensorDescriptor_t points_desc, const void* points,
                                const mluOpTensorDescriptor_t voxel_size_desc, const void* voxel_size,
                                const mluOpTensorDescriptor_t coors_range_desc, const void* coors_range,
                                const int32_t max_points, const int32_t max_voxels, const int32_t NDim,
                                const bool deterministic, void* workspace, size_t workspace_size,
                                const mluOpTensorDescriptor_t voxels_desc, void* voxels,
                                const mluOpTensorDescriptor_t coors_desc, void* coors,
                                const mluOpTensorDescriptor_t num_points_per_voxel_desc, void* num_points_per_voxel,
                                const mluOpTensorDescriptor_t voxel_num_desc, void* voxel_num) {
  return guard_operator(__func__, handle, [&]() -> Status {
    mluopsVoxelizationProblem problem;
    MLUOPS_RETURN_IF_FINISHED(
        op::check_voxelization({handle,
                                {"points", points_desc, points},
                                {"voxel_size", voxel_size_desc, voxel_size},
                                {"coors_range", coors_range_desc, coors_range},
                                max_points,
                                max_voxels,
                                NDim,
                                deterministic,
                                workspace,
                                workspace_size,
                                {"voxels", voxels_desc, voxels},
                                {"coors", coors_desc, coors},
                                {"num_points_per_voxel", num_points_per_voxel_desc, num_points_per_voxel},
                                {"voxel_num", voxel_num_desc, voxel_num}},
                               problem));
    return dispatch(*handle, "voxelization", problem, &mluopsBackend::voxelization);
  });
}

mluOpStatus_t mluOpExtDynamicVoxelize(mluOpHandle_t handle, const mluOpTensorDescriptor_t points_desc,
                                      const void* points, const mluOpTensorDescriptor_t voxel_size_desc,
                                      const void* voxel_size, const mluOpTensorDescriptor_t coors_range_desc,
                                      const void* coors_range, const mluOpTensorDescriptor_t coors_desc, void* coors) {
  return guard_operator(__func__, handle, [&]() -> Status {
    mluopsDynamicVoxelizeProblem problem;
    MLUOPS_RETURN_IF_FINISHED(op::check_dynamic_voxelize({handle,
                                                          {"points", points_desc, points},
                                                          {"voxel_size", voxel_size_desc, voxel_size},
                                                          {"coors_range", coors_range_desc, coors_range},
                                                          {"coors", coors_desc, coors}},
                                                         problem));
    return dispatch(*handle, "dynamic_voxelize", problem, &mluopsBackend::dynamic_voxelize);
  });
}
