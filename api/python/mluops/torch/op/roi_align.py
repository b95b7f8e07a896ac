"""RoIAlign: bilinear samples of boxes, pooled in bins."""

import torch
from torch import Tensor, nn

from ..._arguments import Size, at_least, integer, pair
from ..._errors import bad_param
from ..._functions.roi_align import ROI_ALIGN_BACKWARD as BACKWARD, ROI_ALIGN_FORWARD as FORWARD
from ..._shapes import NCHW, expect, rank
from .._operator import operator
from .._tensors import floats, new_image, run

__all__ = ["RoIAlign", "roi_align"]


_MODES = {"max": 0, "avg": 1}
_MAX = 0
_POOLED = ("the number of rois", "channels", "pooled_height", "pooled_width")


def _check_rois(rois, pool_mode):
    rank("rois", rois.shape, 2)
    expect("rois", rois.shape, (rois.shape[0], 5), ("", "batch index, x1, y1, x2, y2"))
    if pool_mode not in (0, 1):
        raise bad_param("pool_mode", '"max" (0) or "avg" (1)', pool_mode)
    return rois.shape[0]


def _fake(input, rois, pooled_height, pooled_width, spatial_scale, sampling_ratio, pool_mode, aligned):
    _, channels, _, _ = NCHW.dims("input", input.shape)
    at_least(1, pooled_height=pooled_height, pooled_width=pooled_width)
    shape = _check_rois(rois, pool_mode), channels, pooled_height, pooled_width
    argmax = [new_image((input,), shape) if pool_mode == _MAX else input.new_empty(0) for _ in range(2)]
    return (new_image((input,), shape), *argmax)


def _call(outputs, input, rois, pooled_height, pooled_width, spatial_scale, sampling_ratio, pool_mode, aligned):
    output, argmax_y, argmax_x = outputs if pool_mode == _MAX else (outputs[0], None, None)
    return run(FORWARD, (pooled_height, pooled_width, sampling_ratio, spatial_scale, pool_mode, aligned), input, rois,
        output, argmax_x, argmax_y)


def _gradient_fake(grad, rois, argmax_y, argmax_x, batch, height, width, spatial_scale, sampling_ratio, pool_mode,
                   aligned):
    _, channels, pooled_height, pooled_width = NCHW.dims("grad_output", grad.shape)
    pooled = (_check_rois(rois, pool_mode), channels, pooled_height, pooled_width)
    NCHW.expect("grad_output", grad.shape, pooled, _POOLED)
    for name, argmax in (("argmax_y", argmax_y), ("argmax_x", argmax_x)):
        if pool_mode == _MAX and argmax is None:
            raise bad_param(name, "a tensor where pool_mode is max", argmax)
        if argmax is not None:
            NCHW.expect(name, argmax.shape, pooled, _POOLED)
    at_least(0, batch=batch, height=height, width=width)
    return new_image((grad,), (batch, channels, height, width))


def _gradient_call(grad_input, grad, rois, argmax_y, argmax_x, batch, height, width, spatial_scale, sampling_ratio,
                   pool_mode, aligned):
    return run(BACKWARD, grad, rois, argmax_x, argmax_y, spatial_scale, sampling_ratio, aligned, pool_mode, grad_input)


gradient = operator(
    "roi_align_backward(Tensor grad, Tensor rois, Tensor? argmax_y, Tensor? argmax_x, SymInt batch, SymInt height,"
    " SymInt width, float spatial_scale, int sampling_ratio, int pool_mode, bool aligned) -> Tensor",
    _gradient_fake, _gradient_call)


def _setup(ctx, inputs, output):
    input, rois, _, _, *ctx.numbers = inputs
    ctx.sizes = input.shape[0], input.shape[2], input.shape[3]
    ctx.mark_non_differentiable(*output[1:])
    ctx.save_for_backward(rois, *(output[1:] if ctx.numbers[2] == _MAX else ()))


def _backward(ctx, grad, *_):
    rois, *argmax = ctx.saved_tensors
    return (gradient(grad, rois, *(argmax or (None, None)), *ctx.sizes, *ctx.numbers), *(None,) * 7)


def _jvp(inputs, output, tangents):
    """Means are linear in input."""
    if inputs[6] == _MAX:
        raise RuntimeError('mluops: roi_align has no forward-mode derivative with pool_mode "max"')
    if tangents[1] is not None and tangents[1].any():
        raise RuntimeError("mluops: roi_align has no forward-mode derivative in rois")
    along = torch.zeros_like(output[0]) if tangents[0] is None else forward(tangents[0], *inputs[1:])[0]
    return along, None, None


forward = operator(
    "roi_align(Tensor input, Tensor rois, int pooled_height, int pooled_width, float spatial_scale,"
    " int sampling_ratio, int pool_mode, bool aligned) -> (Tensor, Tensor, Tensor)",
    _fake, _call, setup=_setup, backward=_backward, jvp=_jvp)


def roi_align(input: Tensor, rois: Tensor, output_size: Size, spatial_scale: float = 1.0, sampling_ratio: int = 0,
              pool_mode: str = "avg", aligned: bool = True) -> Tensor:
    """Cuts each box in bins and pools bilinear samples of the input in each.

    Args:
        input: T [B, C, H, W].
        rois: T [R, 5]: batch index, x1, y1, x2, y2. A batch index outside [0, B-1] is refused.
        output_size: PH, PW, or one number for both.
        spatial_scale: multiplies the corners of the boxes.
        sampling_ratio: samples per axis and bin; <= 0 means ceil(box size / bins).
        pool_mode: "avg": a bin is the mean of its samples; "max": the greatest of them.
        aligned: True: half a pixel is subtracted from the scaled corners; False: it is not, and boxes are at least one
            pixel wide and high.
    Returns: T [R, C, PH, PW], differentiable in input.

    T: float16, bfloat16, float32, float64, mixed dtypes are promoted. NCHW and channels_last tensors are used where
    they lie; the result has the memory order of input.
    Source: He et al., "Mask R-CNN", ICCV 2017; mmcv's roi_align.
    """
    x, r = floats(input=input, rois=rois)
    if pool_mode not in _MODES:
        raise bad_param("pool_mode", '"avg" or "max"', pool_mode)
    return forward(x, r, *pair("output_size", output_size), float(spatial_scale),
                   integer("sampling_ratio", sampling_ratio), _MODES[pool_mode], bool(aligned))[0]


class RoIAlign(nn.Module):
    """mluops.torch.roi_align with fixed sizes; forward(input [B,C,H,W], rois [R,5]). use_torchvision is mmcv's and
    without effect."""

    def __init__(self, output_size: Size, spatial_scale: float = 1.0, sampling_ratio: int = 0,
                 pool_mode: str = "avg", aligned: bool = True, use_torchvision: bool = False) -> None:
        super().__init__()
        self.output_size = pair("output_size", output_size)
        self.spatial_scale = float(spatial_scale)
        self.sampling_ratio = int(sampling_ratio)
        self.pool_mode = pool_mode
        self.aligned = aligned
        self.use_torchvision = use_torchvision

    def forward(self, input: Tensor, rois: Tensor) -> Tensor:
        return roi_align(input, rois, self.output_size, self.spatial_scale, self.sampling_ratio, self.pool_mode,
                         self.aligned)

    def extra_repr(self) -> str:
        return (f"output_size={self.output_size}, spatial_scale={self.spatial_scale}, "
                f"sampling_ratio={self.sampling_ratio}, pool_mode={self.pool_mode}, aligned={self.aligned}")


# For each operator its smallest call, given makers of ones and of int32 zeros: what `python -m mluops` tries.
SMALLEST = {"roi_align": lambda ones, zeros: roi_align(ones(2, 1, 2, 2), ones(1, 5), 1)}
