"""Windows of an image under weights that each pixel has of its own: involution, self-attention networks, dynamic filters.

    output[..., y, x] = sum over taps k of weight(k)[..., y, x] * image[..., y * stride + ky * dilation - padding, ...]

One tap at a time, so that nothing has the size of all windows."""

from typing import Callable, Iterator, NamedTuple, Tuple

import torch
from torch import Tensor
from torch.nn import functional

Pair = Tuple[int, int]


class Window(NamedTuple):
    kernel: Pair
    stride: Pair = (1, 1)
    padding: Pair = (0, 0)
    dilation: Pair = (1, 1)


def padded(image: Tensor, window: Window, mode: str = "constant") -> Tensor:
    up, left = window.padding
    return functional.pad(image, (left, left, up, up), mode)


def inside(padded_image: Tensor, window: Window) -> Tensor:
    """The image without its padding."""
    up, left = window.padding
    return padded_image[..., up:padded_image.shape[-2] - up, left:padded_image.shape[-1] - left]


def taps(padded_image: Tensor, window: Window, size: Pair) -> Iterator[Tensor]:
    """What each tap sees, [..., h, w]: views."""
    (rows, columns), (down, across), _, (apart_y, apart_x) = window
    for ky in range(rows):
        for kx in range(columns):
            y, x = ky * apart_y, kx * apart_x
            yield padded_image[..., y:y + (size[0] - 1) * down + 1:down, x:x + (size[1] - 1) * across + 1:across]


def sums(padded_image: Tensor, weight: Callable[[int], Tensor], window: Window, size: Pair) -> Tensor:
    """The output [..., h, w], given the weights of each tap, which fit [..., h, w]."""
    made = padded_image.new_zeros(*padded_image.shape[:-2], *size)
    for k, seen in enumerate(taps(padded_image, window, size)):
        made.addcmul_(seen, weight(k))
    return made


def to_image(grad: Tensor, weight: Callable[[int], Tensor], window: Window, padded_size: Pair) -> Tensor:
    """The gradient of the padded image."""
    made = grad.new_zeros(*grad.shape[:-2], *padded_size)
    for k, seen in enumerate(taps(made, window, grad.shape[-2:])):
        seen.addcmul_(grad, weight(k))
    return made


def to_weights(grad: Tensor, padded_image: Tensor, window: Window) -> Iterator[Tensor]:
    """The gradients of each tap's weights as large as the output: to be summed where a weight serves several channels."""
    return (grad * seen for seen in taps(padded_image, window, grad.shape[-2:]))


def padded_size(image: Tensor, window: Window) -> Pair:
    up, left = window.padding
    return image.shape[-2] + 2 * up, image.shape[-1] + 2 * left
