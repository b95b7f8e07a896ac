"""roipool3d_cuda of PointRCNN: points in boxes, x, y, z of the bottom, height, width, length and a turn round y, of a camera
that looks along z with y downwards."""

import torch

from ...torch._buffers import fill_all, room
from ...torch._tensors import floats
from ...torch.filling.points_in_boxes import points_in_boxes_cpu_forward
from ...torch.op.roipoint_pool3d import forward as _pooled

__all__ = ["forward", "pts_in_boxes3d_cpu", "roipool3d_cpu"]

PACKAGE = "pcdet"
NAMES = ("roipool3d_cuda", "*.roipool3d_cuda")


def _places(pts):
    """x, z and up."""
    return torch.stack([pts[..., 0], pts[..., 2], -pts[..., 1]], -1)


def _boxes(boxes):
    x, y, z, h, w, l, turn = boxes.unbind(-1)
    return torch.stack([x, z, -y, l, w, h, -turn], -1)


def forward(xyz, boxes3d, pts_feature, pooled_features, pooled_empty_flag):
    """Fills [B, M, S, 3 + C] and [B, M]."""
    points, boxes, features = floats(xyz=_places(xyz), boxes3d=_boxes(boxes3d), pts_feature=pts_feature)
    found, empty = _pooled(points, torch.cat([xyz.to(features.dtype), features], 2), boxes, pooled_features.shape[2])
    fill_all((found[..., 3:], empty), pooled_features=pooled_features, pooled_empty_flag=pooled_empty_flag)
    return 1


def pts_in_boxes3d_cpu(pts_flag, pts, boxes3d):
    """Fills int64 [M, N]."""
    points_in_boxes_cpu_forward(_boxes(boxes3d), _places(pts), pts_flag)
    return 1


def roipool3d_cpu(pts, boxes3d, pts_feature, pooled_pts, pooled_features, pooled_empty_flag):
    samples = pooled_pts.shape[1]
    points, boxes, features = floats(pts=_places(pts), boxes3d=_boxes(boxes3d), pts_feature=pts_feature)
    both = torch.cat([pts.to(features.dtype), features], 1)
    found, empty = _pooled(points[None], both[None], boxes[None], samples)
    room("pooled_empty_flag", pooled_empty_flag, empty[0].shape, torch.int32)
    fill_all((found[0, ..., 3:6], found[0, ..., 6:], empty[0]), pooled_pts=pooled_pts, pooled_features=pooled_features,
             pooled_empty_flag=pooled_empty_flag)
    return 1
