"""nms, softnms and nms_match, which return their results. A compiled mmcv has CPU code for them and keeps it."""

import sys

from ... import torch as _ours
from ...torch.filling.nms import nms, nms_match, softnms


def batched_nms(boxes, scores, idxs, nms_cfg, class_agnostic=False):
    """mmcv's Python code moves groups apart in the boxes' dtype, which rounds, and finds no greatest of no coordinate. It
    keeps what it alone knows."""
    if nms_cfg is None or nms_cfg.get("type", "nms") in ("nms", "soft_nms", "nms_rotated"):
        return _ours.batched_nms(boxes, scores, idxs, nms_cfg, class_agnostic)
    return sys.modules["mmcv.ops.nms"].batched_nms.original(boxes, scores, idxs, nms_cfg, class_agnostic)


METHODS = {("mmcv.ops.nms", "batched_nms", ""): batched_nms}
ENTRY_POINTS = (nms, softnms, nms_match)
KEEPS_OWN = ("nms", "softnms", "nms_match")
