#include "common/op/voxel_pooling.h"

#include "api/c/boundary.h"
#include "common/dispatch.h"
#include "mluops/op/voxel_pooling.h"

using namespace mluops;

mluOpStatus_t mluOpVoxelPoolingForward(mluOpHandle_t handle, const int batch_size, const int num_points,
                                       const int num_channels, const int num_voxel_x, const int num_voxel_y,
                                       const int num_voxel_z, const mluOpTensorDescriptor_t geom_xyz_desc,
                                       const void* geom_xyz, const mluOpTensorDescriptor_t input_features_desc,
                                       const void* input_features, const mluOpTensorDescriptor_t output_features_desc,
                                       void* output_features, const mluOpTensorDescriptor_t pos_memo_desc,
                                       void* pos_memo) {
  return guard_operator(__func__, handle, [&]() -> Status {
    mluopsVoxelPoolingForwardProblem problem;
    MLUOPS_RETURN_IF_FINISHED(
        op::check_voxel_pooling_forward({handle,
                                         batch_size,
                                         num_points,
                                         num_channels,
                                         num_voxel_x,
                                         num_voxel_y,
                                         num_voxel_z,
                                         {"geom_xyz", geom_xyz_desc, geom_xyz},
                                         {"input_features", input_features_desc, input_features},
                                         {"output_features", output_features_desc, output_features},
                                         {"pos_memo", pos_memo_desc, pos_memo}},
                                        problem));
    return dispatch(*handle, "voxel_pooling_forward", problem, &mluopsBackend::voxel_pooling_forward);
  });
}
