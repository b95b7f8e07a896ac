"""Reductions of rows by index and by interval, of torch's operators: sums come in the same order for every number of
threads."""

from typing import Optional, Tuple

import torch
from torch import Tensor

from .._errors import bad_param
from ..torch._buffers import fill, room, rows_to


def along(index: Tensor, src: Tensor, dim: int) -> Tensor:
    """The index of every element of src, from one for its rows along dim."""
    if index.dim() == 1:
        index = index.reshape([-1 if axis == dim % src.dim() else 1 for axis in range(src.dim())])
    while index.dim() < src.dim():
        index = index.unsqueeze(-1)
    return index.expand(src.shape)


def start(src: Tensor, index: Tensor, dim: int, out: Optional[Tensor], dim_size: Optional[int], value: float = 0) -> Tensor:
    """What a reduction along dim begins with: out, or a tensor of one value."""
    size = rows_to(index) if out is not None or dim_size is None else dim_size
    if out is not None and out.dim() == src.dim():
        size = max(size, out.shape[dim])  # out may have more
    shape = [size if axis == dim % src.dim() else n for axis, n in enumerate(src.shape)]
    if out is None:
        return src.new_full(shape, value)
    if out.dtype != src.dtype:
        raise TypeError(f"out: wanted a buffer of {src.dtype}, as src, got {out.dtype}")
    return room("out", out, shape, src.dtype)


def kept(made: Tensor, out: Optional[Tensor]) -> Tensor:
    """A result, in the program's tensor if it gave one."""
    if out is None:
        return made
    fill("out", out, made)
    return out


def _rows_alone(index: Tensor) -> bool:
    return index.dim() == 1


def summed(src: Tensor, index: Tensor, dim: int, out: Optional[Tensor], dim_size: Optional[int]) -> Tensor:
    base = start(src, index, dim, out, dim_size)
    if _rows_alone(index):
        made = base.index_add(dim, index, src)
    else:
        made = base.scatter_add(dim, along(index, src, dim), src)
    return kept(made, out)


def counts(index: Tensor, src: Tensor, dim: int, size: int) -> Tensor:
    """How many elements go to each place, in a shape that broadcasts to the sums."""
    if _rows_alone(index):
        count = torch.bincount(index, minlength=size)
        return count.reshape([-1 if axis == dim % src.dim() else 1 for axis in range(src.dim())])
    ones = torch.ones_like(src, dtype=torch.int64)
    return summed(ones, along(index, src, dim), dim, None, size)


def extreme(src: Tensor, index: Tensor, dim: int, out: Optional[Tensor], dim_size: Optional[int],
            greatest: bool) -> Tuple[Tensor, Tensor]:
    """The greatest (or least) element of each place, 0 where there is none, and where it is: the first of equal ones; the size
    of src where there is none."""
    dim, base = dim % src.dim(), start(src, index, dim, out, dim_size)
    index = along(index, src, dim)
    plain, kind = src.detach(), "amax" if greatest else "amin"
    found = base.detach().scatter_reduce(dim, index, plain, kind, include_self=out is not None)
    rows = torch.arange(src.shape[dim]).reshape([-1 if axis == dim else 1 for axis in range(src.dim())]).expand(src.shape)
    wins = plain == found.gather(dim, index)
    place = torch.where(wins, rows, torch.full_like(rows, src.shape[dim]))
    at = torch.full(base.shape, src.shape[dim]).scatter_reduce(dim, index, place, "amin")
    there = at < src.shape[dim]
    if src.shape[dim]:
        picked = src.gather(dim, at.clamp(max=src.shape[dim] - 1))
        made = torch.where(there, picked, base)
    else:
        made = base
    return kept(made, out), at


def targets(indptr: Tensor) -> Tuple[Tensor, Tensor]:
    """For intervals [..., K + 1] of which all rows are alike: the interval of each element, and how many each has."""
    flat = indptr.reshape(-1, indptr.shape[-1])
    if len(flat) > 1 and not (flat == flat[0]).all():
        raise bad_param("indptr", "the same intervals for every row", "others")
    length = torch.diff(flat[0])
    if length.numel() and int(length.min()) < 0:
        raise bad_param("indptr", "ends that do not decrease", flat[0].tolist())
    return torch.arange(len(length)).repeat_interleave(length), length
