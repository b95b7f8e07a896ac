#include "common/op/chamfer_distance.h"

#include "api/c/boundary.h"
#include "common/dispatch.h"
#include "mluops/op/chamfer_distance.h"

using namespace mluops;

mluOpStatus_t mluOpExtChamferDistanceForward(mluOpHandle_t handle, const mluOpTensorDescriptor_t xyz1_desc,
                                             const void* xyz1, const mluOpTensorDescriptor_t xyz2_desc,
                                             const void* xyz2, const mluOpTensorDescriptor_t dist1_desc, void* dist1,
                                             const mluOpTensorDescriptor_t dist2_desc, void* dist2,
                                             const mluOpTensorDescriptor_t idx1_desc, void* idx1,
                                             const mluOpTensorDescriptor_t idx2_desc, void* idx2) {
  return guard_operator(__func__, handle, [&]() -> Status {
    mluopsChamferDistanceForwardProblem problem;
    MLUOPS_RETURN_IF_FINISHED(op::check_chamfer_distance_forward({handle,
                                                                  {"xyz1", xyz1_desc, xyz1},
                                                                  {"xyz2", xyz2_desc, xyz2},
                                                                  {"dist1", dist1_desc, dist1},
                                                                  {"dist2", dist2_desc, dist2},
                                                                  {"idx1", idx1_desc, idx1},
                                                                  {"idx2", idx2_desc, idx2}},
                                                                 problem));
    return dispatch(*handle, "chamfer_distance_forward", problem, &mluopsBackend::chamfer_distance_forward);
  });
}

mluOpStatus_t mluOpExtChamferDistanceBackward(mluOpHandle_t handle, const mluOpTensorDescriptor_t xyz1_desc,
                                              const void* xyz1, const mluOpTensorDescriptor_t xyz2_desc,
                                              const void* xyz2, const mluOpTensorDescriptor_t idx1_desc,
                                              const void* idx1, const mluOpTensorDescriptor_t idx2_desc,
                                              const void* idx2, const mluOpTensorDescriptor_t grad_dist1_desc,
                                              const void* grad_dist1, const mluOpTensorDescriptor_t grad_dist2_desc,
                                              const void* grad_dist2, const mluOpTensorDescriptor_t grad_xyz1_desc,
                                              void* grad_xyz1, const mluOpTensorDescriptor_t grad_xyz2_desc,
                                              void* grad_xyz2) {
  return guard_operator(__func__, handle, [&]() -> Status {
    mluopsChamferDistanceBackwardProblem problem;
    MLUOPS_RETURN_IF_FINISHED(op::check_chamfer_distance_backward({handle,
                                                                   {"xyz1", xyz1_desc, xyz1},
                                                                   {"xyz2", xyz2_desc, xyz2},
                                                                   {"idx1", idx1_desc, idx1},
                                                                   {"idx2", idx2_desc, idx2},
                                                                   {"grad_dist1", grad_dist1_desc, grad_dist1},
                                                                   {"grad_dist2", grad_dist2_desc, grad_dist2},
                                                                   {"grad_xyz1", grad_xyz1_desc, grad_xyz1},
                                                                   {"grad_xyz2", grad_xyz2_desc, grad_xyz2}},
                                                                  problem));
    return dispatch(*handle, "chamfer_distance_backward", problem, &mluopsBackend::chamfer_distance_backward);
  });
}
