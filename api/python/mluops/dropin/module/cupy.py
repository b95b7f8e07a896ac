"""cupy of programs that keep CUDA kernels as texts: correlations of PWC-Net and LiteFlowNet, softmax splatting, windows under
weights of each pixel's own, by the kernels' names. A kernel is given addresses; its tensors are the caller's variables there."""

import functools
import sys

import torch
from torch.nn import functional

from ...torch._buffers import fill, filling, write
from ...torch.filling.pixels import gradients, moved, sampled, scattered
from ...torch.op.correlation import forward as _correlation, gradient as _correlation_gradient
from .._cupy_windows import KERNELS as _OF_TEXT  # which are given their text too

__all__ = ["RawKernel", "RawModule", "_util", "cuda", "float32", "generic", "int32", "memoize", "ndarray", "util"]

PACKAGE = "cupy"
NAMES = ("cupy",)
UNLESS_FALLBACK = True


# ---- correlations; images lie in rbot0 and rbot1 as T [N, H + 2 pad, W + 2 pad, C]


def _rearranged(n, input, output):
    pad = (output.shape[1] - input.shape[2]) // 2
    fill("output", output, functional.pad(input.permute(0, 2, 3, 1), (0, 0, pad, pad, pad, pad)))


def _numbers(rbot0, products):
    """How far images are padded, and the numbers of the operator. LiteFlowNet's has strides."""
    radius = int(products.shape[1] ** 0.5) // 2
    steps = [step for step in (1, 2, 4) if all(-(-(padded - 2 * radius * step) // step) == size
                                               for padded, size in zip(rbot0.shape[1:3], products.shape[2:]))]
    step = steps[0]
    return radius * step, (1, 1, radius, step, step, 0, 0, 1, 1, step, step)


def _images(pad, *rearranged):
    return [each[:, pad:each.shape[1] - pad, pad:each.shape[2] - pad].permute(0, 3, 1, 2).contiguous()
            for each in rearranged]


def _products(n, rbot0, rbot1, top):
    pad, numbers = _numbers(rbot0, top)
    fill("top", top, _correlation(*_images(pad, rbot0, rbot1), *numbers).flatten(1, 2) / rbot0.shape[3])


def _products_gradient(n, sample, rbot0, rbot1, grad, grad_one, grad_two):
    pad, numbers = _numbers(rbot0, grad)
    one, two = _images(pad, rbot0[sample:sample + 1], rbot1[sample:sample + 1])
    patch = 2 * numbers[2] + 1
    found = _correlation_gradient(grad[sample:sample + 1].unflatten(1, (patch, patch)) / one.shape[1], one, two, *numbers)
    write(*(filling("gradient", buffer[sample:sample + 1], values) for buffer, values in zip((grad_one, grad_two), found)
            if buffer is not None))


# ---- softmax splatting: each pixel is added where the flow leads


def _splat(n, input, flow, output):
    fill("output", output, scattered(input, input, *moved(flow), "zeros"))


def _splat_gradient(n, input, flow, grad, grad_input, grad_flow):
    places = moved(flow)
    writes = [] if grad_input is None else [filling("grad_input", grad_input, sampled(grad, *places, "zeros"))]
    if grad_flow is not None:
        _, by_y, by_x = gradients(input, grad, *places, "zeros", of_image=False)
        writes.append(filling("grad_flow", grad_flow, torch.stack([by_x, by_y], 1)))
    write(*writes)


_KERNELS = {"kernel_Correlation_rearrange": _rearranged, "kernel_Correlation_updateOutput": _products,
            "kernel_Softsplat_updateOutput": _splat, "softsplat_out": _splat,
            **{f"kernel_Correlation_updateGrad{name}": _products_gradient for name in ("One", "Two", "First", "Second")},
            **{name: _splat_gradient for name in ("kernel_Softsplat_updateGradInput", "kernel_Softsplat_updateGradFlow",
                                                  "softsplat_ingrad", "softsplat_flowgrad")}}


# ---- what programs use of cupy


class RawKernel:
    """A kernel by its name: kernel(grid, block, args)."""

    def __init__(self, code, name, options=(), *args, **kwargs):
        self.name, self._code = name, code

    def _ours(self):
        if self.name in _OF_TEXT:
            return functools.partial(_OF_TEXT[self.name], self._code)
        if self.name in _KERNELS:
            return _KERNELS[self.name]
        raise NotImplementedError(f"cupy is not installed, and mluops has no operator for the kernel {self.name}; it has "
                                  f"{', '.join(sorted({**_KERNELS, **_OF_TEXT}))}")

    def __call__(self, grid, block, args, *rest, **kwargs):
        ours = self._ours()
        variables = sys._getframe(1).f_locals.values()
        by_address = {each.data_ptr(): each.detach() for each in variables if isinstance(each, torch.Tensor)}
        with torch.no_grad():
            ours(*(by_address.get(each, each) for each in args))


class RawModule:
    def __init__(self, code="", *args, **kwargs):
        self._code = code

    def get_function(self, name):
        return RawKernel(self._code, name)


def memoize(for_each_device=False):
    """What it makes counts as ours: functions that call it refuse CPU tensors (_is_cuda.py)."""
    def remembering(function):
        made = functools.lru_cache(maxsize=None)(function)
        made.__module__ = __name__
        return made

    return remembering


class cuda:  # noqa: N801, a module of cupy
    @staticmethod
    def compile_with_cache(source, *args, **kwargs):
        return RawModule(source)

    @staticmethod
    def get_cuda_path():
        return ""


class util:  # noqa: N801, a module of cupy
    memoize = staticmethod(memoize)


_util = util

int32, float32 = int, float


class generic:  # noqa: N801; packages that know many arrays ask whether a value is one of cupy's
    pass


class ndarray(generic):  # noqa: N801
    pass
