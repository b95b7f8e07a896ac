"""poly_nms: non-maximum suppression of quadrilaterals."""

from torch import Tensor

from ..._functions.poly_nms import POLY_NMS as NMS
from .._blocks import bad_param, described, first, floats

__all__ = ["poly_nms"]


# How many are kept is in the data: the operator returns as many as there may be, and how many there are.
_nms = described("poly_nms(dets, iou_threshold)", NMS)


def poly_nms(dets: Tensor, iou_threshold: float) -> Tensor:
    """Keeps each quadrilateral, best score first, whose IoU with every one kept before is not greater than a threshold.

    Args:
        dets: T [N, 9]; x and y of four corners, in turn either way round, and the score.
        iou_threshold: see above.
    Returns: indices int64 [K] of those kept, ascending.

    T: float16, bfloat16, float32, float64; IoUs are computed in float64. K is read from the data (docs/python.md). Source: AerialDetection's poly_nms; mluOpPolyNms.
    """
    if iou_threshold != iou_threshold:
        raise bad_param("iou_threshold", "a number", iou_threshold)
    boxes, = floats(dets=dets)
    keep, count = _nms(boxes, float(iou_threshold))
    return first(count, keep)[0].long()
