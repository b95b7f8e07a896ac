"""Clouds of points one behind the other, [N1 + N2 + ..., 3], as OpenPCDet and Point Transformer keep a batch."""

from typing import Iterator, Optional, Tuple

import torch
from torch import Tensor

from ..torch._buffers import adding_rows, room, write
from ..torch._stacks import pairs_of_samples
from ..torch._tensors import floats
from ..torch.op.furthest_point_sample import forward as _fps
from ..torch.op.knn import forward as _knn

_ELEMENTS = 1 << 22  # of a matrix of distances at a time


def counts_of(offset: Tensor) -> Tensor:
    """Points of each cloud, from the ends."""
    return torch.diff(offset, prepend=offset.new_zeros(1))


def clouds(points: Tensor, offset: Tensor, centers: int, new_offset: Tensor) -> Iterator[Tuple[slice, slice]]:
    """For each cloud the places of its centres, of which there are so many, and of its points, from the ends."""
    return iter(pairs_of_samples(("new_offset", counts_of(new_offset), centers),
                                 ("offset", counts_of(offset), len(points))))


def blocks(rows: int, columns: int) -> Iterator[slice]:
    """Rows of a matrix, few enough at a time for its elements to stay in memory."""
    step = max(1, _ELEMENTS // max(columns, 1))
    return (slice(start, min(start + step, rows)) for start in range(0, rows, step))


def first_of_each_row(wanted: Tensor, most: int) -> Tuple[Tensor, Tensor]:
    """Rows and columns of the first `most` elements of each row that are wanted (all for -1), row by row."""
    if most > 0:
        wanted = wanted & (wanted.cumsum(1) <= most)
    rows, columns = wanted.nonzero().unbind(1)
    return rows, columns


def place_in_row(row: Tensor, rows: int) -> Tensor:
    """The how-many-th of its row each element is, from their rows, which are in order."""
    count = torch.bincount(row, minlength=rows)
    return torch.arange(len(row)) - (count.cumsum(0) - count)[row]


def weighted_rows(features: Tensor, idx: Tensor, weight: Tensor) -> Tensor:
    """out[n] = sum over k of weight[n, k] * features[idx[n, k]]: T [N, C]."""
    return torch.nn.functional.embedding_bag(idx.long(), features, per_sample_weights=weight.to(features.dtype),
                                             mode="sum")


def add_weighted_rows(name: str, out: Tensor, grad: Tensor, idx: Tensor, weight: Tensor) -> None:
    """The gradient of weighted_rows in features, added to out."""
    write(*(adding_rows(name, out, idx[:, k].long(), grad * weight[:, k:k + 1]) for k in range(idx.shape[1])))


def sums(table: Tensor, rows: Tensor, targets: Tensor, size: int, weights: Optional[Tensor] = None) -> Tensor:
    """out[targets[p]] += weights[p] * table[rows[p]], each sum in the order of p: T [size, C]."""
    if len(rows) == 0:
        return table.new_zeros(size, table.shape[1])
    order = targets.sort(stable=True)[1]
    count = torch.bincount(targets, minlength=size)
    weights = None if weights is None else weights.to(table.dtype)[order]
    return torch.nn.functional.embedding_bag(rows[order], table, count.cumsum(0) - count, per_sample_weights=weights,
                                             mode="sum")


def neighbour_buffers(m: int, nsample: int, idx: Tensor, dist2: Tensor) -> Tuple[Tensor, Tensor]:
    """The buffers of a search, [M, nsample] each."""
    return room("idx", idx, (m, nsample), torch.int32), room("dist2", dist2, (m, nsample), torch.float32)


FAR = 1e10  # the squared distance of a neighbour that is missing


def nearest(nsample: int, points: Tensor, centers: Tensor, offset: Tensor,
            new_offset: Tensor) -> Iterator[Tuple[slice, int, Tensor, Tensor, Tensor]]:
    """For each cloud its centres, its first point, indices into all points int32 [M, nsample], squared distances T, and
    which neighbours are missing."""
    for rows, cloud in clouds(points, offset, len(centers), new_offset):
        p, c = floats(xyz=points[cloud], new_xyz=centers[rows])
        idx, squares = _knn(p[None], c[None], nsample)
        yield rows, cloud.start, idx[0] + cloud.start, squares[0], squares[0] >= FAR


def furthest(points: Tensor, samples: Iterator[Tuple[slice, slice]]) -> Iterator[Tuple[slice, Tensor]]:
    """For each cloud where its samples go, and their indices into all points."""
    for rows, cloud in samples:
        if rows.stop > rows.start:
            yield rows, _fps(points[cloud][None], rows.stop - rows.start)[0] + cloud.start
