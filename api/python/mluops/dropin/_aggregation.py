"""HAIS' hierarchical aggregation: clusters of points, and small ones joined to the large ones near them (Chen et al.,
"Hierarchical Aggregation for 3D Instance Segmentation", ICCV 2021)."""

from typing import NamedTuple, Tuple

import torch
from torch import Tensor

from . import _clusters, _pairs, _stacked

# Points and radius of the mean instance of each of ScanNet's 20 classes; the first two have no instances.
_POINTS = (-1, -1, 3917, 12056, 2303, 8331, 3948, 3166, 5629, 11719, 1003, 3317, 4912, 10221, 3889, 4136, 2120, 945, 3967,
           2589)
_RADII = (-1, -1, 0.7047687683952325, 1.1732690381942337, 0.39644035821116036, 1.011516629020215, 0.7260155292902369,
          0.8674973999335017, 0.8374931435447094, 1.0454153869133096, 0.32879464797430913, 1.1954566226966346,
          0.8628817944400078, 1.0416287916782507, 0.6602697958671507, 0.8541363897836871, 0.38055290598206537,
          0.3011878752684007, 0.7420871812436316, 0.4474268644407741)
_KEPT, _LARGE = 0.05, 0.3  # shares of the class's mean from which a cluster stands alone, and from which it takes others
_FAR = 100.0  # a cluster further away is never joined
_MOST_CLUSTERS, _MOST_POINTS = 1024, 8192  # that one takes
_FARTHER_PER_POINT = 0.01  # of the root of their number


class Clusters(NamedTuple):
    """Rows of cluster and point int32 [S, 2], where each cluster begins int32 [K + 1], and its mean place, class and batch
    index float [K, 5]."""

    idxs: Tensor
    offsets: Tensor
    centers: Tensor


def _chosen(all_: Clusters, wanted: Tensor) -> Clusters:
    """Some of the clusters, numbered anew."""
    number = wanted.cumsum(0) - 1
    rows = all_.idxs[wanted[all_.idxs[:, 0].long()]]
    size = torch.diff(all_.offsets)[wanted]
    idxs = torch.stack([number[rows[:, 0].long()].int(), rows[:, 1]], 1)
    return Clusters(idxs, torch.cat([size.new_zeros(1), size.cumsum(0)]).int(), all_.centers[wanted])


def _all(label: Tensor, places: Tensor, batch: Tensor, neighbours: Tensor, start_len: Tensor) -> Clusters:
    idxs, offsets = _clusters.clusters(neighbours, start_len, label, 0)
    cluster, point = idxs.long().unbind(1)
    count = len(offsets) - 1
    total = _stacked.sums(places.double(), point, cluster, count)
    first = point[offsets[:-1].long()]
    means = total / torch.diff(offsets)[:, None]
    return Clusters(idxs, offsets, torch.cat([means, label[first, None], batch[first, None]], 1).to(places.dtype))


def split(label: Tensor, places: Tensor, batch: Tensor, neighbours: Tensor,
          start_len: Tensor) -> Tuple[Clusters, Clusters, Clusters]:
    """Fragments, those of them that stand alone, and large clusters."""
    found = _all(label, places, batch, neighbours, start_len)
    size = torch.diff(found.offsets).float()
    mean = torch.tensor(_POINTS, dtype=torch.float64)[found.centers[:, 3].long()]
    small = size < (_LARGE * mean).float()
    return (_chosen(found, small), _chosen(found, small & (size >= (_KEPT * mean).float())), _chosen(found, ~small))


def _takers(fragments: Clusters, large: Clusters) -> Tensor:
    """The large cluster that takes each fragment: the nearest of its class and image, if it is near enough; else -1."""
    alike = (fragments.centers[:, None, 3:] == large.centers[:, 3:]).all(2)
    squares = (fragments.centers[:, None, :3] - large.centers[:, :3]).double().square().sum(2).float()
    nearest, at = squares.masked_fill(~alike | (squares >= _FAR * _FAR), float("inf")).min(1)
    reach = torch.maximum(_FARTHER_PER_POINT * torch.diff(large.offsets)[at].double().sqrt(),
                          torch.tensor(_RADII, dtype=torch.float64)[fragments.centers[:, 3].long()]).float()
    return at.masked_fill(~(nearest < reach * reach), -1)


def joined(fragments: Clusters, large: Clusters) -> Tuple[Tensor, Tensor]:
    """Rows of the large clusters, each followed by the points of the fragments it takes, and where each begins. Fragments are
    taken in their order (CUDA's is that of its threads)."""
    if len(large.centers) == 0:
        return fragments.idxs.new_zeros(0, 2), fragments.offsets.new_zeros(1)
    taker = _takers(fragments, large) if len(fragments.centers) else torch.zeros(0, dtype=torch.int64)
    taken = (taker >= 0).nonzero()[:, 0]
    order = taken[taker[taken].sort(stable=True)[1]]
    place = torch.full_like(taker, _MOST_CLUSTERS)
    place[order] = _stacked.place_in_row(taker[order], len(large.centers))
    of_point = _pairs.targets(fragments.offsets)
    point = (place < _MOST_CLUSTERS)[of_point].nonzero()[:, 0]
    point = point[taker[of_point[point]].sort(stable=True)[1]]
    owner = taker[of_point[point]]
    room = _stacked.place_in_row(owner, len(large.centers)) < _MOST_POINTS
    added = torch.stack([owner[room].int(), fragments.idxs[point[room], 1]], 1)
    rows = torch.cat([large.idxs, added])
    rows = rows[rows[:, 0].sort(stable=True)[1]]
    size = torch.bincount(rows[:, 0], minlength=len(large.centers))
    return rows, torch.cat([size.new_zeros(1), size.cumsum(0)]).int()
