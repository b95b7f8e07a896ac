#include "common/op/ball_query.h"

#include "api/c/boundary.h"
#include "common/dispatch.h"
#include "mluops/op/ball_query.h"

using namespace mluops;

mluOpStatus_t mluOpBallQuery(mluOpHandle_t handle, const mluOpTensorDescriptor_t new_xyz_desc, const void* new_xyz,
                             const mluOpTensorDescriptor_t xyz_desc, const void* xyz, const float min_radius,
                             const float max_radius, const int nsample, const mluOpTensorDescriptor_t idx_desc,
                             void* idx) {
  return guard_operator(__func__, handle, {{"min_radius", min_radius}, {"max_radius", max_radius}},
                        [&](const auto& scalars) -> Status {
                          mluopsBallQueryProblem problem;
                          MLUOPS_RETURN_IF_FINISHED(op::check_ball_query({handle,
                                                                          {"new_xyz", new_xyz_desc, new_xyz},
                                                                          {"xyz", xyz_desc, xyz},
                                                                          scalars[0],
                                                                          scalars[1],
                                                                          nsample,
                                                                          {"idx", idx_desc, idx}},
                                                                         problem));
                          return dispatch(*handle, "ball_query", problem, &mluopsBackend::ball_query);
                        });
}
