"""pointnet2_ops, the package, where it is not installed; its modules are in pointnet2_ops.pointnet2_utils."""

__all__ = ["__version__"]

PACKAGE = "pointnet2_ops"
NAMES = ("pointnet2_ops",)

__version__ = "3.0.0"
