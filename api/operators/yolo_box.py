"""YoloBox."""
from api.generate.describe import *

family("YoloBox", "mlu_op.h of mlu-ops and its design document.",
       letters={"numbers_of_x": "C", "numbers": "2 S", "pairs": "S", "pixels": "H W"})

shape("mluopsYoloBoxShape", "n, anchors, classes, h, w",
      "x [n, (iou_aware + 5 + classes) * anchors, h, w], img_size [n, 2], anchors [2 * anchors]; boxes [n, "
      "anchors, 4, h * w], scores [n, anchors, classes, h * w].")

SAY = {"n": "the batch of x", "2": "height, width", "pairs": "anchors", "pixels": "height times width of x",
       "4": "x1, y1, x2, y2"}

operator("yolo_box", "mluOpYoloBox", 69, doc="""Decodes the map of a YOLO head: the box of every anchor at every pixel, and its scores of all classes.

N, H or W of 0: SUCCESS. Cost: one exponential a score. Source: Redmon and Farhadi, "YOLOv3", 2018; Paddle's
yolo_box; docs/op/yolo_box.md.""", args="""
    in x T [n, numbers_of_x, h, w] -- C = S (5 + class_num): x, y, w, h, confidence and classes of each anchor; with
        -- iou_aware S channels of IoUs before them
    in img_size INT32 [n, 2] -- height and width of each image
    in anchors INT32 [numbers] -- S >= 1: width and height of each anchor, in pixels of the network's input
    const int class_num:classes >= 1
    const float conf_thresh -- boxes and scores below this confidence are 0
    const int downsample_ratio >= 1 -- pixels of the network's input to one of x
    const bool clip_bbox -- boxes are clipped to [0, size - 1]
    const float scale py=scale_x_y -- of the sigmoid of x and y, about its middle
    const bool iou_aware -- the confidence is confidence^(1 - iou_aware_factor) IoU^iou_aware_factor
    const float iou_aware_factor -- in [0, 1] where iou_aware
    out boxes T [n, pairs, 4, pixels] -- x1, y1, x2, y2
    out scores T [n, pairs, class_num, pixels]
    """,
    order="descs numbers factor ranks not_empty(anchors) even of_anchors sizes dtypes layouts dense "
          "done_if_empty(x) data overlap",
    keys="n s=anchors c=classes h w conf=conf_thresh scale factor=iou_aware_factor down=downsample_ratio clip=clip_bbox iou_aware",
    say=SAY, floats="FLOAT",
    derive={"pairs": "numbers / 2", "pixels": "dim_product({h, w})", "width": "class_num + (iou_aware ? 6 : 5)",
            "wanted": "dim_product({pairs, width})"},
    rules={"factor": rule("!iou_aware || (iou_aware_factor.exact >= 0 && iou_aware_factor.exact <= 1)",
                          "iou_aware_factor: wanted >= 0 and <= 1, got {iou_aware_factor.exact}"),
           "even": rule("numbers % 2 == 0", "anchors: wanted dimension 0 to be {numbers + 1} (pairs of width and height), got "
                                            "{numbers} in {shape_text(anchors)}", wrong="anchors.0+1"),
           "of_anchors": rule("numbers_of_x == wanted", "x: wanted dimension 1 to be {wanted} (anchors times "
                              '{iou_aware ? "6" : "5"} + class_num), got {numbers_of_x} in {shape_text(x)}', wrong="x.1+1")},
    fill={"shape.anchors": "pairs"},
    smallest={"numbers": 2, "numbers_of_x": 7}, members="""
  mluopsYoloBoxShape shape;
  const void* x;
  const int32_t* img_size; /* height, width */
  const int32_t* anchors;  /* width, height */
  void* boxes;
  void* scores;
  double conf_thresh, scale;
  double iou_aware_factor;      /* in [0, 1] where iou_aware */
  int32_t downsample_ratio;     /* >= 1 */
  int32_t clip_bbox, iou_aware; /* 0 or 1 */
""")
