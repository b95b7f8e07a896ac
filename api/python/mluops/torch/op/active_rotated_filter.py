"""active_rotated_filter: a filter in several orientations. A composition of torch operators, no kernel of the
library."""

from torch import Tensor

from .._blocks import expect, floats, int32, rank
from .._integers import in_range

__all__ = ["active_rotated_filter"]


def active_rotated_filter(input: Tensor, indices: Tensor) -> Tensor:
    """Copies of a filter, rotated and with its orientations moved on. Composed of torch operators.

    Args:
        input: T [M, C, O, H, W].
        indices: int32 or int64 [O, H, W, R]: where each of the O * H * W weights goes in each of R copies, counted from
            1.
    Returns: T [M * R, C * O, H, W]; 0 where nothing goes. Differentiable in input.

    T: float16, bfloat16, float32, float64. Source: mmcv's active_rotated_filter.
    """
    input, = floats(input=input)
    out, channels, orientations, height, width = rank("input", input.shape, 5)
    _, _, _, copies = rank("indices", indices.shape, 4)
    expect("indices", indices.shape, (orientations, height, width, copies), ("that of input",) * 3 + ("",))
    size = orientations * height * width
    places = in_range("indices", int32("indices", indices), 1, size).long() - 1
    shape = out, copies, channels, size
    goes = places.reshape(size, copies).t()[None, :, None].expand(shape)
    source = input.reshape(out, 1, channels, size).expand(shape)
    return input.new_zeros(shape).scatter(3, goes, source).reshape(out * copies, channels * orientations, height, width)


def turned_back(grad: Tensor, indices: Tensor, shape: tuple) -> Tensor:
    """The gradient of input, of this shape, given that of the result."""
    out, channels, orientations, height, width = shape
    size, copies = orientations * height * width, indices.shape[3]
    goes = (indices.long() - 1).reshape(size, copies).t()[None, :, None].expand(out, copies, channels, size)
    return grad.reshape(out, copies, channels, size).gather(3, goes).sum(1).reshape(shape)
