"""roiaware_pool3d_cuda of OpenPCDet. Its boxes stand round their centre, those of mluops.torch on their bottom."""

from ...torch.filling.points_in_boxes import points_in_boxes_cpu_forward, points_in_boxes_part_forward
from ...torch.filling.roiaware_pool3d import roiaware_pool3d_backward, roiaware_pool3d_forward

__all__ = ["backward", "forward", "points_in_boxes_cpu", "points_in_boxes_gpu"]

PACKAGE = "pcdet"
NAMES = ("roiaware_pool3d_cuda", "*.roiaware_pool3d_cuda")

_WIDER = 2 * (1e-2 - 1e-5)  # the CPU function's margin is that much more than the operator's, on both sides


def from_centre(boxes, wider=0.0):
    """Boxes on their bottom, from boxes round their centre."""
    moved = boxes.clone()
    moved[..., 2] -= moved[..., 5] / 2
    moved[..., 3:5] += wider
    return moved


def forward(rois, pts, pts_feature, argmax, pts_idx_of_voxels, pooled_features, pool_method):
    roiaware_pool3d_forward(from_centre(rois), pts, pts_feature, argmax, pts_idx_of_voxels, pooled_features,
                            pool_method)
    return 1


def backward(pts_idx_of_voxels, argmax, grad_out, grad_in, pool_method):
    roiaware_pool3d_backward(pts_idx_of_voxels, argmax, grad_out, grad_in, pool_method)
    return 1


def points_in_boxes_gpu(boxes, pts, box_idx_of_points):
    points_in_boxes_part_forward(from_centre(boxes), pts, box_idx_of_points)
    return 1


def points_in_boxes_cpu(boxes, pts, pts_indices):
    points_in_boxes_cpu_forward(from_centre(boxes, _WIDER), pts, pts_indices)
    return 1
