"""Voxels by their places, in a dense table or in one of keys, and those at steps from others, as Voxel Transformer asks for
them."""

from typing import Callable, List, Sequence

import torch
from torch import Tensor

from ..torch._buffers import room
from . import _stacked

_STEPS = 32  # looked up at a time; rows that are full then ask no more


def key(place: Tensor, sizes: Sequence[int]) -> Tensor:
    """The number of places x, y, z int64 [..., 3] in a grid."""
    x, y, z = place.unbind(-1)
    return (x * sizes[1] + y) * sizes[2] + z


def inside(place: Tensor, sizes: Sequence[int]) -> Tensor:
    return ((place >= 0) & (place < torch.tensor(sizes))).all(-1)


def numbers(batch: Tensor, counts: Tensor) -> Tensor:
    """The how-many-th of its sample each voxel is, from its sample, and the sizes of the samples before."""
    before = counts.long().cumsum(0) - counts.long()
    return torch.arange(len(batch)) - before[batch]


def fill_table(table: Tensor, shape: Sequence[int], batch: Tensor, keys: Tensor, values: Tensor) -> None:
    """A dense table [B, X, Y, Z]."""
    table = room("xyz_to_vidx", table, (shape[0], shape[1] * shape[2] * shape[3]), torch.int32)
    table[batch, keys] = values.to(table.dtype)


def fill_keys(table: Tensor, shape: Sequence[int], batch: Tensor, keys: Tensor, values: Tensor) -> None:
    """A table [B, S, 2] of keys and values: a sample's in the order of its keys, -1 behind them. (CUDA hashes them.)"""
    table = room("xyz_to_vidx", table, shape, torch.int32)
    for sample, voxels in enumerate(torch.bincount(batch, minlength=len(table)).tolist()):
        if voxels > shape[1]:
            raise ValueError(f"hash_size: wanted room for the {voxels} voxels of sample {sample}, got {shape[1]}")
    for sample, rows in enumerate(table):
        own = keys[batch == sample]
        ordered, order = own.sort(stable=True)
        rows[:len(own)] = torch.stack([ordered, values[batch == sample][order]], 1).to(table.dtype)
        rows[len(own):, 0] = -1


def dense_lookup(table: Tensor) -> Callable:
    flat = table.reshape(len(table), -1)
    return lambda sample, keys: torch.where(keys >= 0, flat[sample][keys.clamp(min=0)], -1)


def keyed_lookup(table: Tensor) -> Callable:
    counts = (table[..., 0] >= 0).sum(1).tolist()
    held = [(rows[:count, 0].long().contiguous(), rows[:count, 1].int()) for rows, count in zip(table, counts)]

    def look(sample: int, keys: Tensor) -> Tensor:
        known, values = held[sample]
        if len(known) == 0:
            return torch.full(keys.shape, -1, dtype=torch.int32)
        at = torch.searchsorted(known, keys).clamp(max=len(known) - 1)
        return torch.where(known[at] == keys, values[at], -1)

    return look


def near_steps(reach: int, strides: Sequence[int]) -> Tensor:
    """Steps x, y, z to all places at most so far from a voxel's own, x fastest: int64 [K, 3]."""
    z, y, x = (torch.arange(-reach, stride + reach) for stride in reversed(strides))
    return torch.cartesian_prod(z, y, x).flip(1)


def _ends(offset: int, stride: int) -> List[int]:
    return list(range(-offset, stride + offset, max(2 * offset + stride - 1, 1)))


def strided_steps(ranges: Tensor, strides: Sequence[int]) -> Tensor:
    """Steps x, y, z to the corners of ever larger boxes, int64 [K, 3]: ranges int [R, 9] has the first offset (no corner has
    all three below theirs), the end and the step of x, y and z."""
    steps = [torch.empty(0, 3, dtype=torch.int64)]
    for spec in ranges.reshape(-1, 9).tolist():
        for z in range(0, spec[7], spec[8]):
            for y in range(0, spec[4], spec[5]):
                for x in range(0, spec[1], spec[2]):
                    if x >= spec[0] or y >= spec[3] or z >= spec[6]:
                        ends = [torch.tensor(_ends(*each)) for each in zip((z, y, x), reversed(strides))]
                        steps.append(torch.cartesian_prod(*ends).flip(1))
    return torch.cat(steps)


def _look_all(look: Callable, batch: Tensor, place: Tensor, steps: Tensor, sizes: Sequence[int]) -> Tensor:
    """The voxels at steps [K, 3] from places [M, 3], int32 [M, K]; -1 where there is none."""
    outside = torch.zeros(len(place), len(steps), dtype=torch.bool)
    for own, step, size in zip(place.unbind(1), steps.unbind(1), sizes):
        at = own[:, None] + step
        outside |= (at < 0) | (at >= size)
    keys = (key(place, sizes)[:, None] + key(steps, sizes)).masked_fill_(outside, -1)
    samples = batch.unique().tolist()
    if len(samples) == 1:
        return look(samples[0], keys).int()
    found = torch.full(keys.shape, -1, dtype=torch.int32)
    for sample in samples:
        found[batch == sample] = look(sample, keys[batch == sample]).int()
    return found


def first_at_steps(out: Tensor, width: int, look: Callable, voxels: Tensor, sizes: Sequence[int], strides: Sequence[int],
                   steps: Tensor) -> None:
    """Fills each row of out with the first voxels there are at steps from a voxel's place (batch, z, y, x int [M, 4])."""
    out = room("out", out, (len(voxels), width), torch.int32)
    batch, place = voxels[:, 0].long(), voxels[:, 1:].flip(1).long()
    rows = inside(place, sizes).nonzero()[:, 0]
    place = place * torch.tensor(strides)
    count = torch.zeros(len(voxels), dtype=torch.int64)
    for some in steps.split(_STEPS):
        found = _look_all(look, batch[rows], place[rows], some, sizes)
        row, column = (found >= 0).nonzero().unbind(1)
        at = count[rows][row] + _stacked.place_in_row(row, len(rows))
        kept = at < out.shape[1]
        out[rows[row[kept]], at[kept]] = found[row[kept], column[kept]].to(out.dtype)
        count[rows] += torch.bincount(row, minlength=len(rows))
        rows = rows[count[rows] < out.shape[1]]
        if len(rows) == 0:
            return
