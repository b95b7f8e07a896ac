"""torch_cluster, where it is not installed: neighbours, furthest points and voxels of clouds one behind the other."""

import torch

from ...torch._tensors import floats
from ...torch.op.furthest_point_sample import forward as _fps
from ...torch.op.knn import forward as _knn
from .. import _near as _near_all
from .. import _stacked

__all__ = ["__version__", "fps", "grid_cluster", "knn", "knn_graph", "nearest", "radius", "radius_graph"]

PACKAGE = "torch_cluster"
NAMES = ("torch_cluster",)

__version__ = "1.6.3"  # whose functions these are


def _ends(batch, points, clouds):
    if batch is None:
        return torch.tensor([points])
    return torch.bincount(batch, minlength=clouds).cumsum(0)


def _clouds(x, y, batch_x, batch_y):
    """The rows of x and of y that belong together."""
    clouds = max(int(each.max()) + 1 if each is not None and each.numel() else 1 for each in (batch_x, batch_y))
    lows = [[0, *_ends(batch, len(points), clouds).tolist()] for points, batch in ((x, batch_x), (y, batch_y))]
    return [(slice(*lows[0][i:i + 2]), slice(*lows[1][i:i + 2])) for i in range(clouds)]


def _flat(points):
    return points.reshape(-1, 1) if points.dim() == 1 else points


def _squares(points, centers):
    """Squares of distances, from differences."""
    return torch.cdist(centers, points, compute_mode="donot_use_mm_for_euclid_dist").square()


def _near(points, centers, k, cosine):
    """Indices of the k nearest points of each centre, [M, min(k, N)], of equal ones the first."""
    k = min(k, len(points))
    if cosine:
        one, two = (each / each.norm(dim=1, keepdim=True) for each in (points, centers))
        return (two @ one.t()).sort(dim=1, descending=True, stable=True)[1][:, :k]
    if points.shape[1] <= 3 and k <= 100:
        pad = torch.nn.functional.pad
        p, c = floats(x=pad(points, (0, 3 - points.shape[1])), y=pad(centers, (0, 3 - points.shape[1])))
        return _knn(p[None].contiguous(), c[None].contiguous(), k)[0][0].long()
    return torch.cat([_squares(points, centers[rows]).sort(dim=1, stable=True)[1][:, :k]
                      for rows in _stacked.blocks(len(centers), len(points))])


def knn(x, y, k, batch_x=None, batch_y=None, cosine=False, num_workers=1, batch_size=None):
    """[2, E]: centres in y and their k nearest in x, nearest first."""
    x, y = _flat(x), _flat(y)
    parts = []
    for points, centers in _clouds(x, y, batch_x, batch_y):
        if centers.stop > centers.start and points.stop > points.start:
            found = _near(x[points], y[centers], k, cosine) + points.start
            rows = torch.arange(centers.start, centers.stop).repeat_interleave(found.shape[1])
            parts.append(torch.stack([rows, found.flatten()]))
    return torch.cat(parts, 1) if parts else torch.zeros(2, 0, dtype=torch.int64)


def radius(x, y, r, batch_x=None, batch_y=None, max_num_neighbors=32, num_workers=1, batch_size=None,
           ignore_same_index=False):
    """[2, E]: centres in y and up to max_num_neighbors points of x in the ball, in the order of x."""
    x, y = _flat(x), _flat(y)
    row, column = (_in_space if x.shape[1] <= 3 else _in_blocks)(x, y, float(r), batch_x, batch_y)
    if ignore_same_index:
        row, column = row[row != column], column[row != column]
    kept = _near_all.first(row, len(y), max_num_neighbors)
    return torch.stack([row[kept], column[kept]])


def _in_space(x, y, r, batch_x, batch_y):
    """Centres and points of all pairs in a ball, searched in cells."""
    clouds, own = (torch.zeros(len(points), dtype=torch.int64) if batch is None else batch
                   for points, batch in ((x, batch_x), (y, batch_y)))
    points, centers = (torch.nn.functional.pad(each, (0, 3 - each.shape[1])) for each in floats(x=x, y=y))
    return _near_all.within(points, clouds, centers, own, r, True, border=False)


def _in_blocks(x, y, r, batch_x, batch_y):
    """The same for more axes, from all distances."""
    parts = [torch.zeros(2, 0, dtype=torch.int64)]
    for points, centers in _clouds(x, y, batch_x, batch_y):
        for rows in _stacked.blocks(centers.stop - centers.start, max(points.stop - points.start, 1)):
            row, column = (_squares(x[points], y[centers][rows]) < r ** 2).nonzero().unbind(1)
            parts.append(torch.stack([row + centers.start + rows.start, column + points.start]))
    return torch.cat(parts, 1)


def _graph(pairs, loop, flow):
    row, column = (pairs[1], pairs[0]) if flow == "source_to_target" else (pairs[0], pairs[1])
    keep = torch.ones_like(row, dtype=torch.bool) if loop else row != column
    return torch.stack([row[keep], column[keep]])


def knn_graph(x, k, batch=None, loop=False, flow="source_to_target", cosine=False, num_workers=1, batch_size=None):
    return _graph(knn(x, x, k if loop else k + 1, batch, batch, cosine), loop, flow)


def radius_graph(x, r, batch=None, loop=False, max_num_neighbors=32, flow="source_to_target", num_workers=1,
                 batch_size=None):
    return _graph(radius(x, x, r, batch, batch, max_num_neighbors, ignore_same_index=not loop), True, flow)


def nearest(x, y, batch_x=None, batch_y=None):
    """For each of x the nearest of y, int64 [N]."""
    return knn(y, x, 1, batch_y, batch_x)[1]


def fps(x, batch=None, ratio=0.5, random_start=True, batch_size=None, ptr=None):
    """The ceil(ratio * N) furthest points of each cloud, int64."""
    x = _flat(x)
    if ptr is None:
        ptr = torch.nn.functional.pad(_ends(batch, len(x), 0), (1, 0))
    ratios = torch.as_tensor(ratio, dtype=torch.float64).expand(len(ptr) - 1).tolist()
    parts = []
    for low, high, share in zip(ptr.tolist(), ptr.tolist()[1:], ratios):
        if high > low:
            parts.append(_furthest(x[low:high], -int(-(share * (high - low)) // 1), random_start) + low)
    return torch.cat(parts) if parts else torch.zeros(0, dtype=torch.int64)


def _furthest(points, count, random_start):
    start = int(torch.randint(len(points), ())) if random_start else 0
    if points.shape[1] > 3:
        return _furthest_by_rows(points, count, start)
    order = torch.arange(len(points)).roll(-start)
    wide, = floats(x=torch.nn.functional.pad(points, (0, 3 - points.shape[1])))
    return order[_fps(wide[order][None].contiguous(), count)[0].long()]


def _furthest_by_rows(points, count, start):
    found, far = [start], torch.full((len(points),), float("inf"), dtype=points.dtype)
    for _ in range(count - 1):
        far = torch.minimum(far, (points - points[found[-1]]).square().sum(1))
        found.append(int(far.argmax()))
    return torch.tensor(found)


def grid_cluster(pos, size, start=None, end=None):
    """The voxel of each point, int64 [N]."""
    start = pos.min(0)[0] if start is None else start
    end = pos.max(0)[0] if end is None else end
    counts = ((end - start) / size).long() + 1
    strides = torch.cumprod(torch.cat([counts.new_ones(1), counts[:-1]]), 0)
    return (((pos - start) / size).long() * strides).sum(1)
