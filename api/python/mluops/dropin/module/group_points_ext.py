"""group_points_ext of mmdet3d before 1.0."""

from .pointnet2_batch_cuda import group_points_grad_wrapper as backward
from .pointnet2_batch_cuda import group_points_wrapper as forward

__all__ = ["backward", "forward"]

PACKAGE = "mmdet3d"
NAMES = ("*.group_points_ext",)
