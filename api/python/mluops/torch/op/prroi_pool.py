"""prroi_pool: integrals of a map over the bins of RoIs; PrRoIPool, the module. A composition of torch operators, no kernel
of the library."""

from typing import Tuple, Union

import torch
from torch import Tensor, nn
from torch.nn.modules.utils import _pair

from ..._errors import bad_param
from .._sampled import checked

__all__ = ["PrRoIPool", "prroi_pool"]

Size = Union[int, Tuple[int, int]]

_AT_ONCE = 64  # RoIs, for the memory of what is half done


def _shares(low: Tensor, size: Tensor, bins: int, length: int) -> Tensor:
    """The integral over each bin of the hat of each pixel, [R, bins, length]: its antiderivative at the bins' ends."""
    ends = low[:, None] + size[:, None] * torch.arange(bins + 1, device=low.device) / bins
    away = (ends[..., None] - torch.arange(length, device=low.device)).clamp(-1, 1)
    return (away - away * away.abs() / 2).diff(dim=1)


def prroi_pool(input: Tensor, rois: Tensor, output_size: Size, spatial_scale: float = 1.0) -> Tensor:
    """Means of the bilinear surface through the pixels of a map, 0 outside of it, over the bins of RoIs: integrals, no
    samples. Composed of torch operators.

    Args:
        input: T [N, C, H, W].
        rois: T [R, 5]; batch index, x1, y1, x2, y2.
        output_size: bins down and across.
        spatial_scale: RoIs are scaled by it.
    Returns: T [R, C, *output_size]; 0 for a RoI without area. Differentiable in both, as often as one likes.

    T: float16, bfloat16, float32, float64, mixed dtypes are promoted; halves are computed in float.
    Source: Jiang et al., "Acquisition of Localization Confidence", ECCV 2018; mmcv's prroi_pool.
    """
    input, images, boxes = checked(input, rois, 5, "x1, y1, x2, y2", differentiable=True)
    down, across = _pair(output_size)
    if min(down, across) < 1:
        raise bad_param("output_size", "at least 1", (down, across))
    x, y, x_end, y_end = (boxes * spatial_scale).unbind(1)
    width, height = (x_end - x).clamp(min=0), (y_end - y).clamp(min=0)
    area = width * height / (down * across)
    flat = area == 0
    area = torch.where(flat, torch.ones_like(area), area)[:, None, None]
    of_rows = _shares(y, height, down, input.shape[2]) / area
    of_columns = _shares(x, width, across, input.shape[3]) * ~flat[:, None, None]
    wide = input.to(of_rows.dtype)
    order, found = [], [wide.new_zeros(0, wide.shape[1], down, across) + 0 * wide.sum()]
    for image, pixels in enumerate(wide.unbind(0)):
        order.append((images == image).nonzero()[:, 0])
        for some in order[-1].split(_AT_ONCE):
            found.append(torch.einsum("chw,rqw,rph->rcpq", pixels, of_columns[some], of_rows[some]))
    return torch.cat(found)[torch.cat([images.new_zeros(0), *order]).argsort()].to(input.dtype)


class PrRoIPool(nn.Module):
    """prroi_pool as a module: forward(features, rois)."""

    def __init__(self, output_size: Size, spatial_scale: float = 1.0) -> None:
        super().__init__()
        self.output_size, self.spatial_scale = _pair(output_size), float(spatial_scale)

    def forward(self, features: Tensor, rois: Tensor) -> Tensor:
        return prroi_pool(features, rois, self.output_size, self.spatial_scale)


SMALLEST: dict = {}  # no operator of the library
