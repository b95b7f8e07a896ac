"""pointnet2, the package round pointnet2._ext (VoteNet, 3DETR, Mask3D), where it is not installed."""

__all__ = ["__version__"]

PACKAGE = "pointnet2_ops"
NAMES = ("pointnet2",)

__version__ = "0.0.0"
