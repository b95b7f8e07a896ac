"""Kernels per pixel that programs keep as texts for cupy: involution, aggregation and subtraction of self-attention networks
(SAN, CoTNet), separable filters (sepconv). A kernel's text tells strides, padding and dilation, the tensors the rest."""

import re
from functools import partial

import torch

from ..torch._buffers import fill
from ..torch.op.carafe import forward as _carafe
from . import _windows
from ._windows import Window

_READS = r"{0}_in\s*=\s*-\s*(?P<pad>\d+)\s*\+\s*{0}\s*\*\s*(?P<step>\d+)\s*\+\s*k{0}\s*\*\s*(?P<apart>\d+)"
_ADDS = r"{0}_out_s\s*=\s*{0}\s*(?:\+\s*(?P<pad>\d+)\s*)?-\s*k{0}\s*\*\s*(?P<apart>\d+)(?s:.*?){0}_out_s\s*%\s*(?P<step>\d+)"
_SKIPS = r"\b{0}\s*%\s*(\d+)"
_LOOPS = r"k{0}\s*<\s*(\d+)"


def _found(code, *patterns):
    found = next(filter(None, (re.search(each, code) for each in patterns)), None)
    if found is None:
        raise NotImplementedError("mluops.dropin: this kernel's text differs from that of the programs known by its name")
    return found


def _axis(code, name):
    """Stride, padding, dilation."""
    found = _found(code, _READS.format(name), _ADDS.format(name))
    return int(found["step"]), int(found["pad"] or 0), int(found["apart"])


def _window(code, kernel=None):
    kernel = kernel or tuple(int(_found(code, _LOOPS.format(name))[1]) for name in "hw")
    return Window(kernel, *zip(*(_axis(code, name) for name in "hw")))


class _Shared:
    """Weights that several channels share: those side by side (involution, axis 2), or those that lie a period apart (SAN,
    axis 1). Weights T [N, G, K, h, w] as the programs keep them, in whatever shape."""

    def __init__(self, axis, mode="constant"):
        self._axis, self._mode = axis, mode

    def _apart(self, image, groups):
        return image.unflatten(1, (groups, -1) if self._axis == 2 else (-1, groups))

    def _window(self, code, weight):
        return _window(code, tuple(weight.shape[2:4]) if self._axis == 2 else None)

    def _taps(self, weight, window, output):
        return weight.view(len(weight), -1, window.kernel[0] * window.kernel[1], *output.shape[2:])

    def _is_carafe(self, image, groups, window):
        """Whether it is CARAFE without upsampling, which takes half the time if enough channels share a weight."""
        (rows, columns), middle = window.kernel, window.kernel[0] // 2
        return self._axis == 2 and image.shape[1] >= 4 * groups and rows % 2 == 1 and \
            window == Window((rows, rows), padding=(middle, middle))

    def forward(self, code, image, weight, output):
        window = self._window(code, weight)
        taps = self._taps(weight, window, output)
        groups = taps.shape[1]
        if self._is_carafe(image, groups, window):
            made = _carafe(image, taps.flatten(1, 2), window.kernel[0], groups, 1)
        else:
            seen = self._apart(_windows.padded(image, window, self._mode), groups)
            made = _windows.sums(seen, lambda k: taps[:, :, k].unsqueeze(self._axis), window, output.shape[2:]).flatten(1, 2)
        fill("output", output, made)

    def to_image(self, code, grad, weight, of_image):
        window = self._window(code, weight)
        taps = self._taps(weight, window, grad)
        made = _windows.to_image(self._apart(grad, taps.shape[1]), lambda k: taps[:, :, k].unsqueeze(self._axis), window,
                                 _windows.padded_size(of_image, window))
        fill("of_image", of_image, _windows.inside(made, window).flatten(1, 2))

    def to_weight(self, code, grad, image, of_weight):
        window = self._window(code, of_weight)
        made = self._taps(torch.empty_like(of_weight), window, grad)
        seen = self._apart(_windows.padded(image, window, self._mode), made.shape[1])
        for k, values in enumerate(_windows.to_weights(self._apart(grad, made.shape[1]), seen, window)):
            made[:, :, k] = values.sum(self._axis)
        fill("of_weight", of_weight, made.view(of_weight.shape))


class _Differences:
    """The middle of each pixel's window, in one image, less each of its taps, in the same or another: T [N, C, K, h * w]."""

    def __init__(self, mode):
        self._mode = mode

    @staticmethod
    def _middle(seen):
        return seen[len(seen) // 2]

    @staticmethod
    def _seen(padded_image, window, pixels):
        size = [(padded - (k - 1) * apart - 1) // step + 1
                for padded, k, step, _, apart in zip(padded_image.shape[2:], *window)]
        if size[0] * size[1] != pixels:
            raise ValueError(f"output: wanted {size[0]} x {size[1]} pixels, got {pixels}")
        return list(_windows.taps(padded_image, window, size))

    def forward(self, code, *tensors):
        *images, output = tensors
        window = _window(code)
        seen = [self._seen(_windows.padded(image, window, self._mode), window, output.shape[3]) for image in images]
        fill("output", output, torch.stack([(self._middle(seen[0]) - each).flatten(2) for each in seen[-1]], 2))

    def _to_middles(self, code, grad, of_image):
        made = torch.zeros_like(of_image)
        to = made[:, :, ::int(_found(code, _SKIPS.format("h"))[1]), ::int(_found(code, _SKIPS.format("w"))[1])]
        to.copy_(grad.sum(2).view(to.shape))
        fill("of_image", of_image, made)

    def _to_taps(self, code, grad, of_image, and_middle=False):
        window = _window(code)
        made = of_image.new_zeros(*of_image.shape[:2], *_windows.padded_size(of_image, window))
        seen = self._seen(made, window, grad.shape[3])
        for k, to in enumerate(seen):
            to -= grad[:, :, k].view(to.shape)
        if and_middle:
            to = self._middle(seen)
            to += grad.sum(2).view(to.shape)
        fill("of_image", of_image, _windows.inside(made, window))

    def kernels(self, name):
        return {f"subtraction_{name}_forward_kernel": self.forward, f"subtraction2_{name}_forward_kernel": self.forward,
                f"subtraction_{name}_input_backward_kernel": partial(self._to_taps, and_middle=True),
                f"subtraction2_{name}_input1_backward_kernel": self._to_middles,
                f"subtraction2_{name}_input2_backward_kernel": self._to_taps}


# ---- filters of rows and columns, T [N, F, h, w] each, of windows F x F that end at an image's border


def _rows(image, filters):
    """For each row of the windows: the part of the image that it sees, and how it sees it."""
    size, window = filters.shape[1], Window((1, filters.shape[1]))
    return ((fy, image[:, :, fy:fy + filters.shape[2]], window) for fy in range(size))


def _separable(code, n, image, vertical, horizontal, output):
    made = image.new_zeros(output.shape)
    for fy, seen, window in _rows(image, horizontal):
        made.addcmul_(_windows.sums(seen, lambda k: horizontal[:, k, None], window, made.shape[2:]), vertical[:, fy, None])
    fill("output", output, made)


def _separable_to_image(code, n, image, vertical, horizontal, grad, of_image, *others):
    made = grad.new_zeros(of_image.shape)
    for fy, to, window in _rows(made, horizontal):
        to += _windows.to_image(grad * vertical[:, fy, None], lambda k: horizontal[:, k, None], window, to.shape[2:])
    fill("of_image", of_image, made)


def _separable_to_vertical(code, n, image, vertical, horizontal, grad, of_image, of_vertical, of_horizontal):
    made = [(grad * _windows.sums(seen, lambda k: horizontal[:, k, None], window, grad.shape[2:])).sum(1)
            for _, seen, window in _rows(image, horizontal)]
    fill("of_vertical", of_vertical, torch.stack(made, 1))


def _separable_to_horizontal(code, n, image, vertical, horizontal, grad, of_image, of_vertical, of_horizontal):
    made = grad.new_zeros(of_horizontal.shape)
    for fy, seen, window in _rows(image, vertical):
        for k, values in enumerate(_windows.to_weights(grad * vertical[:, fy, None], seen, window)):
            made[:, k] += values.sum(1)
    fill("of_horizontal", of_horizontal, made)


def _aggregation(name, mode):
    shared = _Shared(1, mode)
    return {f"aggregation_{name}_forward_kernel": shared.forward, f"aggregation_{name}_input_backward_kernel": shared.to_image,
            f"aggregation_{name}_weight_backward_kernel": shared.to_weight}


_involution = _Shared(2)
KERNELS = {"involution_forward_kernel": _involution.forward, "involution_backward_grad_input_kernel": _involution.to_image,
           "involution_backward_grad_weight_kernel": _involution.to_weight, **_aggregation("zeropad", "constant"),
           **_aggregation("refpad", "reflect"), **_Differences("constant").kernels("zeropad"),
           **_Differences("reflect").kernels("refpad"), "sepconv_out": _separable, "sepconv_ingrad": _separable_to_image,
           "sepconv_vergrad": _separable_to_vertical, "sepconv_horgrad": _separable_to_horizontal}
