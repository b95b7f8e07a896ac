"""convex_iou_cuda, convex_giou_cuda, minareabbox_cuda and minarearect of rotated detectors with sets of 9 points (CFA,
OrientedRepPoints)."""

import torch

from ...torch._tensors import floats
from ...torch.op import polygons as _ours

__all__ = ["convex_giou", "convex_iou", "minareabbox"]

PACKAGE = "mmdet"
NAMES = tuple(f"{prefix}{name}" for name in ("convex_giou_cuda", "convex_iou_cuda", "minareabbox_cuda", "minarearect")
              for prefix in ("", "*."))


def convex_iou(pred, target):
    """Points T [N, 18], quadrilaterals T [K, 8]: IoUs [N * K]."""
    return _ours.convex_iou(*floats(pred=pred, target=target)).flatten()


def convex_giou(pred, target):
    """Of pairs: the gradient of each point and the generalized IoU, [N * 19]."""
    value, gradient = _ours.convex_giou(*floats(pred=pred, target=target))
    return torch.cat([gradient, value[:, None]], 1).flatten()


def minareabbox(pred):
    """The corners of the smallest rectangles [N * 8]."""
    return _ours.min_area_polygons(*floats(pred=pred)).flatten()
