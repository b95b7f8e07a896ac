#include "common/op/furthest_point_sample.h"

#include "api/c/boundary.h"
#include "common/dispatch.h"
#include "mluops/op/furthest_point_sample.h"

using namespace mluops;

mluOpStatus_t mluOpExtFurthestPointSample(mluOpHandle_t handle, const mluOpTensorDescriptor_t points_desc,
                                          const void* points, const mluOpTensorDescriptor_t idx_desc, void* idx) {
  return guard_operator(__func__, handle, [&]() -> Status {
    mluopsFurthestPointSampleProblem problem;
    MLUOPS_RETURN_IF_FINISHED(
        op::check_furthest_point_sample({handle, {"points", points_desc, points}, {"idx", idx_desc, idx}}, problem));
    return dispatch(*handle, "furthest_point_sample", problem, &mluopsBackend::furthest_point_sample);
  });
}

mluOpStatus_t mluOpExtFurthestPointSampleWithDist(mluOpHandle_t handle, const mluOpTensorDescriptor_t distances_desc,
                                                  const void* distances, const mluOpTensorDescriptor_t idx_desc,
                                                  void* idx) {
  return guard_operator(__func__, handle, [&]() -> Status {
    mluopsFurthestPointSampleWithDistProblem problem;
    MLUOPS_RETURN_IF_FINISHED(op::check_furthest_point_sample_with_dist(
        {handle, {"distances", distances_desc, distances}, {"idx", idx_desc, idx}}, problem));
    return dispatch(*handle, "furthest_point_sample_with_dist", problem,
                    &mluopsBackend::furthest_point_sample_with_dist);
  });
}
