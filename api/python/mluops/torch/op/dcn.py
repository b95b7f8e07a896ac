"""Deformable convolution, v1 and v2."""

import functools
import math
from typing import Any, Callable, Optional

import torch
import torch.fx
from torch import Tensor, nn
from torch.nn import functional as F

from ..._functions import dcn as f
from .._blocks import (Size, at_least, bad_param, described, floats, in_order_of, integer, linear_tangent, pair, rank,
                       renamed)

__all__ = ["DeformConv2d", "DeformConv2dPack", "ModulatedDeformConv2d", "ModulatedDeformConv2dPack", "deform_conv2d",
           "modulated_deform_conv2d", "torchvision_deform_conv2d"]


def _rules(ci, co=0, *, h, w, kernel_h, kernel_w, stride_h, stride_w, padding_h, padding_w, dilation_h, dilation_w, groups,
           deform_groups, **_):
    at_least(1, groups=groups, deform_groups=deform_groups, kernel_height=kernel_h, kernel_width=kernel_w)
    for name, least, pair_ in (("stride", 1, (stride_h, stride_w)), ("padding", 0, (padding_h, padding_w)),
                               ("dilation", 1, (dilation_h, dilation_w))):
        at_least(least, **{name: min(pair_)})
    for name, parts, channels in (("groups", groups, ci), ("groups", groups, co), ("deform_groups", deform_groups, ci)):
        if isinstance(channels, int) and channels % parts:
            raise bad_param(name, f"a divisor of {channels} channels", parts)
    for axis, size, kernel, padding, dilation in (("height", h, kernel_h, padding_h, dilation_h),
                                                  ("width", w, kernel_w, padding_w, dilation_w)):
        fits = size + 2 * padding - dilation * (kernel - 1) > 0
        if isinstance(size, int) and not fits:
            raise bad_param("weight", f"a {axis} that fits into the padded input ({size + 2 * padding})",
                            f"{kernel} with dilation {dilation}")


def _out_size(axis):
    def out_size(**sizes):
        size, kernel, stride, padding, dilation = (sizes[axis], *(sizes[f"{name}_{axis}"] for name in (
            "kernel", "stride", "padding", "dilation")))
        return (size + 2 * padding - dilation * (kernel - 1) - 1) // stride + 1

    return out_size


_NUMBERS = ", ".join(f"int {name}" for name in (
    "stride_h", "stride_w", "padding_h", "padding_w", "dilation_h", "dilation_w", "groups", "deform_groups"))
_FLOAT = 2  # MLUOP_DTYPE_FLOAT: of the sums
# im2col_step only has to divide the batch.
_DESCRIBED: dict = {"fixed": {"dimNb": 4, "im2col_step": 1, "compute_type": _FLOAT}, "rule": _rules, "sizes": {
    "padding": lambda padding_h, padding_w, **_: (padding_h, padding_h, padding_w, padding_w),
    "stride": lambda stride_h, stride_w, **_: (stride_h, stride_w),
    "dilation": lambda dilation_h, dilation_w, **_: (dilation_h, dilation_w),
    "out_h": _out_size("h"), "out_w": _out_size("w")}}

data_gradient = described(f"deform_conv2d_data_backward(grad, input, offset, mask, weight, {_NUMBERS})",
                          f.DCN_BACKWARD_DATA, **_DESCRIBED)
weight_gradient = described(
    f"deform_conv2d_weight_backward(grad, input, offset, mask, int kernel_h, int kernel_w, {_NUMBERS})",
    f.DCN_BACKWARD_WEIGHT, **_DESCRIBED)


def _along_offset(inputs, tangent):
    """Along an axis a sample is a straight line from a row of pixels to the next: its slope is their difference."""
    input, offset, mask, weight, _, *numbers = inputs
    places, steps = (each.unflatten(1, (-1, 2)) for each in (offset, tangent))
    along = 0
    for axis in (0, 1):
        step = steps[:, :, axis] if mask is None else steps[:, :, axis] * mask
        chosen = torch.arange(2, device=offset.device).eq(axis)[:, None, None]
        for sign, low in ((-1, places.floor()), (1, places.floor() + 1)):
            at = torch.where(chosen, low, places).flatten(1, 2)
            along = along + sign * forward(input, at, step, weight, None, *numbers)
    return along


def _jvp(inputs, output, tangents):
    """Linear in input, mask and weight, each with the others kept; the bias is added."""
    along = linear_tangent(forward, (*inputs[:4], None, *inputs[5:]), tangents, (0, 2, 3))
    if tangents[1] is not None:
        along = along + _along_offset(inputs, tangents[1])
    if tangents[4] is not None:
        along = along + tangents[4][:, None, None]
    return torch.zeros_like(output) + along


forward = described(f"deform_conv2d(input, offset, mask, weight, bias, {_NUMBERS})", f.DCN_FORWARD,
                    gradient=(data_gradient, weight_gradient), jvp=_jvp, **_DESCRIBED)


def _convolve(input: Tensor, offset: Tensor, mask: Optional[Tensor], weight: Tensor, bias: Optional[Tensor],
              stride: Size, padding: Size, dilation: Size, groups: int, deform_groups: int) -> Tensor:
    given = {"input": input, "offset": offset, "weight": weight}
    given.update({name: each for name, each in (("mask", mask), ("bias", bias)) if each is not None})
    tensors = dict(zip(given, floats(**given)))
    x = tensors["input"]
    o, m, w = (in_order_of(x, tensors[name]) if name in tensors else None for name in ("offset", "mask", "weight"))
    return forward(x, o, m, w, tensors.get("bias"), *pair("stride", stride), *pair("padding", padding),
                   *pair("dilation", dilation), integer("groups", groups), integer("deform_groups", deform_groups))


def _or_torchvision_s(mmcv_s: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """deform_conv2d, which passes on calls with a bias or a mask: mmcv's has neither, torchvision's has both."""

    @functools.wraps(mmcv_s)
    def call(*args: Any, **kwargs: Any) -> Tensor:
        fourth = (*args[3:4], kwargs.get("bias", False))[0]
        if fourth is None or isinstance(fourth, Tensor) or "mask" in kwargs:
            return torchvision_deform_conv2d(*args, **kwargs)
        return mmcv_s(*args, **kwargs)

    return call


@_or_torchvision_s
def deform_conv2d(input: Tensor, offset: Tensor, weight: Tensor, stride: Size = 1, padding: Size = 0,
                  dilation: Size = 1, groups: int = 1, deform_groups: int = 1, bias: bool = False,
                  im2col_step: int = 32) -> Tensor:
    """Deformable convolution v1: a convolution whose taps are bilinear samples, moved by offsets.

    Args:
        input: T [N, C, H, W]; groups and deform_groups divide C.
        offset: T [N, deform_groups * Kh * Kw * 2, Ho, Wo]: of each deformable group and tap rows, then columns.
        weight: T [O, C / groups, Kh, Kw]; groups divides O.
        stride, padding, dilation: of rows and columns, or one number for both.
        bias, im2col_step: mmcv's; bias must be False, im2col_step is without effect. A tensor or None after weight or as
            bias, and a mask, make it torchvision's call: see torchvision_deform_conv2d.
    Returns: T [N, O, Ho, Wo], Ho = (H + 2 * padding - dilation * (Kh - 1) - 1) // stride + 1, Wo likewise;
        differentiable in input, offset and weight.

    A sample is 0 from a pixel beyond the map on; pixels beyond it are 0. T: float16, bfloat16, float32, float64, mixed
    dtypes are promoted. NCHW and channels_last tensors are used where they lie; the result has the memory order of
    input. Gradients are bitwise equal for every number of threads. Order and names are mmcv's.
    Source: Dai et al., "Deformable Convolutional Networks", ICCV 2017.
    """
    if bias is not False:
        raise bad_param("bias", "False (modulated_deform_conv2d has one)", bias)
    return _convolve(input, offset, None, weight, None, stride, padding, dilation, groups, deform_groups)


def modulated_deform_conv2d(input: Tensor, offset: Tensor, mask: Tensor, weight: Tensor,
                            bias: Optional[Tensor] = None, stride: Size = 1, padding: Size = 0, dilation: Size = 1,
                            groups: int = 1, deform_groups: int = 1) -> Tensor:
    """Deformable convolution v2: deform_conv2d whose samples are weighted by a mask, and a bias.

    Args:
        input, offset, weight, stride, padding, dilation, groups, deform_groups: as in deform_conv2d.
        mask: T [N, deform_groups * Kh * Kw, Ho, Wo].
        bias: T [O].
    Returns: T [N, O, Ho, Wo], differentiable in all tensors.

    Order and names are mmcv's. Source: Zhu et al., "Deformable ConvNets v2", CVPR 2019.
    """
    return _convolve(input, offset, mask, weight, bias, stride, padding, dilation, groups, deform_groups)


def torchvision_deform_conv2d(input: Tensor, offset: Tensor, weight: Tensor, bias: Optional[Tensor] = None,
                              stride: Size = (1, 1), padding: Size = (0, 0), dilation: Size = (1, 1),
                              mask: Optional[Tensor] = None) -> Tensor:
    """torchvision.ops.deform_conv2d: both versions, with its order of arguments; numbers of groups follow from the
    shapes. Tensors and result as in modulated_deform_conv2d."""
    shapes = [(name, rank(name, tensor.shape, 4))
              for name, tensor in (("input", input), ("offset", offset), ("weight", weight))]
    (_, x), (_, o), (_, w) = shapes
    groups = x[1] // w[1] if w[1] and x[1] % w[1] == 0 else 0
    if not groups:
        raise bad_param("weight", f"channels that divide the {x[1]} of input", w[1])
    taps = 2 * w[2] * w[3]
    if not taps or o[1] % taps or not o[1]:
        raise bad_param("offset", f"a multiple of 2 * {w[2]} * {w[3]} channels", o[1])
    return _convolve(input, offset, mask, weight, bias, stride, padding, dilation, groups, o[1] // taps)


class _DeformConv2d(nn.Module):
    """The parameters of both versions."""

    def __init__(self, in_channels: int, out_channels: int, kernel_size: Size, stride: Size, padding: Size,
                 dilation: Size, groups: int, deform_groups: int) -> None:
        super().__init__()
        for name, channels in (("in_channels", in_channels), ("out_channels", out_channels)):
            if channels % groups:
                raise bad_param(name, f"a multiple of groups ({groups})", channels)
        self.in_channels, self.out_channels = in_channels, out_channels
        self.kernel_size = pair("kernel_size", kernel_size)
        self.stride = pair("stride", stride)
        self.padding = pair("padding", padding)
        self.dilation = pair("dilation", dilation)
        self.groups, self.deform_groups = groups, deform_groups
        self.transposed, self.output_padding = False, (0,)  # as nn.Conv2d has
        self.weight = nn.Parameter(torch.empty(out_channels, in_channels // groups, *self.kernel_size))

    def _numbers(self) -> tuple:
        return self.stride, self.padding, self.dilation, self.groups, self.deform_groups

    def _predictor(self, numbers: int) -> nn.Conv2d:
        """The convolution that predicts offsets (and masks); zero, so that training starts with a plain convolution."""
        layer = nn.Conv2d(self.in_channels, self.deform_groups * numbers * self.kernel_size[0] * self.kernel_size[1],
                          self.kernel_size, self.stride, self.padding, self.dilation)
        nn.init.zeros_(layer.weight)
        nn.init.zeros_(layer.bias)
        return layer

    def extra_repr(self) -> str:
        return (f"in_channels={self.in_channels}, out_channels={self.out_channels}, kernel_size={self.kernel_size}, "
                f"stride={self.stride}, padding={self.padding}, dilation={self.dilation}, groups={self.groups}, "
                f"deform_groups={self.deform_groups}")


@torch.fx.wrap  # one node of a symbolic trace, which knows no sizes
def _of_any_size(x: Tensor, offset: Tensor, weight: Tensor, numbers: tuple) -> Tensor:
    """deform_conv2d of an input that may be smaller than the filter."""
    missing = [max(kernel - size, 0) for kernel, size in zip(weight.shape[2:], x.shape[2:])]
    if not any(missing):
        return deform_conv2d(x, offset, weight, *numbers)
    more = 0, missing[1], 0, missing[0]
    out = deform_conv2d(F.pad(x, more), F.pad(offset, more), weight, *numbers)
    return out[:, :, :out.shape[2] - missing[0], :out.shape[3] - missing[1]].contiguous()


class DeformConv2d(_DeformConv2d):
    """deform_conv2d with a weight of its own; forward(x [N,C,H,W], offset). An input smaller than the filter is padded
    with zeros, as mmcv does."""

    @renamed(deformable_groups="deform_groups")
    def __init__(self, in_channels: int, out_channels: int, kernel_size: Size, stride: Size = 1, padding: Size = 0,
                 dilation: Size = 1, groups: int = 1, deform_groups: int = 1, bias: bool = False,
                 im2col_step: int = 32) -> None:
        super().__init__(in_channels, out_channels, kernel_size, stride, padding, dilation, groups, deform_groups)
        if bias:
            raise bad_param("bias", "False", bias)
        self.im2col_step = im2col_step
        self.reset_parameters()

    def reset_parameters(self) -> None:
        nn.init.kaiming_uniform_(self.weight, nonlinearity="relu")

    def forward(self, x: Tensor, offset: Tensor) -> Tensor:
        return _of_any_size(x, offset, self.weight, self._numbers())


class DeformConv2dPack(DeformConv2d):
    """DeformConv2d with the convolution that predicts its offsets; forward(x [N,C,H,W]). State dicts are mmcv's."""

    _version = 2

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.conv_offset = self._predictor(2)

    def forward(self, x: Tensor) -> Tensor:
        return super().forward(x, self.conv_offset(x))


class ModulatedDeformConv2d(_DeformConv2d):
    """modulated_deform_conv2d with weight and bias of its own; forward(x [N,C,H,W], offset, mask)."""

    @renamed(deformable_groups="deform_groups")
    def __init__(self, in_channels: int, out_channels: int, kernel_size: Size, stride: Size = 1, padding: Size = 0,
                 dilation: Size = 1, groups: int = 1, deform_groups: int = 1, bias: bool = True) -> None:
        super().__init__(in_channels, out_channels, kernel_size, stride, padding, dilation, groups, deform_groups)
        self.bias: Optional[nn.Parameter]
        self.register_parameter("bias", nn.Parameter(torch.empty(out_channels)) if bias else None)
        self.init_weights()

    def init_weights(self) -> None:
        bound = 1 / math.sqrt(self.in_channels * self.kernel_size[0] * self.kernel_size[1])
        nn.init.uniform_(self.weight, -bound, bound)
        if self.bias is not None:
            nn.init.zeros_(self.bias)

    def forward(self, x: Tensor, offset: Tensor, mask: Tensor) -> Tensor:
        return modulated_deform_conv2d(x, offset, mask, self.weight, self.bias, *self._numbers())


class ModulatedDeformConv2dPack(ModulatedDeformConv2d):
    """ModulatedDeformConv2d with the convolution that predicts its offsets and masks; forward(x [N,C,H,W]). State dicts
    are mmcv's."""

    _version = 2

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.conv_offset = self._predictor(3)

    def forward(self, x: Tensor) -> Tensor:
        predicted = self.conv_offset(x)
        split = predicted.shape[1] // 3 * 2
        return super().forward(x, predicted[:, :split], torch.sigmoid(predicted[:, split:]))
