"""chamfer_2D, chamfer_3D and chamfer_5D of ChamferDistancePytorch: chamfer's functions, whose results go into buffers."""

from ...torch._buffers import add_all, fill_all
from . import chamfer

__all__ = ["backward", "forward"]

PACKAGE = "chamfer"
NAMES = tuple(f"{prefix}chamfer_{axes}D" for axes in (2, 3, 5) for prefix in ("", "*.")) + ("chamfer_2d", "*.chamfer_2d")
BUILT = ("chamfer_2D", "chamfer_3D", "chamfer_5D", "chamfer2D", "chamfer3D", "chamfer5D")


def forward(xyz1, xyz2, dist1, dist2, idx1, idx2):
    fill_all(chamfer.forward(xyz1, xyz2), dist1=dist1, dist2=dist2, idx1=idx1, idx2=idx2)
    return 1


def backward(xyz1, xyz2, gradxyz1, gradxyz2, graddist1, graddist2, idx1, idx2):
    """Added to what there is."""
    found = chamfer.backward(xyz1, xyz2, idx1, idx2, graddist1, graddist2)
    add_all(found, gradxyz1=gradxyz1, gradxyz2=gradxyz2)
    return 1
