"""The words in which an operator's shape rules are written.

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
