"""nms_cpu, nms_cuda and nms_ext of mmdet 1 and 2.0: suppression of boxes x1, y1, x2, y2, score."""

import torch

from .._versions import mmdet_is_new
from ...torch.op import nms as _nms

__all__ = ["nms", "nms_match", "soft_nms"]

PACKAGE = "mmdet"
NAMES = tuple(f"{prefix}{name}" for name in ("nms_cpu", "nms_cuda", "nms_ext", "soft_nms_cpu") for prefix in ("", "*."))


def _offset():
    """mmdet 1 counts the last pixel in."""
    return 0 if mmdet_is_new() else 1


def nms(dets, iou_threshold):
    """Indices int64, in increasing order."""
    if dets.numel() == 0:
        return torch.empty(0, dtype=torch.int64)
    return _nms.kept(dets[:, :4], dets[:, 4], iou_threshold, _offset()).sort()[0]


def soft_nms(dets, iou_threshold, method, sigma, min_score):
    """Boxes and softened scores [K, 5], and after them the indices, as [K, 6]."""
    found, indices = _nms.softened(dets[:, :4], dets[:, 4], iou_threshold, sigma, min_score, method, _offset())
    return torch.cat([found, indices[:, None].to(found.dtype)], 1)


def soft_nms_cpu(dets, iou_thr, method=1, sigma=0.5, min_score=0.001):
    """numpy arrays: boxes and softened scores [K, 5], indices [K]."""
    found, indices = _nms.softened(torch.as_tensor(dets)[:, :4], torch.as_tensor(dets)[:, 4], iou_thr, sigma, min_score,
                                   method, 1)
    return found.numpy(), indices.numpy()


def nms_match(dets, iou_threshold):
    return [group.tolist() for group in _nms.nms_match(dets, iou_threshold)]


__all__ += ["soft_nms_cpu"]
