"""roiaware_pool3d_ext of mmdet3d before 1.0. Its boxes are x, y, z of the bottom, width, length, height and a turn of a quarter
more than ours, the other way round."""

import math

import torch

from ...torch.filling.points_in_boxes import (points_in_boxes_all_forward, points_in_boxes_cpu_forward,
                                              points_in_boxes_part_forward)
from ...torch.filling.roiaware_pool3d import roiaware_pool3d_backward, roiaware_pool3d_forward

__all__ = ["backward", "forward", "points_in_boxes_batch", "points_in_boxes_cpu", "points_in_boxes_gpu"]

PACKAGE = "mmdet3d"
NAMES = ("roiaware_pool3d_ext", "*.roiaware_pool3d_ext")


def _ours(boxes):
    turn = -(boxes[..., 6:7] + math.pi / 2)
    return torch.cat([boxes[..., :3], boxes[..., 4:5], boxes[..., 3:4], boxes[..., 5:6], turn], -1)


def forward(rois, pts, pts_feature, argmax, pts_idx_of_voxels, pooled_features, pool_method):
    roiaware_pool3d_forward(_ours(rois), pts, pts_feature, argmax, pts_idx_of_voxels, pooled_features, pool_method)
    return 1


def backward(pts_idx_of_voxels, argmax, grad_out, grad_in, pool_method):
    roiaware_pool3d_backward(pts_idx_of_voxels, argmax, grad_out, grad_in, pool_method)
    return 1


def points_in_boxes_gpu(boxes, pts, box_idx_of_points):
    """The first box of each point, -1 where there is none: [B, M]."""
    points_in_boxes_part_forward(_ours(boxes), pts, box_idx_of_points)
    return 1


def points_in_boxes_batch(boxes, pts, box_idx_of_points):
    """1 where a point is in a box: [B, M, T]."""
    points_in_boxes_all_forward(_ours(boxes), pts, box_idx_of_points)
    return 1


def points_in_boxes_cpu(boxes, pts, pts_indices):
    """1 where a point is in a box: [T, M]."""
    points_in_boxes_cpu_forward(_ours(boxes), pts, pts_indices)
    return 1
