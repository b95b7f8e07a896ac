"""bezier_align: means in the bins between two curves; BezierAlign, the module. A composition of torch operators, no
kernel of the library."""

from typing import Tuple, Union

import torch
from torch import Tensor, nn
from torch.nn.modules.utils import _pair

from .._sampled import checked, pooled

__all__ = ["BezierAlign", "bezier_align"]

Size = Union[int, Tuple[int, int]]


def _on_curve(curve: Tensor, at: Tensor) -> Tuple[Tensor, ...]:
    """x and y on curves of four points [S, 8], at [S]."""
    back = 1 - at
    weights = torch.stack([back ** 3, 3 * at * back ** 2, 3 * at ** 2 * back, at ** 3], 1)
    return (curve.reshape(-1, 4, 2) * weights[..., None]).sum(1).unbind(1)


def bezier_align(input: Tensor, beziers: Tensor, output_size: Size, spatial_scale: float = 1.0, sampling_ratio: int = 0,
                 aligned: bool = True) -> Tensor:
    """Means of bilinear samples in bins between two cubic Bezier curves, as text recognition wants them. Composed of
    torch operators.

    Args:
        input: T [N, C, H, W].
        beziers: T [R, 17]; batch index, x and y of the upper curve's four points, then of the lower one's from right to
            left.
        output_size: bins down and across.
        spatial_scale: curves are scaled by it.
        sampling_ratio: samples of a bin along each axis; 0: one for each started pixel.
        aligned: curves are moved by half a pixel; else a region is at least one pixel large.
    Returns: T [R, C, *output_size]. Differentiable in input.

    T: float16, bfloat16, float32, float64, mixed dtypes are promoted; halves are computed in float. Samples are at most
    2^26 in all. Source: mmcv's bezier_align.
    """
    input, images, numbers = checked(input, beziers, 17, "eight points")
    corners = numbers * spatial_scale
    upper, lower = corners[:, :8], corners[:, 8:].reshape(-1, 4, 2).flip(1).reshape(-1, 8)
    width, height = torch.max((upper[:, :2] - upper[:, 6:]).abs(), (lower[:, :2] - lower[:, 6:]).abs()).clamp(
        min=0.0 if aligned else 1.0).unbind(1)
    bins, offset = _pair(output_size), 0.5 if aligned else 0.0

    def points(roi, row, column, dy, dx):
        down, across = row.to(upper.dtype) / bins[0], column.to(upper.dtype) / bins[1]
        x0, y0 = _on_curve(upper[roi], across)
        x1, y1 = _on_curve(lower[roi], across)
        return (y1 * down + y0 * (1 - down) - offset + (dy - 0.5) * (height / bins[0])[roi],
                x1 * down + x0 * (1 - down) - offset + (dx - 0.5) * (width / bins[1])[roi])

    return pooled(input, images, (height, width), bins, sampling_ratio, points)


class BezierAlign(nn.Module):
    """bezier_align as a module: forward(input, beziers)."""

    def __init__(self, output_size: Size, spatial_scale: float, sampling_ratio: int, aligned: bool = True) -> None:
        super().__init__()
        self.output_size, self.spatial_scale = _pair(output_size), float(spatial_scale)
        self.sampling_ratio, self.aligned = int(sampling_ratio), aligned

    def forward(self, input: Tensor, beziers: Tensor) -> Tensor:
        return bezier_align(input, beziers, self.output_size, self.spatial_scale, self.sampling_ratio, self.aligned)


SMALLEST: dict = {}  # no operator of the library
