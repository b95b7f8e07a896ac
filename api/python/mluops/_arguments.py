"""Small conversions of arguments shared by the numpy and the torch functions."""

from typing import Sequence, Tuple, Union

Size = Union[int, Sequence[int]]
PsaType = Union[int, str]


def pair(size: Size) -> Tuple[int, int]:
    """One number for both, or a sequence of two."""
    if isinstance(size, Sequence):
        first, second = size
        return first, second
    return size, size


def psa_type_number(psa_type: PsaType) -> int:
    """0 for "collect", 1 for "distribute"; numbers pass, the library checks them."""
    if not isinstance(psa_type, str):
        return psa_type
    if psa_type not in ("collect", "distribute"):
        raise ValueError(f'psa_type: wanted "collect" or "distribute", got {psa_type!r}')
    return 0 if psa_type == "collect" else 1
