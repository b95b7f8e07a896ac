#include "common/op/polygons.h"

#include "api/c/boundary.h"
#include "common/dispatch.h"
#include "mluops/op/polygons.h"

using namespace mluops;

mluOpStatus_t mluOpExtConvexIou(mluOpHandle_t handle, const mluOpTensorDescriptor_t pointsets_desc,
                                const void* pointsets, const mluOpTensorDescriptor_t polygons_desc,
                                const void* polygons, const mluOpTensorDescriptor_t ious_desc, void* ious) {
  return guard_operator(__func__, handle, [&]() -> Status {
    mluopsConvexIouProblem problem;
    MLUOPS_RETURN_IF_FINISHED(op::check_convex_iou({handle,
                                                    {"pointsets", pointsets_desc, pointsets},
                                                    {"polygons", polygons_desc, polygons},
                                                    {"ious", ious_desc, ious}},
                                                   problem));
    return dispatch(*handle, "convex_iou", problem, &mluopsBackend::convex_iou);
  });
}

mluOpStatus_t mluOpExtConvexGiou(mluOpHandle_t handle, const mluOpTensorDescriptor_t pointsets_desc,
                                 const void* pointsets, const mluOpTensorDescriptor_t polygons_desc,
                                 const void* polygons, const mluOpTensorDescriptor_t giou_desc, void* giou,
                                 const mluOpTensorDescriptor_t grad_pointsets_desc, void* grad_pointsets) {
  return guard_operator(__func__, handle, [&]() -> Status {
    mluopsConvexGiouProblem problem;
    MLUOPS_RETURN_IF_FINISHED(op::check_convex_giou({handle,
                                                     {"pointsets", pointsets_desc, pointsets},
                                                     {"polygons", polygons_desc, polygons},
                                                     {"giou", giou_desc, giou},
                                                     {"grad_pointsets", grad_pointsets_desc, grad_pointsets}},
                                                    problem));
    return dispatch(*handle, "convex_giou", problem, &mluopsBackend::convex_giou);
  });
}

mluOpStatus_t mluOpExtMinAreaPolygons(mluOpHandle_t handle, const mluOpTensorDescriptor_t pointsets_desc,
                                      const void* pointsets, const mluOpTensorDescriptor_t polygons_desc,
                                      void* polygons) {
  return guard_operator(__func__, handle, [&]() -> Status {
    mluopsMinAreaPolygonsProblem problem;
    MLUOPS_RETURN_IF_FINISHED(op::check_min_area_polygons(
        {handle, {"pointsets", pointsets_desc, pointsets}, {"polygons", polygons_desc, polygons}}, problem));
    return dispatch(*handle, "min_area_polygons", problem, &mluopsBackend::min_area_polygons);
  });
}

mluOpStatus_t mluOpExtPointsInPolygons(mluOpHandle_t handle, const mluOpTensorDescriptor_t points_desc,
                                       const void* points, const mluOpTensorDescriptor_t polygons_desc,
                                       const void* polygons, const mluOpTensorDescriptor_t inside_desc, void* inside) {
  return guard_operator(__func__, handle, [&]() -> Status {
    mluopsPointsInPolygonsProblem problem;
    MLUOPS_RETURN_IF_FINISHED(op::check_points_in_polygons({handle,
                                                            {"points", points_desc, points},
                                                            {"polygons", polygons_desc, polygons},
                                                            {"inside", inside_desc, inside}},
                                                           problem));
    return dispatch(*handle, "points_in_polygons", problem, &mluopsBackend::points_in_polygons);
  });
}
