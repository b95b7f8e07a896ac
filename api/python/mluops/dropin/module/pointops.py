"""pointops, Pointcept's package round its extension."""

import torch
from torch import Tensor

from .. import _stacked
from . import pointops_c as _c

__all__ = ["aggregation", "attention_fusion_step", "attention_relation_step", "ball_query", "ball_query_and_group",
           "batch2offset", "farthest_point_sampling", "grouping", "grouping2", "interpolation", "interpolation2",
           "knn_query", "knn_query_and_group", "offset2batch", "query_and_group", "random_ball_query", "subtraction"]

PACKAGE = "pointops"
NAMES = ("pointops",)


def _query(function, nsample, xyz, offset, new_xyz, new_offset, *radii_and_order):
    """Indices int32 [M, nsample] and distances of one of the extension's searches."""
    if new_xyz is None or new_offset is None:
        new_xyz, new_offset = xyz, offset
    m = len(new_xyz)
    idx, dist2 = torch.zeros(m, nsample, dtype=torch.int32), xyz.new_zeros(m, nsample)
    with torch.no_grad():
        function(m, nsample, *radii_and_order, xyz, new_xyz, offset.int(), new_offset.int(), idx, dist2)
        return idx, dist2.sqrt()


def knn_query(nsample, xyz, offset, new_xyz=None, new_offset=None):
    """Indices int32 [M, nsample], -1 for those that are missing, and distances."""
    return _query(_c.knn_query_cuda, nsample, xyz, offset, new_xyz, new_offset)


def ball_query(nsample, max_radius, min_radius, xyz, offset, new_xyz=None, new_offset=None):
    return _query(_c.ball_query_cuda, nsample, xyz, offset, new_xyz, new_offset, min_radius, max_radius)


def random_ball_query(nsample, max_radius, min_radius, xyz, offset, new_xyz=None, new_offset=None):
    order = torch.cat([torch.randperm(cloud.stop - cloud.start) + cloud.start
                       for cloud, _ in _stacked.clouds(xyz, offset, len(xyz), offset)])
    return _query(_c.random_ball_query_cuda, nsample, xyz, offset, new_xyz, new_offset, min_radius, max_radius,
                  order.int())


def farthest_point_sampling(xyz, offset, new_offset):
    samples = _stacked.clouds(xyz, offset, int(new_offset[-1]), new_offset)
    found = [indices for _, indices in _stacked.furthest(xyz, samples)]
    return torch.cat(found) if found else torch.zeros(0, dtype=torch.int32)


def grouping2(input, idx):
    """T [N, C] and [M, S] -> T [M, S, C]."""
    return input.index_select(0, idx.long().flatten()).view(*idx.shape, input.shape[1])


def _or_zero(rows: Tensor, idx: Tensor) -> Tensor:
    """Zeros where the index is -1."""
    return grouping2(rows, idx.clamp(min=0)).masked_fill((idx < 0)[..., None], 0)


def grouping(idx, feat, xyz, new_xyz=None, with_xyz=False):
    """Features of neighbours, with_xyz behind their places from the centre; zeros for neighbours that are missing."""
    grouped = _or_zero(feat, idx)
    if not with_xyz:
        return grouped
    centers = (xyz if new_xyz is None else new_xyz)[:, None]
    places = (grouping2(xyz, idx.clamp(min=0)) - centers).masked_fill((idx < 0)[..., None], 0)
    return torch.cat((places, grouped), -1)


def interpolation(xyz, new_xyz, feat, offset, new_offset, k=3):
    """Means of the k nearest features, weighted by the inverse of the distance."""
    idx, dist = knn_query(k, xyz, offset, new_xyz, new_offset)
    near = (1.0 / (dist + 1e-8)).masked_fill(idx < 0, 0)
    return _stacked.weighted_rows(feat, idx.clamp(min=0), near / near.sum(1, keepdim=True))


interpolation2 = interpolation


def subtraction(input1, input2, idx):
    """out[n, s] = input1[n] - input2[idx[n, s]]."""
    return input1[:, None] - grouping2(input2, idx)


def aggregation(input, position, weight, idx):
    """out[n, c] = sum over s of (input[idx[n, s], c] + position[n, s, c]) * weight[n, s, c % W]."""
    n, nsample, c = position.shape
    values = (grouping2(input, idx) + position).view(n, nsample, -1, weight.shape[2])
    return (values * weight[:, :, None]).sum(1).view(n, c)


def attention_relation_step(query, key, weight, index_target, index_refer):
    return (query[index_target.long()] * key[index_refer.long()] * weight).sum(2)


def attention_fusion_step(weight, value, index_target, index_refer):
    return torch.zeros_like(value).index_add(0, index_target.long(), weight[..., None] * value[index_refer.long()])


def knn_query_and_group(feat, xyz, offset=None, new_xyz=None, new_offset=None, idx=None, nsample=None, with_xyz=False):
    if idx is None:
        idx, _ = knn_query(nsample, xyz, offset, new_xyz, new_offset)
    return grouping(idx, feat, xyz, new_xyz, with_xyz), idx


def ball_query_and_group(feat, xyz, offset=None, new_xyz=None, new_offset=None, idx=None, max_radio=None, min_radio=0,
                         nsample=None, with_xyz=False):
    if idx is None:
        idx, _ = ball_query(nsample, max_radio, min_radio, xyz, offset, new_xyz, new_offset)
    return grouping(idx, feat, xyz, new_xyz, with_xyz), idx


def _dilated(nsample, xyz, new_xyz, offset, new_offset, dilation):
    """Every (dilation + 1)th of the nearest; fewer are left out where a cloud has too few points."""
    wanted = 1 + (nsample - 1) * (dilation + 1)
    idx, _ = knn_query(wanted, xyz, offset, new_xyz, new_offset)
    rows = []
    for centers, cloud in _stacked.clouds(xyz, offset, len(new_xyz), new_offset):
        points = cloud.stop - cloud.start
        step = dilation + 1 if points >= wanted else (points - 1) / max(nsample - 1, 1)
        rows.append(idx[centers][:, [int(step * i) for i in range(nsample)]])
    return torch.cat(rows)


def query_and_group(nsample, xyz, new_xyz, feat, idx, offset, new_offset, dilation=0, with_feat=True, with_xyz=True):
    new_xyz = xyz if new_xyz is None else new_xyz
    if idx is None:
        idx = _dilated(nsample, xyz, new_xyz, offset, new_offset, dilation)
    if not with_feat:
        return idx
    grouped = grouping2(feat, idx)
    if not with_xyz:
        return grouped, idx
    return torch.cat((grouping2(xyz, idx) - new_xyz[:, None], grouped), -1), idx


def offset2batch(offset):
    """Ends of clouds -> the cloud of each point, int64."""
    return torch.arange(len(offset)).repeat_interleave(_stacked.counts_of(offset).long())


def batch2offset(batch):
    return batch.bincount().cumsum(0).int()
