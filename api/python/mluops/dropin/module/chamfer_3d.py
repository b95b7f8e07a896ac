"""chamfer_2D and chamfer_3D of ChamferDistancePytorch: chamfer's functions, whose results go into buffers."""

from . import chamfer

__all__ = ["backward", "forward"]

PACKAGE = "chamfer"
NAMES = ("chamfer_2D", "chamfer_3D")


def forward(xyz1, xyz2, dist1, dist2, idx1, idx2):
    for buffer, found in zip((dist1, dist2, idx1, idx2), chamfer.forward(xyz1, xyz2)):
        buffer.copy_(found)
    return 1


def backward(xyz1, xyz2, gradxyz1, gradxyz2, graddist1, graddist2, idx1, idx2):
    """Added to what there is."""
    for buffer, found in zip((gradxyz1, gradxyz2), chamfer.backward(xyz1, xyz2, idx1, idx2, graddist1, graddist2)):
        buffer.add_(found)
    return 1
