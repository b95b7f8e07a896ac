"""Clouds of points one behind the other, [N1 + N2 + ..., 3], as OpenPCDet and Point Transformer keep a batch."""

from typing import Iterator, List, Tuple

import torch
from torch import Tensor

from .._errors import bad_param
from ..torch._tensors import floats
from ..torch.op.ball_query import forward as _ball_query
from ..torch.op.furthest_point_sample import forward as _fps
from ..torch.op.knn import forward as _knn

_ELEMENTS = 1 << 22  # of a matrix of distances at a time


def bounds(counts: Tensor) -> List[Tuple[int, int]]:
    """First and last + 1 of each cloud, from their numbers of points."""
    ends = counts.cumsum(0).tolist()
    return list(zip([0, *ends[:-1]], ends))


def bounds_of_offsets(offset: Tensor) -> List[Tuple[int, int]]:
    """First and last + 1 of each cloud, from the ends."""
    ends = offset.tolist()
    return list(zip([0, *ends[:-1]], ends))


def pairs_of_clouds(centers: List[Tuple[int, int]],
                    points: List[Tuple[int, int]]) -> Iterator[Tuple[slice, slice, int]]:
    """For each cloud its centres, its points, and the first of these."""
    if len(centers) != len(points):
        raise bad_param("batch", f"{len(points)} clouds, those of the points", len(centers))
    for (first_center, last_center), (first, last) in zip(centers, points):
        yield slice(first_center, last_center), slice(first, last), first


def ball_query(radius: float, nsample: int, centers: Tensor, points: Tensor) -> Tensor:
    """Of one cloud: int32 [M, nsample], the first -1 where the ball is empty, the rest 0."""
    p, c = floats(xyz=points, new_xyz=centers)
    idx = _ball_query(p[None], c[None], 0.0, float(radius), nsample)[0]
    if nsample > 0:
        first_in = ((p[:1] - c) ** 2).sum(1) < float(radius) ** 2 if len(p) else torch.zeros(len(c), dtype=torch.bool)
        idx[(idx[:, 0] == 0) & ~first_in, 0] = -1  # the operator says 0 where the ball is empty
    return idx


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


def add_weighted_rows(out: Tensor, grad: Tensor, idx: Tensor, weight: Tensor) -> None:
    """The gradient of weighted_rows in features, added to out."""
    for k in range(idx.shape[1]):
        out.index_add_(0, idx[:, k].long(), grad * weight[:, k:k + 1])


FAR = 1e10  # the squared distance of a neighbour that is missing


def nearest(nsample: int, points: Tensor, centers: Tensor, offset: Tensor,
            new_offset: Tensor) -> Iterator[Tuple[slice, int, Tensor, Tensor, Tensor]]:
    """For each cloud its centres, its first point, indices into all points int32 [M, nsample], squared distances T, and
    which neighbours are missing."""
    for rows, cloud, first in pairs_of_clouds(bounds_of_offsets(new_offset), bounds_of_offsets(offset)):
        p, c = floats(xyz=points[cloud], new_xyz=centers[rows])
        idx, squares = _knn(p[None], c[None], nsample)
        yield rows, first, idx[0] + first, squares[0], squares[0] >= FAR


def furthest(points: Tensor, offset: Tensor, new_offset: Tensor) -> Iterator[Tuple[slice, Tensor]]:
    """For each cloud where its samples go, and their indices into all points."""
    for samples, cloud, first in pairs_of_clouds(bounds_of_offsets(new_offset), bounds_of_offsets(offset)):
        if samples.stop > samples.start:
            yield samples, _fps(points[cloud][None], samples.stop - samples.start)[0] + first
