"""roipoint_pool3d_cuda of OpenPCDet. Its boxes stand round their centre, those of mluops.torch on their bottom."""

from ...torch.filling.roipoint_pool3d import roipoint_pool3d_forward
from .roiaware_pool3d_cuda import from_centre

__all__ = ["forward"]

PACKAGE = "pcdet"
NAMES = ("roipoint_pool3d_cuda", "*.roipoint_pool3d_cuda")


def forward(xyz, boxes3d, pts_feature, pooled_features, pooled_empty_flag):
    roipoint_pool3d_forward(xyz, from_centre(boxes3d), pts_feature, pooled_features, pooled_empty_flag)
    return 1
