"""rotated_feature_align: features at the refined boxes of each pixel. A composition of torch operators, no kernel of
the library."""

import torch
from torch import Tensor

from ..._errors import bad_param
from ..._shapes import expect, rank
from .._sampled import sums
from .._tensors import floats

__all__ = ["rotated_feature_align"]


def _moved(box: Tensor, points: int) -> Tensor:
    """y and x [2, points, P] of the centre and, of five points, the corners."""
    y, x, width, height, angle = box.unbind(1)
    if points == 1:
        return torch.stack([y, x])[:, None]
    cos, sin = angle.cos(), angle.sin()
    wx, wy, hx, hy = cos * width / 2, sin * width / 2, -sin * height / 2, cos * height / 2
    return torch.stack([torch.stack([y, y + wy + hy, y - wy + hy, y - wy - hy, y + wy - hy]),
                        torch.stack([x, x + wx + hx, x - wx + hx, x - wx - hx, x + wx - hx])])


def rotated_feature_align(features: Tensor, best_rbboxes: Tensor, spatial_scale: float = 1 / 8,
                          points: int = 1) -> Tensor:
    """Adds to each pixel the features at its box. Composed of torch operators.

    Args:
        features: T [N, C, H, W].
        best_rbboxes: T [N, H, W, 5]; y and x of the centre, w, h, angle in radians.
        spatial_scale: centres and sizes are scaled by it.
        points: 1: the centre; 5: the corners too.
    Returns: T [N, C, H, W]: the features and the sum of their bilinear samples at the points. Differentiable in
    features.

    T: float16, bfloat16, float32, float64, mixed dtypes are promoted; halves are computed in float.
    Source: mmcv's rotated_feature_align.
    """
    features, boxes = floats(features=features, best_rbboxes=best_rbboxes)
    n, channels, height, width = rank("features", features.shape, 4)
    expect("best_rbboxes", boxes.shape, (n, height, width, 5), ("that of features",) * 3 + ("y, x, w, h, angle",))
    if points not in (1, 5):
        raise bad_param("points", "1 or 5", points)
    boxes = boxes.detach().reshape(-1, 5)
    boxes = boxes.float() if boxes.dtype in (torch.float16, torch.bfloat16) else boxes
    boxes = torch.cat([boxes[:, :4] * spatial_scale, boxes[:, 4:]], 1)
    y, x = _moved(boxes, points).transpose(1, 2).flatten(1)
    pixels = torch.arange(boxes.shape[0], device=features.device)
    images = torch.div(pixels, max(height * width, 1), rounding_mode="floor").repeat_interleave(points)
    found = sums(features, images, y, x, torch.ones_like(y), pixels * points)
    found = found.reshape(n, height, width, channels).permute(0, 3, 1, 2)
    return (features + found).to(features.dtype)


SMALLEST: dict = {}  # no operator of the library
