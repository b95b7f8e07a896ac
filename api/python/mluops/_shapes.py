"""The words in which an operator's shape rules are written, for arrays (NHWC) and tensors (NCHW) alike.

An operator states its rules once, on shapes alone, so they hold for real, empty, meta and symbolic tensors, and before
anything is allocated. A refused shape is named as the caller wrote it.
"""

from typing import Sequence, Tuple

from ._errors import BadParamError

Shape = Tuple[int, ...]


def rank(name: str, shape: Sequence[int], wanted: int) -> Shape:
    if len(shape) != wanted:
        raise BadParamError.of(f"{name}: wanted {wanted} dimensions, got {len(shape)} {tuple(shape)}")
    return tuple(shape)


def expect(name: str, shape: Sequence[int], wanted: Sequence[int], meanings: Sequence[str]) -> None:
    """shape is `wanted`; meanings say where each of its numbers comes from."""
    rank(name, shape, len(wanted))
    for i, (got, want) in enumerate(zip(shape, wanted)):
        if got != want:
            raise BadParamError.of(f"{name}: wanted dimension {i} to be {want} ({meanings[i]}), got {got} "
                                   f"in {tuple(shape)}")


def windows(size: int, kernel: int, pad: int, dilation: int, stride: int) -> int:
    """Windows of `kernel` pixels, dilated, that lie inside of `size` pixels and their padding."""
    return max(0, (size + 2 * pad - (kernel - 1) * dilation - 1) // stride + 1)


class Order:
    """The positions of batch, channels, height and width in the shape of an image."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._places = tuple("NCHW".index(letter) for letter in name)  # what stands at each position
        self._of = tuple(name.index(letter) for letter in "NCHW")

    def dims(self, name: str, shape: Sequence[int]) -> Shape:
        """N, C, H, W of an image."""
        rank(name, shape, 4)
        n, c, h, w = self._of
        return shape[n], shape[c], shape[h], shape[w]

    def shape(self, *nchw: int) -> Shape:
        a, b, c, d = self._places
        return nchw[a], nchw[b], nchw[c], nchw[d]

    def expect(self, name: str, shape: Sequence[int], nchw: Shape, meanings: Sequence[str]) -> None:
        """The image has these N, C, H, W."""
        if len(shape) != 4 or tuple(shape) != self.shape(*nchw):
            expect(name, shape, self.shape(*nchw), [meanings[place] for place in self._places])


NCHW, NHWC = Order("NCHW"), Order("NHWC")
