"""roi_align_rotated and riroi_align_rotated: means in the bins of turned RoIs, and their modules. A composition of
torch operators, no kernel of the library."""

import math
from typing import Tuple, Union

import torch
from torch import Tensor, nn
from torch.nn.modules.utils import _pair

from ..._errors import bad_param
from .._sampled import checked, pooled

__all__ = ["RiRoIAlignRotated", "RoIAlignRotated", "riroi_align_rotated", "roi_align_rotated"]

Size = Union[int, Tuple[int, int]]


def _pooled(input: Tensor, images: Tensor, rois: Tensor, bins: Tuple[int, int], scale: float, ratio: int, offset: float,
            least: float, clockwise: bool) -> Tensor:
    x, y = (rois[:, :2] * scale - offset).unbind(1)
    width, height = (rois[:, 2:4] * scale).clamp(min=least).unbind(1)
    turn = -rois[:, 4] if clockwise else rois[:, 4]
    cos, sin = turn.cos(), turn.sin()

    def points(roi, row, column, dy, dx):
        along = (row + dy) * (height / bins[0])[roi] - height[roi] / 2
        across = (column + dx) * (width / bins[1])[roi] - width[roi] / 2
        return along * cos[roi] - across * sin[roi] + y[roi], along * sin[roi] + across * cos[roi] + x[roi]

    return pooled(input, images, (height, width), bins, ratio, points)


def roi_align_rotated(input: Tensor, rois: Tensor, output_size: Size, spatial_scale: float, sampling_ratio: int = 0,
                      aligned: bool = True, clockwise: bool = False) -> Tensor:
    """Means of bilinear samples in the bins of turned RoIs. Composed of torch operators.

    Args:
        input: T [N, C, H, W].
        rois: T [R, 6]; batch index, x and y of the centre, w, h, turn in radians.
        output_size: bins down and across.
        spatial_scale: RoIs are scaled by it.
        sampling_ratio: samples of a bin along each axis; 0: one for each started pixel.
        aligned: centres are moved by half a pixel; else RoIs are at least one pixel large.
        clockwise: the sense of positive turns.
    Returns: T [R, C, *output_size]; 0 of aligned RoIs below 0 in size. Differentiable in input.

    T: float16, bfloat16, float32, float64, mixed dtypes are promoted; halves are computed in float. Samples are at most
    2^26 in all. Source: mmcv's roi_align_rotated.
    """
    input, images, numbers = checked(input, rois, 6, "x, y, w, h, turn")
    least = -math.inf if aligned else 1.0
    return _pooled(input, images, numbers, _pair(output_size), spatial_scale, sampling_ratio, 0.5 if aligned else 0.0,
                   least, clockwise)


def riroi_align_rotated(features: Tensor, rois: Tensor, out_size: Size, spatial_scale: float, num_samples: int = 0,
                        num_orientations: int = 8, clockwise: bool = False) -> Tensor:
    """roi_align_rotated of channels of which each num_orientations in a row are orientations: these turn with the RoI,
    the part of a step between two of them by interpolation. Composed of torch operators.

    Args:
        features: T [N, C * num_orientations, H, W].
        rois: T [R, 6]; batch index, x and y of the centre, w, h, turn in radians; at least one pixel large.
        out_size: bins down and across.
        spatial_scale: RoIs are scaled by it.
        num_samples: samples of a bin along each axis; 0: one for each started pixel.
        clockwise: the sense of positive turns for places (orientations turn as in mmcv, whatever it says).
    Returns: T [R, C * num_orientations, *out_size]. Differentiable in features.

    T: float16, bfloat16, float32, float64, mixed dtypes are promoted; halves are computed in float. Samples are at most
    2^26 in all. Source: mmcv's riroi_align_rotated.
    """
    features, images, numbers = checked(features, rois, 6, "x, y, w, h, turn")
    channels = features.shape[1]
    if num_orientations < 1 or channels % num_orientations:
        raise bad_param("num_orientations", f"a divisor of the {channels} channels", num_orientations)
    bins = _pair(out_size)
    found = _pooled(features, images, numbers, bins, spatial_scale, num_samples, 0.0, 1.0, clockwise)
    steps = numbers[:, 4] * num_orientations / (2 * math.pi)
    whole = steps.floor()
    share = (steps - whole).to(found.dtype)[:, None, None, None, None]
    orientations = torch.arange(num_orientations, device=found.device)
    at = (orientations - whole.nan_to_num(0, 0, 0).remainder(num_orientations).long()[:, None]) % num_orientations
    found = found.reshape(-1, channels // num_orientations, num_orientations, *bins)
    shape = found.shape
    pair = [found.gather(2, each[:, None, :, None, None].expand(shape)) for each in (at, (at + 1) % num_orientations)]
    return (pair[0] * (1 - share) + pair[1] * share).reshape(-1, channels, *bins)


class RoIAlignRotated(nn.Module):
    """roi_align_rotated as a module: forward(input, rois)."""

    def __init__(self, output_size: Size, spatial_scale: float, sampling_ratio: int = 0, aligned: bool = True,
                 clockwise: bool = False) -> None:
        super().__init__()
        self.output_size, self.spatial_scale = _pair(output_size), float(spatial_scale)
        self.sampling_ratio, self.aligned, self.clockwise = int(sampling_ratio), aligned, clockwise

    def forward(self, input: Tensor, rois: Tensor) -> Tensor:
        return roi_align_rotated(input, rois, self.output_size, self.spatial_scale, self.sampling_ratio, self.aligned,
                                 self.clockwise)


class RiRoIAlignRotated(nn.Module):
    """riroi_align_rotated as a module: forward(features, rois)."""

    def __init__(self, out_size: Size, spatial_scale: float, num_samples: int = 0, num_orientations: int = 8,
                 clockwise: bool = False) -> None:
        super().__init__()
        self.out_size, self.spatial_scale, self.num_samples = out_size, float(spatial_scale), int(num_samples)
        self.num_orientations, self.clockwise = int(num_orientations), clockwise

    def forward(self, features: Tensor, rois: Tensor) -> Tensor:
        return riroi_align_rotated(features, rois, self.out_size, self.spatial_scale, self.num_samples,
                                   self.num_orientations, self.clockwise)


SMALLEST: dict = {}  # no operator of the library
