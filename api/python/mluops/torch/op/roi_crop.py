"""roi_crop: bilinear samples of images at the points of grids, several grids an image."""

import torch
from torch import Tensor

from ..._arguments import at_least
from ..._errors import bad_param
from ..._functions.roi_crop import ROI_CROP_BACKWARD as BACKWARD, ROI_CROP_FORWARD as FORWARD
from ..._shapes import NCHW, expect, rank
from .._operator import operator
from .._tensors import floats, new_image, run

__all__ = ["roi_crop"]


def _check_grid(grid, batch):
    grids, height, width, _ = rank("grid", grid.shape, 4)
    expect("grid", grid.shape, (grids, height, width, 2), ("", "", "", "y, x"))
    if batch == 0 and grids != 0 or batch != 0 and grids % batch:
        raise bad_param("grid", f"a multiple of the {batch} images", tuple(grid.shape))
    return grids, height, width


def _fake(input, grid):
    batch, channels, _, _ = NCHW.dims("input", input.shape)
    grids, height, width = _check_grid(grid, batch)
    return new_image((input,), (grids, channels, height, width))


def _gradient_fake(grad, grid, batch, height, width):
    _, channels, rows, columns = NCHW.dims("grad_output", grad.shape)
    at_least(0, batch=batch, height=height, width=width)
    grids, down, across = _check_grid(grid, batch)
    NCHW.expect("grad_output", grad.shape, (grids, channels, down, across),
                ("the number of grids", "channels", "the height of a grid", "the width of a grid"))
    return new_image((grad,), (batch, channels, height, width))


gradient = operator("roi_crop_backward(Tensor grad, Tensor grid, SymInt batch, SymInt height, SymInt width) -> Tensor",
                    _gradient_fake,
                    lambda grad_input, grad, grid, *sizes: run(BACKWARD, grad, grid, grad_input))


def _setup(ctx, inputs, output):
    ctx.sizes = inputs[0].shape[0], inputs[0].shape[2], inputs[0].shape[3]
    ctx.save_for_backward(inputs[1])


def _backward(ctx, grad):
    return gradient(grad, *ctx.saved_tensors, *ctx.sizes), None


def _jvp(inputs, output, tangents):
    """Samples are linear in input."""
    if tangents[1] is not None and tangents[1].any():
        raise RuntimeError("mluops: roi_crop has no forward-mode derivative in grid")
    return torch.zeros_like(output) if tangents[0] is None else forward(tangents[0], inputs[1])


forward = operator("roi_crop(Tensor input, Tensor grid) -> Tensor", _fake,
                   lambda output, input, grid: run(FORWARD, input, grid, output), setup=_setup, backward=_backward,
                   jvp=_jvp)


def roi_crop(input: Tensor, grid: Tensor) -> Tensor:
    """Bilinear samples of images at the points of grids; pixels outside count 0.

    Args:
        input: T [B, C, H, W].
        grid: T [G, OH, OW, 2]: y, x of each point, from -1, the first pixel, to 1, the last. G is a multiple of B: the
            first G / B grids sample the first image.
    Returns: T [G, C, OH, OW], differentiable in input. With G = B what torch's grid_sample gives for grid.flip(-1) and
    align_corners.

    T: float16, bfloat16, float32, float64, mixed dtypes are promoted. NCHW and channels_last tensors are used where
    they lie; the result has the memory order of input.
    Source: Jaderberg et al., "Spatial Transformer Networks", NIPS 2015; mluOpRoiCropForward.
    """
    return forward(*floats(input=input, grid=grid))


# For each operator its smallest call, given makers of ones and of int32 zeros: what `python -m mluops` tries.
SMALLEST = {"roi_crop": lambda ones, zeros: roi_crop(ones(1, 1, 2, 2), ones(1, 1, 1, 2))}
