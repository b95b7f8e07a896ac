// Every rule of ConvexIou's, ConvexGiou's, MinAreaPolygons' and PointsInPolygons' arguments.
#pragma once

#include "common/op/check.h"
#include "mluops/problem/polygons.h"

namespace mluops::op {

struct ConvexIouArgs {
  mluOpHandle_t handle;
  TensorArg pointsets, polygons, ious;
};

struct ConvexGiouArgs {
  mluOpHandle_t handle;
  TensorArg pointsets, polygons, giou, grad_pointsets;
};

struct MinAreaPolygonsArgs {
  mluOpHandle_t handle;
  TensorArg pointsets, polygons;
};

struct PointsInPolygonsArgs {
  mluOpHandle_t handle;
  TensorArg points, polygons, inside;
};

Status check_convex_iou(const ConvexIouArgs& args, mluopsConvexIouProblem& problem);
Status check_convex_giou(const ConvexGiouArgs& args, mluopsConvexGiouProblem& problem);
Status check_min_area_polygons(const MinAreaPolygonsArgs& args, mluopsMinAreaPolygonsProblem& problem);
Status check_points_in_polygons(const PointsInPolygonsArgs& args, mluopsPointsInPolygonsProblem& problem);

}  // namespace mluops::op
