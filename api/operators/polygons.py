"""Quadrilaterals and the convex hulls of point sets."""
from api.generate.describe import *

SAY = {"18": "x and y of nine points", "8": "x and y of four corners", "2": "x and y"}

family("ConvexIou, ConvexGiou, MinAreaPolygons and PointsInPolygons",
       problem_includes="mluops/problem/box_iou.h",
       about="problem structs of ConvexIou, ConvexGiou, MinAreaPolygons, PointsInPolygons (see mluops/problem.h)")

prose("""
/* mluOp has none of these. A quadrilateral: x and y of four corners, in turn either way round, concave ones as they
 * are. A point set: x and y of nine points, of which the convex hull counts. One with a number that is not finite
 * shares nothing. T: FLOAT; EXTENDED also HALF, DOUBLE, BFLOAT16; all of it is computed in double. Outputs empty:
 * SUCCESS, nothing written. Strided tensors: NOT_SUPPORTED. docs/op/polygons.md. */
""")

operator("convex_iou", "mluOpExtConvexIou", 72, doc="""IoU of the hulls of point sets with quadrilaterals.

Cost: a sort of nine points for each set, some 400 flops a pair, 4 where two are far apart.
Source: mmcv's convex_iou.""", args="""
    in pointsets T [n, 18]
    in polygons T [k, 8] -- quadrilaterals
    out ious T [n, k] -- 0 where less than 1e-13 of both areas is shared
    """,
    order="descs ranks sizes dtypes layouts dense done_if_empty(ious) data overlap",
    shape="mluopsConvexIouShape", keys="n k", floats="FLOAT",
    say={**SAY, "n": "pointsets", "k": "polygons"})

POINTSETS = shape("mluopsPointsetsShape", "n",
                  "ConvexGiou: pointsets [n,18], polygons [n,8], giou [n], grad_pointsets [n,18]. MinAreaPolygons: "
                  "pointsets [n,18], polygons [n,8].")

operator("convex_giou", "mluOpExtConvexGiou", 73, doc="""Generalized IoU of the hulls of point sets with quadrilaterals, one by one, and its gradient by the points.

  giou = shared / united - (around - united) / around, areas; around: that of the hull of both; a share of nothing
         is 0

A pair with a number that is not finite has the giou 0 and the gradient 0.
Cost: some 1000 flops a pair. Source: mmcv's convex_giou.""", args="""
    in pointsets T [n, 18]
    in polygons T [n, 8] -- quadrilaterals
    out giou T [n]
    out grad_pointsets T like pointsets -- d giou / d pointsets. Where there is none: a point on a side of a hull is no
        -- corner, of equal points the first may be one, and sides of both on one line move as the point set's.
    """,
    order="descs ranks(-grad_pointsets) sizes dtypes layouts dense done_if_empty(giou grad_pointsets) data overlap",
    shape=POINTSETS, keys="n", floats="FLOAT",
    say={**SAY, "n": "pointsets"})

operator("min_area_polygons", "mluOpExtMinAreaPolygons", 74, doc="""The smallest rectangles, of any angle, around point sets.

Cost: a sort of nine points and some 500 flops a set. Source: mmcv's min_area_polygons.""", args="""
    in pointsets T [n, 18]
    out polygons T [n, 8] -- four corners, one after the other round the rectangle, from the one that is farthest along
        -- the side in the first quadrant and least across. Of several smallest ones that along the hull's first
        -- side, counterclockwise from its lowest corner. NaN for a set with a number that is not finite.
    """,
    order="descs ranks sizes dtypes layouts dense done_if_empty(polygons) data overlap",
    shape=POINTSETS, keys="n", floats="FLOAT",
    say={**SAY, "n": "pointsets"})

operator("points_in_polygons", "mluOpExtPointsInPolygons", 75, doc="""Which points are inside of which quadrilaterals.

Cost: two comparisons a pair, some 30 flops where the point's line meets the quadrilateral.
Source: mmcv's points_in_polygons.""", args="""
    in points T [n, 2] -- x, y
    in polygons T [m, 8] -- quadrilaterals, sides that cross as well
    out inside FLOAT [n, m] -- 1 where a ray to greater x crosses the sides an odd number of times, else 0. A point on
        -- a side is decided by the sides before that one, counted from the side that ends in the first corner. A
        -- NaN crosses nothing.
    """,
    order="descs ranks sizes dtypes layouts dense done_if_empty(inside) data overlap",
    shape="mluopsPointsInPolygonsShape", keys="n m", floats="FLOAT",
    say={**SAY, "n": "points", "m": "polygons"})

