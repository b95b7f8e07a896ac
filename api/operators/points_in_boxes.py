"""PointsInBoxes."""
from api.generate.describe import *

family("PointsInBoxes", "statuses as MLU-OPS 1.11 gives them; mmcv's points_in_boxes.")

shape("mluopsPointsInBoxesShape",
      "b, m, n; int32_t centred /**< 1: z of a box is its centre, and 1e-5 is added to half its sides, 0: z "
      "is the bottom */")

SAY = {"b": "the batch", "3": "coordinates of a point", "7": "numbers of a box", "m": "the points", "n": "the boxes"}

operator("points_in_boxes_part", "mluOpPointsInBoxes", 25, doc="""The first of T upright boxes that each of M points is in; z of a box is its centre.

  lx = (x - bx) * cos(-rz) - (y - by) * sin(-rz),  ly = (x - bx) * sin(-rz) + (y - by) * cos(-rz)
  in the box: |lx| < dx / 2 + 1e-5 and |ly| < dy / 2 + 1e-5 and not |z - bz| > dz / 2, each operation rounded to
  float (double for DOUBLE), the sums dx / 2 + 1e-5 once, cos and sin to the nearest float

An empty tensor: SUCCESS, nothing written. Cost: at most 12*B*M*N flops. Source: OpenPCDet's points_in_boxes_gpu.""", args="""
    in points T [b, m, 3] -- x, y, z
    in boxes T [b, n, 7] -- bx, by, bz, dx, dy, dz, rz: the centre, the sizes, the rotation about z
    out points_indices:idx INT32 [b, m] py=points_indices -- index of the box, -1 where there is none
    """,
    order="descs ranks layouts dtypes sizes(points boxes points_indices) dense indexable(boxes.1) "
          "done_if_empty(points boxes points_indices) data overlap",
    keys='b m n z={p.shape.centred != 0 ? "centre" : "bottom"}',
    problem_doc="""idx [b,m]: the first box, or -1.""",
    say=SAY, floats="FLOAT", check="points_in_boxes", fill={"centred": "1"})

operator("points_in_boxes_part", "mluOpExtPointsInBoxesPart", 25, doc="""mluOpPointsInBoxes with mmcv's boxes: z is the centre of the bottom, and nothing is added to the sizes.

  in the box: |lx| < dx / 2 and |ly| < dy / 2 and not |z - (bz + dz / 2)| > dz / 2

Arguments, dtypes, statuses and cost: those of mluOpPointsInBoxes. Source: mmcv's points_in_boxes_part.""", args="""
    in points T [b, m, 3]
    in boxes T [b, n, 7]
    out points_indices:idx INT32 [b, m] py=indices
    """,
    order="descs ranks layouts dtypes sizes(points boxes points_indices) dense indexable(boxes.1) "
          "done_if_empty(points boxes points_indices) data overlap",
    keys='b m n z={p.shape.centred != 0 ? "centre" : "bottom"}',
    problem_doc="""idx [b,m]: the first box, or -1.""",
    say=SAY, floats="FLOAT", fill={"centred": "0"})

operator("points_in_boxes_all", "mluOpExtPointsInBoxesAll", 26, doc="""All boxes each point is in, by the rule of mluOpExtPointsInBoxesPart.

Dtypes, statuses and cost: those of mluOpPointsInBoxes. Source: mmcv's points_in_boxes_all.""", args="""
    in points T [b, m, 3]
    in boxes T [b, n, 7] -- z is the centre of the bottom
    out inside INT32 [b, m, n] -- 1 where point m is in box n, else 0
    """,
    order="descs ranks layouts dtypes sizes(points boxes inside) dense indexable(boxes.1) "
          "done_if_empty(points boxes inside) data overlap",
    keys="b m n",
    problem_doc="""inside [b,m,n]: 1 or 0.""",
    say=SAY, floats="FLOAT", fill={"centred": "0"})
