"""yolo_box: boxes and scores out of the map of a YOLO head."""

from typing import Sequence, Tuple, Union

import torch
from torch import Tensor

from ..._functions.yolo_box import YOLO_BOX as FORWARD
from .._blocks import bad_param, described, expect, floats, int32, integer

__all__ = ["yolo_box"]


def _pairs_and_channels(n, numbers, numbers_of_x, h, w, class_num, iou_aware, **_):
    if numbers < 2 or numbers % 2:
        raise bad_param("anchors", "pairs of width and height", numbers)
    each = 6 if iou_aware else 5
    expect("x", (n, numbers_of_x, h, w), (n, numbers // 2 * (each + class_num), h, w),
           ("", f"anchors times {each} + class_num", "", ""))


_forward = described("yolo_box(x, img_size, anchors, class_num, conf_thresh, downsample_ratio, clip_bbox, scale_x_y, "
                     "iou_aware, iou_aware_factor)", FORWARD, rule=_pairs_and_channels)


def yolo_box(x: Tensor, img_size: Tensor, anchors: Union[Sequence[int], Tensor], class_num: int, conf_thresh: float,
             downsample_ratio: int, clip_bbox: bool = True, scale_x_y: float = 1.0, iou_aware: bool = False,
             iou_aware_factor: float = 0.5) -> Tuple[Tensor, Tensor]:
    """The box of every anchor at every pixel of a YOLO head's map, and its scores of all classes.

    Args:
        x: T [N, C, H, W]; C = S (5 + class_num): x, y, w, h, confidence and classes of each anchor; with iou_aware S
            channels of IoUs before them.
        img_size: int32 or int64 [N, 2]: height and width of each image.
        anchors: S pairs of width and height, in pixels of the network's input.
        class_num: classes.
        conf_thresh: boxes and scores below this confidence are 0.
        downsample_ratio: pixels of the network's input to one of x.
        clip_bbox: boxes are clipped to [0, size - 1].
        scale_x_y: of the sigmoid of x and y, about its middle.
        iou_aware: the confidence is confidence^(1 - iou_aware_factor) IoU^iou_aware_factor.
        iou_aware_factor: in [0, 1].
    Returns: boxes T [N, S H W, 4]: x1, y1, x2, y2, and scores T [N, S H W, class_num]. Not differentiable.

    T: float16, bfloat16, float32, float64. Source: Redmon and Farhadi, "YOLOv3", 2018; Paddle's yolo_box; mluOpYoloBox.
    """
    x, = floats(x=x)
    sizes = int32("img_size", img_size)
    pairs = anchors if isinstance(anchors, Tensor) else torch.tensor(anchors, dtype=torch.int64, device=x.device)
    if iou_aware and not 0 <= iou_aware_factor <= 1:
        raise bad_param("iou_aware_factor", "a number in [0, 1]", iou_aware_factor)
    boxes, scores = _forward(x, sizes, int32("anchors", pairs.reshape(-1)), integer("class_num", class_num),
                             float(conf_thresh), integer("downsample_ratio", downsample_ratio), bool(clip_bbox),
                             float(scale_x_y), bool(iou_aware), float(iou_aware_factor))
    n = x.shape[0]
    return boxes.transpose(2, 3).reshape(n, -1, 4), scores.transpose(2, 3).reshape(n, -1, class_num)
