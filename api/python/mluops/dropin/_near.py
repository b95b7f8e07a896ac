"""All points near each centre, however many: those of the cells of a grid round it, searched in the cells' order."""

from typing import Iterator, Tuple

import torch
from torch import Tensor

from . import _stacked

_CELLS = 1 << 17  # along an axis at most, so that a cell's number is an int64


class _Grid:
    """Points in the order of their cells, which are as wide as the reach (wider, where those would be too many)."""

    def __init__(self, points: Tensor, clouds: Tensor, reach: float) -> None:
        place = points.double()
        kept = place.isfinite().all(1).nonzero()[:, 0]
        place = place[kept]
        self.low = place.amin(0) if len(kept) else place.new_zeros(3)
        extent = float((place.amax(0) - self.low).max()) if len(kept) else 0.0
        self.width = max(reach * (1 + 1e-5), extent / _CELLS) or 1.0
        self.sizes = (((place.amax(0) if len(kept) else self.low) - self.low) / self.width).long() + 5
        self.keys, order = self.key(place, clouds[kept]).sort(stable=True)
        self.points = kept[order]

    def key(self, place: Tensor, clouds: Tensor) -> Tensor:
        """A cell's number; those that are neighbours along z follow each other. Places far outside have none of points."""
        at = ((place - self.low) / self.width).floor()
        x, y, z = at.nan_to_num(-3, -3, -3).clamp(torch.tensor(-2.0), self.sizes - 3.0).long().add_(2).unbind(1)
        return ((clouds.long() * self.sizes[0] + x) * self.sizes[1] + y) * self.sizes[2] + z

    def around(self, centers: Tensor, clouds: Tensor) -> Tuple[Tensor, Tensor]:
        """For each centre where the points of its 9 columns of 3 cells begin and end: int64 [M, 9]."""
        key = self.key(centers.double(), clouds)
        steps = torch.cartesian_prod(torch.arange(-1, 2), torch.arange(-1, 2))
        columns = key[:, None] + (steps[:, 0] * self.sizes[1] + steps[:, 1]) * self.sizes[2]
        return torch.searchsorted(self.keys, columns - 1), torch.searchsorted(self.keys, columns + 1, right=True)


def _each(start: Tensor, end: Tensor) -> Tuple[Tensor, Tensor]:
    """The rows, and the places of all elements of their intervals."""
    length = end - start
    row = torch.arange(len(start)).repeat_interleave(length)
    return row, start[row] + _stacked.place_in_row(row, len(start))


def candidates(points: Tensor, clouds: Tensor, centers: Tensor, center_clouds: Tensor,
               reach: float) -> Iterator[Tuple[Tensor, Tensor]]:
    """Centres and points, int64 [P] each, with all pairs of a cloud whose coordinates differ by the reach at most, and
    others. Some centres at a time; a centre's points stand together, in no order."""
    grid = _Grid(points, clouds, float(reach))
    start, end = grid.around(centers, center_clouds)
    total = (end - start).sum(1).cumsum(0)
    for rows in _blocks(total):
        row, place = _each(start[rows].flatten(), end[rows].flatten())
        yield rows.start + row // 9, grid.points[place]


def _blocks(total: Tensor) -> Iterator[slice]:
    """Rows with about so many elements at a time that they stay in the caches; total counts those up to each row."""
    first, done = 0, 0
    while first < len(total):
        last = int(torch.searchsorted(total, done + (1 << 18), right=True))
        last = max(last, first + 1)
        yield slice(first, last)
        first, done = last, int(total[last - 1])


def within(points: Tensor, clouds: Tensor, centers: Tensor, center_clouds: Tensor, reach: float, ball: bool,
           border: bool = True) -> Tuple[Tensor, Tensor]:
    """Centres and points of all pairs in a ball or a cube, with its border or without; by centre, points as they stand."""
    reach_t = torch.tensor(float(reach), dtype=points.dtype)
    found = [(torch.empty(0, dtype=torch.int64),) * 2]
    for row, point in candidates(points, clouds, centers, center_clouds, reach):
        away = points[point] - centers[row]
        size, most = (away.square().sum(1), reach_t * reach_t) if ball else (away.abs().amax(1), reach_t)
        near = size <= most if border else size < most
        key = (row[near] * len(points) + point[near]).sort()[0]
        found.append((key // max(len(points), 1), key % max(len(points), 1)))
    rows, places = zip(*found)
    return torch.cat(rows), torch.cat(places)


def first(row: Tensor, rows: int, most: int) -> Tensor:
    """Which of elements in the order of their rows are among the first of their row."""
    return _stacked.place_in_row(row, rows) < most
