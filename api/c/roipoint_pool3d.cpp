#include "common/op/roipoint_pool3d.h"

#include "api/c/boundary.h"
#include "common/dispatch.h"
#include "mluops/op/roipoint_pool3d.h"

using namespace mluops;

mluOpStatus_t mluOpGetRoiPointPool3dWorkspaceSize(mluOpHandle_t handle, const int batch_size, const int pts_num,
                                                  const int boxes_num, const int feature_in_len,
                                                  const int sampled_pts_num, const mluOpTensorDescriptor_t points_desc,
                                                  const mluOpTensorDescriptor_t point_features_desc,
                                                  const mluOpTensorDescriptor_t boxes3d_desc,
                                                  const mluOpTensorDescriptor_t pooled_features_desc,
                                                  const mluOpTensorDescriptor_t pooled_empty_flag_desc, size_t* size) {
  return guard(__func__, [&] {
    return op::check_roipoint_pool3d_workspace({handle,
                                                batch_size,
                                                pts_num,
                                                boxes_num,
                                                feature_in_len,
                                                sampled_pts_num,
                                                {"points", points_desc, nullptr},
                                                {"point_features", point_features_desc, nullptr},
                                                {"boxes3d", boxes3d_desc, nullptr},
                                                nullptr,
                                                0,
                                                {"pooled_features", pooled_features_desc, nullptr},
                                                {"pooled_empty_flag", pooled_empty_flag_desc, nullptr}},
                                               size);
  });
}

mluOpStatus_t mluOpRoiPointPool3d(mluOpHandle_t handle, const int batch_size, const int pts_num, const int boxes_num,
                                  const int feature_in_len, const int sampled_pts_num,
                                  const mluOpTensorDescriptor_t points_desc, const void* points,
                                  const mluOpTensorDescriptor_t point_features_desc, const void* point_features,
                                  const mluOpTensorDescriptor_t boxes3d_desc, const void* boxes3d, void* workspace,
                                  size_t workspace_size, const mluOpTensorDescriptor_t pooled_features_desc,
                                  void* pooled_features, const mluOpTensorDescriptor_t pooled_empty_flag_desc,
                                  void* pooled_empty_flag) {
  return guard_operator(__func__, handle, [&]() -> Status {
    mluopsRoiPointPool3dProblem problem;
    MLUOPS_RETURN_IF_FINISHED(
        op::check_roipoint_pool3d({handle,
                                   batch_size,
                                   pts_num,
                                   boxes_num,
                                   feature_in_len,
                                   sampled_pts_num,
                                   {"points", points_desc, points},
                                   {"point_features", point_features_desc, point_features},
                                   {"boxes3d", boxes3d_desc, boxes3d},
                                   workspace,
                                   workspace_size,
                                   {"pooled_features", pooled_features_desc, pooled_features},
                                   {"pooled_empty_flag", pooled_empty_flag_desc, pooled_empty_flag}},
                                  problem));
    return dispatch(*handle, "roipoint_pool3d", problem, &mluopsBackend::roipoint_pool3d);
  });
}
