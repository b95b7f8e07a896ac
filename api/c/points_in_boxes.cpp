#include "common/op/points_in_boxes.h"

#include "api/c/boundary.h"
#include "common/dispatch.h"
#include "mluops/op/points_in_boxes.h"

using namespace mluops;

namespace {

Status part(const op::PointsInBoxesArgs& args) {
  mluopsPointsInBoxesPartProblem problem;
  MLUOPS_RETURN_IF_FINISHED(op::check_points_in_boxes_part(args, problem));
  return dispatch(*args.handle, "points_in_boxes_part", problem, &mluopsBackend::points_in_boxes_part);
}

}  // namespace

mluOpStatus_t mluOpPointsInBoxes(mluOpHandle_t handle, const mluOpTensorDescriptor_t points_desc, const void* points,
                                 const mluOpTensorDescriptor_t boxes_desc, const void* boxes,
                                 const mluOpTensorDescriptor_t points_indices_desc, void* points_indices) {
  return guard_operator(__func__, handle, [&] {
    return part({handle,
                 {"points", points_desc, points},
                 {"boxes", boxes_desc, boxes},
                 {"points_indices", points_indices_desc, points_indices},
                 true});
  });
}

mluOpStatus_t mluOpExtPointsInBoxesPart(mluOpHandle_t handle, const mluOpTensorDescriptor_t points_desc,
                                        const void* points, const mluOpTensorDescriptor_t boxes_desc, const void* boxes,
                                        const mluOpTensorDescriptor_t points_indices_desc, void* points_indices) {
  return guard_operator(__func__, handle, [&] {
    return part({handle,
                 {"points", points_desc, points},
                 {"boxes", boxes_desc, boxes},
                 {"points_indices", points_indices_desc, points_indices},
                 false});
  });
}

mluOpStatus_t mluOpExtPointsInBoxesAll(mluOpHandle_t handle, const mluOpTensorDescriptor_t points_desc,
                                       const void* points, const mluOpTensorDescriptor_t boxes_desc, const void* boxes,
                                       const mluOpTensorDescriptor_t inside_desc, void* inside) {
  return guard_operator(__func__, handle, [&]() -> Status {
    mluopsPointsInBoxesAllProblem problem;
    MLUOPS_RETURN_IF_FINISHED(op::check_points_in_boxes_all(
        {handle, {"points", points_desc, points}, {"boxes", boxes_desc, boxes}, {"inside", inside_desc, inside}, false},
        problem));
    return dispatch(*handle, "points_in_boxes_all", problem, &mluopsBackend::points_in_boxes_all);
  });
}
