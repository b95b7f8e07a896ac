#include "common/op/gather_points.h"

#include "api/c/boundary.h"
#include "common/dispatch.h"
#include "mluops/op/gather_points.h"

using namespace mluops;

namespace {

constexpr int kOfPoints = 2, kOfGroups = 3;  // dimensions of idx

Status forward(const op::GatherPointsArgs& args, const char* name) {
  mluopsGatherPointsForwardProblem problem;
  MLUOPS_RETURN_IF_FINISHED(op::check_gather_points_forward(args, problem));
  return dispatch(*args.handle, name, problem, &mluopsBackend::gather_points_forward);
}

Status backward(const op::GatherPointsArgs& args, const char* name) {
  mluopsGatherPointsBackwardProblem problem;
  MLUOPS_RETURN_IF_FINISHED(op::check_gather_points_backward(args, problem));
  return dispatch(*args.handle, name, problem, &mluopsBackend::gather_points_backward);
}

}  // namespace

mluOpStatus_t mluOpExtGatherPoints(mluOpHandle_t handle, const mluOpTensorDescriptor_t points_desc, const void* points,
                                   const mluOpTensorDescriptor_t idx_desc, const void* idx,
                                   const mluOpTensorDescriptor_t output_desc, void* output) {
  return guard_operator(__func__, handle, [&] {
    return forward(
        {handle, {"points", points_desc, points}, {"idx", idx_desc, idx}, {"output", output_desc, output}, kOfPoints},
        "gather_points_forward");
  });
}

mluOpStatus_t mluOpExtGatherPointsBackward(mluOpHandle_t handle, const mluOpTensorDescriptor_t grad_output_desc,
                                           const void* grad_output, const mluOpTensorDescriptor_t idx_desc,
                                           const void* idx, const mluOpTensorDescriptor_t grad_points_desc,
                                           void* grad_points) {
  return guard_operator(__func__, handle, [&] {
    return backward({handle,
                     {"grad_output", grad_output_desc, grad_output},
                     {"idx", idx_desc, idx},
                     {"grad_points", grad_points_desc, grad_points},
                     kOfPoints},
                    "gather_points_backward");
  });
}

mluOpStatus_t mluOpExtGroupPoints(mluOpHandle_t handle, const mluOpTensorDescriptor_t points_desc, const void* points,
                                  const mluOpTensorDescriptor_t idx_desc, const void* idx,
                                  const mluOpTensorDescriptor_t output_desc, void* output) {
  return guard_operator(__func__, handle, [&] {
    return forward(
        {handle, {"points", points_desc, points}, {"idx", idx_desc, idx}, {"output", output_desc, output}, kOfGroups},
        "gather_points_forward");
  });
}

mluOpStatus_t mluOpExtGroupPointsBackward(mluOpHandle_t handle, const mluOpTensorDescriptor_t grad_output_desc,
                                          const void* grad_output, const mluOpTensorDescriptor_t idx_desc,
                                          const void* idx, const mluOpTensorDescriptor_t grad_points_desc,
                                          void* grad_points) {
  return guard_operator(__func__, handle, [&] {
    return backward({handle,
                     {"grad_output", grad_output_desc, grad_output},
                     {"idx", idx_desc, idx},
                     {"grad_points", grad_points_desc, grad_points},
                     kOfGroups},
                    "gather_points_backward");
  });
}
