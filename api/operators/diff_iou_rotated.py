"""DiffIouRotated."""
from api.generate.describe import *

family("DiffIouRotated", "statuses as MLU-OPS gives them.", letters={"pairs": "N"})

SHAPE = shape("mluopsDiffIouRotatedSortVerticesShape", "n", "Pairs of rectangles, all batches together.")

operator("diff_iou_rotated_sort_vertices_forward", "mluOpDiffIouRotatedSortVerticesForward", 51, doc="""The corners of the intersection of two rectangles, in order round it.

  Vertices 0 to 7 are the rectangles' corners, 8 to 23 intersections of their sides; a vertex is valid where mask is
  not 0. pad: the first of 8 to 23 that is not valid, 23 where all are.
  n = num_valid[b,n]; less than 3: idx = pad nine times. Else n, cut to 8, valid vertices in order, the first again,
  and pad in the rest. Vertex j + 1 is the least of the valid ones greater than vertex j, the first of equals, 0 if
  there is none; (1, -1e-8) is greater than all. (x, y) is less than (x', y') where
      y > 0 > y', or y, y' > 0 and |x| x / (x x + y y + 1e-8) - the same of (x', y') > 1e-8,
      or y, y' < 0 and that difference < 1e-8; never where both coordinates differ by less than 1e-8.
  n = 8 and all of the first four again among the next four: idx = the first four, the first again, pad four times.

N = 0: SUCCESS, nothing written; B = 0: BAD_PARAM. Every operation is rounded to float, of DOUBLE to double. Cost:
up to 8 * 24 comparisons a pair of rectangles. Source: mmcv's diff_iou_rotated_sort_vertices_forward.""", args="""
    in vertices T any [batch, pairs, 24, 2] -- x and y, their mean at (0, 0).
    in mask BOOL any [batch, pairs, 24]
    in num_valid INT32 any [batch, pairs] -- the numbers of valid vertices
    out idx INT32 any [batch, pairs, 9]
    """,
    order="descs ranks strides dtypes sizes countable done_if(pairs == 0) not_empty(vertices) data overlap",
    shape=SHAPE, keys="b={1} n", problem="mluopsDiffIouRotatedSortVerticesProblem",
    notes={'vertices': '[n,24,2]', 'mask': '[n,24]', 'num_valid': '[n], arbitrary numbers', 'idx': '[n,9]'},
    say={"batch": "that of vertices", "pairs": "that of vertices", "24": "corners and intersections", "2": "x and y",
         "9": "an intersection's corners, the first twice"}, floats="FLOAT",
    fill={"n": "batch * pairs"}, check="diff_iou_rotated_sort_vertices")
