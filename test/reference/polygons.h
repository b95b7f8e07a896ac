// Polygons as lists x1, y1, x2, y2, ..., and the operators on them, in double throughout.
#pragma once

#include "test/reference/reference.h"

namespace mluops::reference {

/// NaN where a corner is not finite.
double area(const Values& polygon);
/// Areas run round by both, once or more, each in its own sense; at most the smaller area. 0 where a corner is not
/// finite, and where it is below 1e-13 of both areas.
double shared_area(const Values& a, const Values& b);
/// Corners of the convex hull, counterclockwise from the lowest, of several such the leftmost.
Values convex_hull(const Values& points);

/// ious [n,m] or [n].
Values box_iou_quadri(const mluopsBoxIouProblem& problem);
/// ious [n,k].
Values convex_iou(const mluopsConvexIouProblem& problem);

struct ConvexGiouResult {
  Values giou;            ///< [n]
  Values grad_pointsets;  ///< [n,18]
};
ConvexGiouResult convex_giou(const mluopsConvexGiouProblem& problem);

/// polygons [n,8].
Values min_area_polygons(const mluopsMinAreaPolygonsProblem& problem);
/// inside [n,m].
Values points_in_polygons(const mluopsPointsInPolygonsProblem& problem);

}  // namespace mluops::reference
