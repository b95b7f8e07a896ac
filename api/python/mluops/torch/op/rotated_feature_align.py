"""rotated_feature_align: features at the refined boxes of each pixel."""

from torch import Tensor

from ..._functions import rotated_feature_align as f
from .._blocks import bad_param, described, floats, integer

__all__ = ["rotated_feature_align"]


def _one_or_five(points, **_):
    if points not in (1, 5):
        raise bad_param("points", "1 or 5", points)


gradient = described("rotated_feature_align_backward(grad, best_rbboxes, spatial_scale, points)",
                     f.ROTATED_FEATURE_ALIGN_BACKWARD, rule=_one_or_five)
forward = described("rotated_feature_align(features, best_rbboxes, spatial_scale, points)",
                    f.ROTATED_FEATURE_ALIGN_FORWARD, rule=_one_or_five, gradient=gradient, linear="features")


def rotated_feature_align(features: Tensor, best_rbboxes: Tensor, spatial_scale: float = 1 / 8,
                          points: int = 1) -> Tensor:
    """Adds to each pixel the features at its box.

    Args:
        features: T [N, C, H, W].
        best_rbboxes: T [N, H, W, 5]; y and x of the centre, w, h, angle in radians.
        spatial_scale: centres and sizes are scaled by it.
        points: 1: the centre; 5: the corners too.
    Returns: T [N, C, H, W]: the features and the sum of their bilinear samples at the points. Differentiable in
    features.

    T: float16, bfloat16, float32, float64, mixed dtypes are promoted; points are placed in double. NCHW and
    channels_last tensors are used where they lie; the result has the memory order of features.
    Source: mmcv's rotated_feature_align.
    """
    return forward(*floats(features=features, best_rbboxes=best_rbboxes), float(spatial_scale),
                   integer("points", points))
