"""roi_align_rotated and riroi_align_rotated: means in the bins of rotated RoIs, and their modules. riroi_align_rotated is
roi_align_rotated and a mix of its channels by torch's operators."""

import math
import torch
from torch import Tensor, nn

from ..._functions.roi_align_rotated import ROI_ALIGN_ROTATED_BACKWARD as BACKWARD, ROI_ALIGN_ROTATED_FORWARD as FORWARD
from .._blocks import Rois, Size, bad_param, described, floats, integer, pair, rank, rois_of

__all__ = ["RiRoIAlignRotated", "RoIAlignRotated", "riroi_align_rotated", "roi_align_rotated"]


gradient = described("roi_align_rotated_backward(grad, rois, batch, height, width, sampling_ratio, spatial_scale, "
                     "aligned, clockwise)", BACKWARD)
forward = described("roi_align_rotated(input, rois, pooled_height, pooled_width, sampling_ratio, spatial_scale, "
                    "aligned, clockwise)", FORWARD, gradient=gradient, linear="input")


def roi_align_rotated(input: Tensor, rois: Rois, output_size: Size, spatial_scale: float, sampling_ratio: int = 0,
                      aligned: bool = True, clockwise: bool = False) -> Tensor:
    """Means of bilinear samples in the bins of rotated RoIs.

    Args:
        input: T [N, C, H, W].
        rois: T [R, 6]; batch index, x and y of the centre, w, h, angle in radians. A batch index outside [0, N-1] is
            refused.
        output_size: bins down and across.
        spatial_scale: RoIs are scaled by it.
        sampling_ratio: samples of a bin along each axis, at most 256; 0 and below: one for each started pixel.
        aligned: centres are moved by half a pixel; else RoIs are at least one pixel large.
        clockwise: the sense of positive angles.
    Returns: T [R, C, *output_size]; 0 of bins without samples. Differentiable in input.

    T: float16, bfloat16, float32, float64, mixed dtypes are promoted; samples are placed in double. NCHW and
    channels_last tensors are used where they lie; the result has the memory order of input.
    Source: mmcv's roi_align_rotated.
    """
    x, r = floats(input=input, rois=rois_of(input, rois, "rois", 5))
    return forward(x, r, *pair("output_size", output_size, 1), max(integer("sampling_ratio", sampling_ratio), 0),
                   float(spatial_scale), bool(aligned), bool(clockwise))


def riroi_align_rotated(features: Tensor, rois: Rois, out_size: Size, spatial_scale: float, num_samples: int = 0,
                        num_orientations: int = 8, clockwise: bool = False) -> Tensor:
    """roi_align_rotated of channels of which each num_orientations in a row are orientations: these rotate with the RoI,
    the part of a step between two of them by interpolation.

    Args:
        features: T [N, C * num_orientations, H, W].
        rois: T [R, 6]; batch index, x and y of the centre, w, h, angle in radians; at least one pixel large.
        out_size: bins down and across.
        spatial_scale: RoIs are scaled by it.
        num_samples: samples of a bin along each axis; 0: one for each started pixel.
        clockwise: the sense of positive angles for places (orientations rotate as in mmcv, whatever it says).
    Returns: T [R, C * num_orientations, *out_size]. Differentiable in features.

    T: float16, bfloat16, float32, float64, mixed dtypes are promoted; halves are rounded before they are mixed.
    Source: mmcv's riroi_align_rotated.
    """
    features, rois = floats(features=features, rois=rois_of(features, rois, "rois", 5))
    channels = rank("features", features.shape, 4)[1]
    if num_orientations < 1 or channels % num_orientations:
        raise bad_param("num_orientations", f"a divisor of the {channels} channels", num_orientations)
    bins = pair("out_size", out_size)
    found = roi_align_rotated(features, rois, bins, spatial_scale, num_samples, False, clockwise)
    steps = rois.detach()[:, 5].double() * num_orientations / (2 * math.pi)
    whole = steps.floor()
    share = (steps - whole).to(found.dtype)[:, None, None, None, None]
    orientations = torch.arange(num_orientations, device=found.device)
    at = (orientations - whole.nan_to_num(0, 0, 0).remainder(num_orientations).long()[:, None]) % num_orientations
    found = found.reshape(found.shape[0], channels // num_orientations, num_orientations, *bins)
    shape = found.shape
    near = [found.gather(2, each[:, None, :, None, None].expand(shape)) for each in (at, (at + 1) % num_orientations)]
    return (near[0] * (1 - share) + near[1] * share).reshape(shape[0], channels, *bins)


class RoIAlignRotated(nn.Module):
    """roi_align_rotated as a module: forward(input, rois)."""

    def __init__(self, output_size: Size, spatial_scale: float, sampling_ratio: int = 0, aligned: bool = True,
                 clockwise: bool = False) -> None:
        super().__init__()
        self.output_size, self.spatial_scale = pair("output_size", output_size), float(spatial_scale)
        self.sampling_ratio, self.aligned, self.clockwise = int(sampling_ratio), aligned, clockwise

    def forward(self, input: Tensor, rois: Rois) -> Tensor:
        return roi_align_rotated(input, rois, self.output_size, self.spatial_scale, self.sampling_ratio, self.aligned,
                                 self.clockwise)


class RiRoIAlignRotated(nn.Module):
    """riroi_align_rotated as a module: forward(features, rois)."""

    def __init__(self, out_size: Size, spatial_scale: float, num_samples: int = 0, num_orientations: int = 8,
                 clockwise: bool = False) -> None:
        super().__init__()
        self.out_size, self.spatial_scale, self.num_samples = out_size, float(spatial_scale), int(num_samples)
        self.num_orientations, self.clockwise = int(num_orientations), clockwise

    def forward(self, features: Tensor, rois: Rois) -> Tensor:
        return riroi_align_rotated(features, rois, self.out_size, self.spatial_scale, self.num_samples,
                                   self.num_orientations, self.clockwise)
