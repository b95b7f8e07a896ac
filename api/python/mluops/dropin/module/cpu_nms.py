"""cpu_nms, which programs descended from py-faster-rcnn (HRNet, pose estimation) compile with Cython, beside gpu_nms."""

import torch

from ...torch._buffers import fill_first
from ...torch.op import nms as _nms
from . import gpu_nms

__all__ = ["cpu_nms", "cpu_soft_nms"]

PACKAGE = "nms"
NAMES = ("cpu_nms", "*.cpu_nms")
UNLESS_FALLBACK = True


def cpu_nms(dets, thresh):
    """numpy boxes x1, y1, x2, y2, score [N, 5], the last pixel included: indices of those kept, best score first."""
    return gpu_nms.kept(dets, thresh)


def cpu_soft_nms(boxes, sigma=0.5, Nt=0.3, threshold=0.001, method=0):
    """The first boxes of the array become those kept, with their softened scores; returns 0 to their number."""
    dets = torch.as_tensor(boxes)
    found, _ = _nms.softened(dets[:, :4].clone(), dets[:, 4].clone(), Nt, sigma, threshold, method, 1)
    fill_first("boxes", dets, found)
    return list(range(len(found)))
