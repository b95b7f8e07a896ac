"""gpu_nms, which programs descended from py-faster-rcnn (HRNet, pose estimation) compile with Cython."""

import torch

from ...torch.op import nms as _nms

__all__ = ["gpu_nms"]

PACKAGE = "nms"
NAMES = ("gpu_nms", "*.gpu_nms")
UNLESS_FALLBACK = True


def kept(dets, thresh):
    dets = torch.as_tensor(dets)
    return _nms.kept(dets[:, :4], dets[:, 4], float(thresh), 1).tolist() if len(dets) else []


def gpu_nms(dets, thresh, device_id=0):
    """numpy boxes x1, y1, x2, y2, score [N, 5], the last pixel included: indices of those kept, best score first."""
    return kept(dets, thresh)
