"""pointgroup_ops, the package round PointGroup's extension as SPFormer and Pointcept install it."""

import torch

from .. import _scatter, _stacked
from . import pg_op as _op

__all__ = ["ballquery_batch_p", "bfs_cluster", "get_iou", "point_recover", "roipool", "sec_max", "sec_mean", "sec_min",
           "voxelization", "voxelization_idx"]

PACKAGE = "pointgroup"
NAMES = ("pointgroup_ops", "pointgroup_ops.functions", "pointgroup_ops.pointgroup_ops")


def voxelization_idx(coords, batchsize, mode=4):
    """The voxels' coordinates, the voxel of each point, and of each voxel the count and the points."""
    made, of_points = coords.new_empty(0), torch.zeros(len(coords), dtype=torch.int32)
    of_voxels = of_points.new_empty(0)
    _op.voxelize_idx(coords, made, of_points, of_voxels, batchsize, mode)
    return made, of_points, of_voxels


def voxelization(feats, map_rule, mode=4):
    """Sums of each voxel's points T [M, C], or means (mode 4)."""
    point, voxel, weight = _op._rules(map_rule, mode == _op._MEAN)
    return _stacked.sums(feats, point, voxel, len(map_rule), weight)


def point_recover(feats, map_rule, nPoint):
    """Each point has its voxel's features."""
    point, voxel, _ = _op._rules(map_rule, False)
    return _stacked.sums(feats, voxel, point, nPoint)


def ballquery_batch_p(coords, batch_idxs, batch_offsets, radius, meanActive):
    """The neighbours of each point, of all one after the other, and where each point's begin and how many they are."""
    n = len(coords)
    while True:
        idx, start_len = (torch.zeros(size, dtype=torch.int32) for size in ((n * meanActive,), (n, 2)))
        found = _op.ballquery_batch_p(coords, batch_idxs, batch_offsets, idx, start_len, n, meanActive, radius)
        if found <= len(idx):
            return idx[:found], start_len
        meanActive = found // n + 1


def bfs_cluster(semantic_label, ball_query_idxs, start_len, threshold):
    """Rows of cluster and point, and where each cluster begins."""
    idxs, offsets = semantic_label.new_empty(0), semantic_label.new_empty(0)
    _op.bfs_cluster(semantic_label, ball_query_idxs, start_len, idxs, offsets, len(start_len), threshold)
    return idxs, offsets


def roipool(feats, proposals_offset):
    """The greatest of each proposal's points."""
    segment, _ = _op._segments(proposals_offset)
    at = _scatter.extreme(feats.detach(), segment, 0, None, len(proposals_offset) - 1, True)[1]
    return feats.gather(0, at)


def get_iou(proposals_idx, proposals_offset, instance_labels, instance_pointnum):
    instances, proposals = len(instance_pointnum), len(proposals_offset) - 1
    iou = torch.zeros(proposals, instances)
    _op.get_iou(proposals_idx, proposals_offset, instance_labels, instance_pointnum, iou, instances, proposals)
    return iou


def _section(function):
    def reduce(inp, offsets):
        out = inp.new_zeros(len(offsets) - 1, inp.shape[1])
        function(inp, offsets, out, *out.shape)
        return out

    return reduce


sec_mean, sec_min, sec_max = _section(_op.sec_mean), _section(_op.sec_min), _section(_op.sec_max)
