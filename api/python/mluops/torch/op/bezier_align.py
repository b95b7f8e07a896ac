"""bezier_align: means in the bins between two curves; BezierAlign, the module."""

import torch
from torch import Tensor, nn

from ..._arguments import Size, at_least, integer, pair
from ..._functions.bezier_align import BEZIER_ALIGN_BACKWARD as BACKWARD, BEZIER_ALIGN_FORWARD as FORWARD
from ..._shapes import NCHW, expect, rank
from .._operator import operator
from .._tensors import floats, new_image, run

__all__ = ["BezierAlign", "bezier_align"]


def _count(beziers, sampling_ratio):
    count, _ = rank("beziers", beziers.shape, 2)
    expect("beziers", beziers.shape, (count, 17), ("", "batch index, x and y of eight points"))
    at_least(0, sampling_ratio=sampling_ratio)
    return count


def _fake(input, beziers, pooled_height, pooled_width, spatial_scale, sampling_ratio, aligned):
    _, channels, _, _ = NCHW.dims("input", input.shape)
    at_least(1, output_size=min(pooled_height, pooled_width))
    return new_image((input,), (_count(beziers, sampling_ratio), channels, pooled_height, pooled_width))


def _gradient_fake(grad, beziers, batch, height, width, spatial_scale, sampling_ratio, aligned):
    _, channels, pooled_height, pooled_width = NCHW.dims("grad_output", grad.shape)
    NCHW.expect("grad_output", grad.shape, (_count(beziers, sampling_ratio), channels, pooled_height, pooled_width),
                ("the number of beziers", "channels", "pooled_height", "pooled_width"))
    at_least(0, batch=batch, height=height, width=width)
    return new_image((grad,), (batch, channels, height, width))


gradient = operator(
    "bezier_align_backward(Tensor grad, Tensor beziers, SymInt batch, SymInt height, SymInt width, float spatial_scale,"
    " int sampling_ratio, bool aligned) -> Tensor", _gradient_fake,
    lambda grad_input, grad, beziers, batch, height, width, *numbers:
        run(BACKWARD, grad, beziers, *numbers, grad_input))


def _setup(ctx, inputs, output):
    input, beziers, _, _, *ctx.numbers = inputs
    ctx.sizes = input.shape[0], input.shape[2], input.shape[3]
    ctx.save_for_backward(beziers)


def _backward(ctx, grad):
    return (gradient(grad, *ctx.saved_tensors, *ctx.sizes, *ctx.numbers), *(None,) * 6)


def _jvp(inputs, output, tangents):
    """Means are linear in input."""
    if tangents[1] is not None and tangents[1].any():
        raise RuntimeError("mluops: bezier_align has no forward-mode derivative in beziers")
    return torch.zeros_like(output) if tangents[0] is None else forward(tangents[0], *inputs[1:])


forward = operator(
    "bezier_align(Tensor input, Tensor beziers, int pooled_height, int pooled_width, float spatial_scale,"
    " int sampling_ratio, bool aligned) -> Tensor",
    _fake, lambda output, input, beziers, pooled_height, pooled_width, *numbers:
        run(FORWARD, input, beziers, *numbers, output), setup=_setup, backward=_backward, jvp=_jvp)


def bezier_align(input: Tensor, beziers: Tensor, output_size: Size, spatial_scale: float = 1.0, sampling_ratio: int = 0,
                 aligned: bool = True) -> Tensor:
    """Means of bilinear samples in bins between two cubic Bezier curves, as text recognition wants them.

    Args:
        input: T [N, C, H, W].
        beziers: T [R, 17]; batch index, x and y of the upper curve's four points, then of the lower one's from right to
            left. A batch index outside [0, N-1] is refused.
        output_size: bins down and across.
        spatial_scale: curves are scaled by it.
        sampling_ratio: samples of a bin along each axis, at most 256; 0 and below: one for each started pixel.
        aligned: curves are moved by half a pixel; else a region is at least one pixel large.
    Returns: T [R, C, *output_size]; 0 of bins without samples. Differentiable in input.

    T: float16, bfloat16, float32, float64, mixed dtypes are promoted; samples are placed in double. NCHW and
    channels_last tensors are used where they lie; the result has the memory order of input.
    Source: mmcv's bezier_align.
    """
    x, b = floats(input=input, beziers=beziers)
    return forward(x, b, *pair("output_size", output_size), float(spatial_scale),
                   max(integer("sampling_ratio", sampling_ratio), 0), bool(aligned))


class BezierAlign(nn.Module):
    """bezier_align as a module: forward(input, beziers)."""

    def __init__(self, output_size: Size, spatial_scale: float, sampling_ratio: int, aligned: bool = True) -> None:
        super().__init__()
        self.output_size, self.spatial_scale = pair("output_size", output_size), float(spatial_scale)
        self.sampling_ratio, self.aligned = int(sampling_ratio), aligned

    def forward(self, input: Tensor, beziers: Tensor) -> Tensor:
        return bezier_align(input, beziers, self.output_size, self.spatial_scale, self.sampling_ratio, self.aligned)


# For each operator its smallest call, given makers of ones and of int32 zeros: what `python -m mluops` tries.
SMALLEST = {"bezier_align": lambda ones, zeros: bezier_align(ones(2, 1, 2, 2), ones(1, 17), 1, 1.0)}
