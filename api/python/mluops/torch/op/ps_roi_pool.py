"""PSRoIPool: means of boxes in bins, every bin from channels of its own."""

import torch
from torch import Tensor, nn

from ..._arguments import Size, at_least, pair
from ..._errors import bad_param
from ..._functions.ps_roi_pool import PS_ROI_POOL_BACKWARD as BACKWARD, PS_ROI_POOL_FORWARD as FORWARD
from ..._shapes import NCHW, expect, rank
from .._operator import operator
from .._tensors import floats, new_image, run

__all__ = ["PSRoIPool", "ps_roi_pool"]


def _count(rois):
    count, _ = rank("rois", rois.shape, 2)
    expect("rois", rois.shape, (count, 5), ("", "batch index, x1, y1, x2, y2"))
    return count


def _fake(input, rois, pooled_height, pooled_width, spatial_scale):
    _, channels, _, _ = NCHW.dims("input", input.shape)
    at_least(1, output_size=min(pooled_height, pooled_width))
    if channels % (pooled_height * pooled_width):
        raise bad_param("input", f"channels that are a multiple of {pooled_height} * {pooled_width}", channels)
    return new_image((input,), (_count(rois), channels // (pooled_height * pooled_width), pooled_height, pooled_width))


def _gradient_fake(grad, rois, batch, height, width, spatial_scale):
    _, channels, pooled_height, pooled_width = NCHW.dims("grad_output", grad.shape)
    NCHW.expect("grad_output", grad.shape, (_count(rois), channels, pooled_height, pooled_width),
                ("the number of rois", "channels", "pooled_height", "pooled_width"))
    at_least(0, batch=batch, height=height, width=width)
    return new_image((grad,), (batch, channels * pooled_height * pooled_width, height, width))


gradient = operator(
    "ps_roi_pool_backward(Tensor grad, Tensor rois, SymInt batch, SymInt height, SymInt width, float spatial_scale)"
    " -> Tensor", _gradient_fake,
    lambda grad_input, grad, rois, batch, height, width, scale:
        run(BACKWARD, *grad.shape[2:], scale, grad.shape[1], grad, rois, None, grad_input))


def _setup(ctx, inputs, output):
    input, rois, _, _, ctx.scale = inputs
    ctx.sizes = input.shape[0], input.shape[2], input.shape[3]
    ctx.save_for_backward(rois)


def _backward(ctx, grad):
    return (gradient(grad, *ctx.saved_tensors, *ctx.sizes, ctx.scale), *(None,) * 4)


def _jvp(inputs, output, tangents):
    """Means are linear in input."""
    if tangents[1] is not None and tangents[1].any():
        raise RuntimeError("mluops: ps_roi_pool has no forward-mode derivative in rois")
    return torch.zeros_like(output) if tangents[0] is None else forward(tangents[0], *inputs[1:])


forward = operator(
    "ps_roi_pool(Tensor input, Tensor rois, int pooled_height, int pooled_width, float spatial_scale) -> Tensor", _fake,
    lambda output, input, rois, height, width, scale:
        run(FORWARD, height, width, scale, height, output.shape[1], input, rois, output, None),
    setup=_setup, backward=_backward, jvp=_jvp)


def ps_roi_pool(input: Tensor, rois: Tensor, output_size: Size, spatial_scale: float = 1.0) -> Tensor:
    """Cuts each box in bins and takes the mean of the pixels of each, every bin from channels of its own.

    Args:
        input: T [B, D * PH * PW, H, W]; bin i, j of output channel d is of channel (d * PH + i) * PW + j.
        rois: T [R, 5]: batch index, x1, y1, x2, y2, rounded to whole pixels of the image, the last one included. A
            batch index outside [0, B-1] is refused.
        output_size: PH, PW, or one number for both.
        spatial_scale: multiplies the corners of the boxes, above 0.
    Returns: T [R, D, PH, PW], differentiable in input; 0 for a bin without pixels.

    T: float16, bfloat16, float32, float64, mixed dtypes are promoted. NCHW and channels_last tensors are used where
    they lie; the result has the memory order of input. torchvision's rounds boxes after it has scaled them, and takes
    neither their last pixel nor the map's last row and column.
    Source: Dai et al., "R-FCN", NIPS 2016; mluOpPsRoiPoolForward.
    """
    x, r = floats(input=input, rois=rois)
    return forward(x, r, *pair("output_size", output_size), float(spatial_scale))


class PSRoIPool(nn.Module):
    """ps_roi_pool with fixed sizes; forward(input [B,D*PH*PW,H,W], rois [R,5])."""

    def __init__(self, output_size: Size, spatial_scale: float = 1.0) -> None:
        super().__init__()
        self.output_size, self.spatial_scale = pair("output_size", output_size), float(spatial_scale)

    def forward(self, input: Tensor, rois: Tensor) -> Tensor:
        return ps_roi_pool(input, rois, self.output_size, self.spatial_scale)


# For each operator its smallest call, given makers of ones and of int32 zeros: what `python -m mluops` tries.
SMALLEST = {"ps_roi_pool": lambda ones, zeros: ps_roi_pool(ones(2, 1, 2, 2), ones(1, 5), 1)}
