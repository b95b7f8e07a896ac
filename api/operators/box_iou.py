"""IoU of upright and of rotated boxes, and suppression by the latter."""
from api.generate.describe import *

family("box IoU and suppression of rotated boxes", "mlu_op.h of mlu-ops.", includes="common/tensor_desc.h", hooks="""
/// ious [n, m]; aligned [n], where n = 0 also [0, 1].
Status check_ious(const TensorArg& ious, std::int64_t n, std::int64_t m, bool aligned);
""", letters={"width": "5"})

BOX_IOU = shape("mluopsBoxIouShape",
                "n, m; int32_t mode /**< 0: IoU, 1: shared area over that of the first box */; int32_t aligned /**< "
                "0 or 1, then n is m */; int32_t offset /**< 0 or 1, but for upright boxes 0 */",
                "bbox1 [n,4], rotated [n,5], of four corners [n,8]; bbox2 likewise [m,...]; ious [n,m], [n] if "
                "aligned.")

PAIRS = dict(
    shape=BOX_IOU, problem="mluopsBoxIouProblem", keys=None,
    order="numbers descs ranks(bbox1 bbox2) sizes(bbox1 bbox2) same_count hook(check_ious ious n m aligned) dtypes layouts "
          "dense done_if_empty(ious) data overlap",
    say={"4": "numbers of a box", "5": "numbers of a box", "8": "numbers of a box"},
    rules={"same_count": rule("!aligned || m == n",
                              "bbox2: wanted dimension 0 to be {n} (bbox1, aligned), got {m} in {shape_text(bbox2)}")},
    shapes={"ious": "(n,) if aligned else (n, m)"})

operator("bbox_overlaps", "mluOpBboxOverlaps", 55, doc="""IoU, or shared area over that of the first box, of upright boxes.

  shared = max(min(x2) - max(x1) + offset, 0) * max(min(y2) - max(y1) + offset, 0)
  area = (x2 - x1 + offset) * (y2 - y1 + offset)
  ious = shared / (area_1 + area_2 - shared), or shared / area_1; 0 where that is not greater than 0

ious empty: SUCCESS, nothing written. Cost: some 12 flops a pair. Source: mmcv's bbox_overlaps.""", args="""
    const int mode in 0..1 named iou iof -- 0: IoU; 1: shared area over that of the first box
    const bool aligned -- false: each of bbox1 with each of bbox2; true: one by one
    const int offset in 0..1 -- added to widths and heights
    in bbox1 T [n, 4] py=bboxes1 -- x1, y1, x2, y2
    in bbox2 T [m, 4] py=bboxes2 -- M = N if aligned
    out ious T [n, m] -- [N] if aligned, where N = 0 also [0, 1]
    """,
    **PAIRS)

operator("box_iou_rotated", "mluOpBoxIouRotated", 56, doc="""IoU, or shared area over that of the first box, of rotated boxes.

All of it is computed in double. ious empty: SUCCESS, nothing written. Cost: some 150 flops a pair, 8 where two
boxes are far apart. Source: mmcv's box_iou_rotated; docs/op/box_iou.md.""", args="""
    const int mode in 0..1 named iou iof -- 0: IoU; 1: shared area over that of the first box
    const bool aligned -- false: each of bbox1 with each of bbox2; true: one by one
    in bbox1 T [n, 5] py=bboxes1 -- x and y of the centre, width, height, rotation in radians
    in bbox2 T [m, 5] py=bboxes2 -- M = N if aligned
    out ious T [n, m] -- [N] if aligned. 0 where nothing is shared, and for boxes with an area below 1e-14 or a number
        -- that is not finite.
    """,
    floats="FLOAT", fill={"offset": "0"}, **PAIRS)

operator("box_iou_quadri", "mluOpExtBoxIouQuadri", 71, doc="""IoU, or shared area over that of the first, of quadrilaterals.

Cost: some 300 flops a pair, 4 where two are far apart. Source: mmcv's box_iou_quadri.""", args="""
    const int mode in 0..1 named iou iof -- 0: IoU; 1: shared area over that of the first
    const bool aligned -- false: each of bbox1 with each of bbox2; true: one by one
    in bbox1 T [n, 8] py=bboxes1 -- quadrilaterals
    in bbox2 T [m, 8] py=bboxes2 -- M = N if aligned
    out ious T [n, m] -- [N] if aligned. 0 where less than 1e-13 of both areas is shared.
    """,
    floats="FLOAT", fill={"offset": "0"}, **PAIRS)

SHAPE = shape("mluopsNmsRotatedShape", "n; int32_t width /**< 5, or 6 with a label */")

getter("mluOpGetNmsRotatedWorkspaceSize", "nms_rotated", "boxes", "handle desc_pointers(boxes) size")

operator("nms_rotated", "mluOpNmsRotated", 57, doc="""Keeps each box, best score first, whose IoU with every box kept before is not greater than a threshold.

IoUs are those of mluOpBoxIouRotated, not rounded to T. Cost: at most N^2 / 2 pairs. Source: mmcv's nms_rotated.""", args="""
    const float iou_threshold number
    in boxes T [n, width] py=dets -- x and y of the centre, width, height, rotation in radians; or [N, 6], whose last
        -- number, a label, is not looked at (as on the device)
    in scores T [n] -- NaN counts as the best; equal ones are taken in order
    workspace
    out output INT32 [n] -- the indices of the boxes kept, best first, zeros behind
    count int32_t* result_num -- how many are kept, with 0 where N = 0
    """,
    order="numbers descs ranks(boxes) labelled ranks(scores output) sizes dtypes layouts dense indexable(boxes.0) "
          "data(boxes: boxes scores output) counts overlap",
    shape=SHAPE, keys="n iou=iou_threshold width",
    notes={'boxes': 'NULL where n = 0', 'scores': 'likewise', 'output': 'likewise', 'iou_threshold': 'not NaN'},
    say={"n": "boxes"}, floats="FLOAT", smallest={"width": 5},
    rules={"labelled": rule("width == 5 || width == 6",
                            "boxes: wanted dimension 1 to be 5 (numbers of a box, or 6 with a label), got {width} in "
                            "{shape_text(boxes)}", wrong="boxes.1=7")})
