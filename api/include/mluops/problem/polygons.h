/* The problems of ConvexIou, ConvexGiou, MinAreaPolygons and PointsInPolygons (see mluops/problem.h for what has been
 * validated). */
#ifndef MLUOPS_PROBLEM_POLYGONS_H_
#define MLUOPS_PROBLEM_POLYGONS_H_

#include <stdint.h>

#include "mlu_op_types.h"
#include "mluops/problem/box_iou.h"

#if defined(__cplusplus)
extern "C" {
#endif

/** pointsets [n,18], polygons [k,8], ious [n,k]. */
typedef struct mluopsConvexIouShape {
  mluOpDataType_t dtype;
  int64_t n, k;
} mluopsConvexIouShape;

typedef struct mluopsConvexIouProblem {
  mluopsConvexIouShape shape;
  const void* pointsets;
  const void* polygons;
  void* ious;
} mluopsConvexIouProblem;

/** ConvexGiou: pointsets [n,18], polygons [n,8], giou [n], grad_pointsets [n,18].
 *  MinAreaPolygons: pointsets [n,18], polygons [n,8]. */
typedef struct mluopsPointsetsShape {
  mluOpDataType_t dtype;
  int64_t n;
} mluopsPointsetsShape;

typedef struct mluopsConvexGiouProblem {
  mluopsPointsetsShape shape;
  const void* pointsets;
  const void* polygons;
  void* giou;
  void* grad_pointsets;
} mluopsConvexGiouProblem;

typedef struct mluopsMinAreaPolygonsProblem {
  mluopsPointsetsShape shape;
  const void* pointsets;
  void* polygons;
} mluopsMinAreaPolygonsProblem;

/** points [n,2], polygons [m,8], inside [n,m]. */
typedef struct mluopsPointsInPolygonsShape {
  mluOpDataType_t dtype;
  int64_t n, m;
} mluopsPointsInPolygonsShape;

typedef struct mluopsPointsInPolygonsProblem {
  mluopsPointsInPolygonsShape shape;
  const void* points;
  const void* polygons;
  float* inside;
} mluopsPointsInPolygonsProblem;

#if defined(__cplusplus)
}
#endif

#endif /* MLUOPS_PROBLEM_POLYGONS_H_ */
