"""PG_OP of PointGroup, and its kin in SoftGroup and their descendants: points to voxels, clusters, proposals."""

import torch

from ...torch._buffers import (add, fill, fill_all, filling, filling_first, resizing, room, rows_of,
                                rows_to, write)
from ...torch._tensors import floats
from .. import _aggregation, _clusters, _near, _pairs, _scatter, _stacked

__all__ = ["ballquery_batch_p", "bfs_cluster", "build_and_export_octree", "cal_iou_and_masklabel", "get_iou",
           "get_mask_iou_on_cluster", "get_mask_iou_on_pred", "get_mask_label", "global_avg_pool_bp", "global_avg_pool_fp",
           "hierarchical_aggregation", "octree_ball_query", "point_recover_bp", "point_recover_fp", "roipool_bp", "roipool_fp", "sec_max", "sec_mean", "sec_min",
           "voxelize_bp", "voxelize_fp", "voxelize_idx"]

PACKAGE = "pointgroup"
NAMES = ("PG_OP", "SOFTGROUP_OP", "HAIS_OP", "ISBNET_OP", "softgroup.ops.ops", "*.softgroup.ops.ops", "isbnet.ops.ops",
         "pointgroup_ops_ext", "*.pointgroup_ops_ext", "pointgroup_ops_cuda", "dknet_ops_ext", "*.dknet_ops_ext")

_MOST = 1000  # neighbours that a search keeps
_MEAN = 4


# ---- voxels


def _number_of_each(coords):
    """The voxel of each row, voxels in the order of their first points, and those: int64 [N], [M]."""
    low = coords.amin(0) if len(coords) else coords.new_zeros(coords.shape[1])
    sizes = (coords.amax(0) - low + 1).tolist() if len(coords) else [1] * coords.shape[1]
    key, places = coords[:, 0] - low[0], float(sizes[0])
    for axis in range(1, len(sizes)):
        key, places = key * sizes[axis] + coords[:, axis] - low[axis], places * sizes[axis]
    of_key = key.unique(return_inverse=True)[1] if places < 2 ** 62 else coords.unique(dim=0, return_inverse=True)[1]
    voxels = int(of_key.max()) + 1 if len(of_key) else 0
    first = torch.full((voxels,), len(coords)).scatter_reduce(0, of_key, torch.arange(len(coords)), "amin")
    first, order = first.sort()
    return torch.empty_like(order).scatter_(0, order, torch.arange(voxels))[of_key], first


def _points_of(voxel, first, mode):
    """How many points each voxel keeps, and which: the first (mode 0, 1), the last (2), or all of them."""
    counts = torch.bincount(voxel, minlength=len(first))
    if mode in (0, 1):
        return torch.ones_like(counts), first[:, None]
    if mode == 2:
        last = torch.zeros_like(first).scatter_reduce(0, voxel, torch.arange(len(voxel)), "amax")
        return torch.ones_like(counts), last[:, None]
    sorted_, order = voxel.sort(stable=True)
    table = torch.zeros(len(first), max(int(counts.max()) if len(first) else 0, 1), dtype=torch.int64)
    table[sorted_, _stacked.place_in_row(sorted_, len(first))] = order
    return counts, table


def voxelize_idx(coords, output_coords, input_map, output_map, batchsize, mode):
    """Fills the voxels int64 [M, ..], the voxel of each point int32 [N], and of each voxel the count and the points int32
    [M, 1 + most]."""
    voxel, first = _number_of_each(coords.long())
    counts, table = _points_of(voxel, first, mode)
    write(filling("input_map", input_map, voxel.int()), resizing("output_coords", output_coords, coords[first]),
          resizing("output_map", output_map, torch.cat([counts[:, None], table], 1).int()))


def _rules(rules, mean):
    """The points of all voxels, the voxel of each, and its weight."""
    counts = rules[:, 0].long()
    there = torch.arange(rules.shape[1] - 1) < counts[:, None]
    voxel = torch.arange(len(rules)).repeat_interleave(counts)
    return rules[:, 1:][there].long(), voxel, (1 / counts.double())[voxel] if mean else None


def _to_voxels(name, out, table, rules, mean):
    point, voxel, weight = _rules(rules, mean)
    add(name, out, _stacked.sums(*floats(table=table.detach()), point, voxel, len(rules), weight))


def _to_points(name, out, table, rules, mean):
    point, voxel, weight = _rules(rules, mean)
    add(name, out, _stacked.sums(*floats(table=table.detach()), voxel, point, len(out), weight))


def voxelize_fp(feats, output_feats, output_map, mode, nActive, maxActive, nPlane):
    _to_voxels("output_feats", output_feats, feats, output_map, mode == _MEAN)


def voxelize_bp(d_output_feats, d_feats, output_map, mode, nActive, maxActive, nPlane):
    _to_points("d_feats", d_feats, d_output_feats, output_map, mode == _MEAN)


def point_recover_fp(feats, output_feats, idx_map, nActive, maxActive, nPlane):
    _to_points("output_feats", output_feats, feats, idx_map, False)


def point_recover_bp(d_output_feats, d_feats, idx_map, nActive, maxActive, nPlane):
    _to_voxels("d_feats", d_feats, d_output_feats, idx_map, False)


# ---- neighbours and clusters


def _in_balls(xyz, clouds, radius, **buffers):
    """Fills two buffers: the first neighbours of each point, of all one after the other as far as there is room, and where
    each point's begin and how many they are. Returns the number of all."""
    xyz, n = floats(xyz=xyz.detach())[0], len(xyz)
    row, point = _near.within(xyz, clouds, xyz, clouds, radius, True, border=False)
    kept = _near.first(row, n, _MOST)
    row, point = row[kept], point[kept]
    length = torch.bincount(row, minlength=n)
    (name, idx), (name_of_ranges, start_len) = buffers.items()
    write(filling(name_of_ranges, start_len, torch.stack([length.cumsum(0) - length, length], 1).int()),
          filling_first(name, idx, point[:len(idx)].int()))
    return len(point)


def ballquery_batch_p(xyz, batch_idxs, batch_offsets, idx, start_len, n, meanActive, radius):
    return _in_balls(xyz, batch_idxs.long(), radius, idx=idx, start_len=start_len)


def build_and_export_octree(points, xyzwhl, boxes, pt_inds, pt_start_len, num_levels):
    """A tree of one box, since octree_ball_query has another way to search."""
    whole = torch.tensor([[0, len(points)]])
    write(filling_first("boxes", boxes, xyzwhl.reshape(1, -1)), filling("pt_inds", pt_inds, torch.arange(len(points))),
          filling_first("pt_start_len", pt_start_len, whole))


def octree_ball_query(points, boxes, pt_inds, pt_start_len, out_inds, out_start_len, mean_active, radius):
    return _in_balls(points, torch.zeros(len(points), dtype=torch.int64), radius, out_inds=out_inds,
                     out_start_len=out_start_len)


def bfs_cluster(labels_or_means, ball_query_idxs, start_len, cluster_idxs, cluster_offsets, N, threshold, *class_id):
    """PointGroup's clusters are of one label each; SoftGroup's have a share of their class's mean size at least."""
    if class_id:
        mean = float(labels_or_means[class_id[0]])
        labels, least = torch.zeros(N, dtype=torch.int32), threshold if mean == -1 else threshold * mean
    else:
        labels, least = labels_or_means, threshold
    found, ends = _clusters.clusters(ball_query_idxs, start_len, labels, least)
    write(resizing("cluster_idxs", cluster_idxs, found), resizing("cluster_offsets", cluster_offsets, ends))


def hierarchical_aggregation(semantic_label, coord_shift, batch_idxs, ball_query_idxs, start_len, fragment_idxs,
                             fragment_offsets, fragment_centers, cluster_idxs_kept, cluster_offsets_kept,
                             cluster_centers_kept, primary_idxs, primary_offsets, primary_centers, primary_idxs_post,
                             primary_offsets_post, N, training_mode, using_set_aggr):
    """Clusters, as large as they are: small ones that stand alone, large ones, and with using_set_aggr small ones and the
    large ones with those they take."""
    fragments, kept, large = _aggregation.split(semantic_label, coord_shift, batch_idxs, ball_query_idxs, start_len)
    found = [("cluster_idxs_kept", cluster_idxs_kept, kept.idxs), ("cluster_offsets_kept", cluster_offsets_kept, kept.offsets),
             ("cluster_centers_kept", cluster_centers_kept, kept.centers), ("primary_idxs", primary_idxs, large.idxs),
             ("primary_offsets", primary_offsets, large.offsets), ("primary_centers", primary_centers, large.centers)]
    if using_set_aggr:
        rows, ends = _aggregation.joined(fragments, large)
        rows = torch.cat([rows, rows.new_zeros(len(fragments.idxs) + len(large.idxs) - len(rows), 2)])
        found += [("fragment_idxs", fragment_idxs, fragments.idxs), ("fragment_offsets", fragment_offsets, fragments.offsets),
                  ("fragment_centers", fragment_centers, fragments.centers),
                  ("primary_idxs_post", primary_idxs_post, rows), ("primary_offsets_post", primary_offsets_post, ends)]
    write(*(resizing(*each) for each in found))


# ---- proposals: rows of points, one proposal after the other


def _common(proposals_idx, proposals_offset, instance_labels, instances, counted=None):
    """How many points each proposal shares with each instance, and how many it has."""
    proposal, label = _pairs.targets(proposals_offset), instance_labels[proposals_idx.long()].long()
    if counted is not None:
        proposal, label = proposal[counted], label[counted]
    proposals = len(proposals_offset) - 1
    total = torch.bincount(proposal, minlength=proposals)
    known = (label >= 0) & (label < instances)
    pair = proposal[known] * instances + label[known]
    return torch.bincount(pair, minlength=proposals * instances).reshape(proposals, instances), total


def _ious(common, total, instance_pointnum):
    union = total[:, None] + instance_pointnum.long() - common
    return (common / (union.double() + 1e-5)).float()


def get_iou(proposals_idx, proposals_offset, instance_labels, instance_pointnum, proposals_iou, nInstance, nProposal):
    common = _common(proposals_idx, proposals_offset, instance_labels, nInstance)
    fill("proposals_iou", proposals_iou, _ious(*common, instance_pointnum))


get_mask_iou_on_cluster = get_iou


def get_mask_iou_on_pred(proposals_idx, proposals_offset, instance_labels, instance_pointnum, proposals_iou, nInstance,
                         nProposal, mask_scores_sigmoid):
    """Of the points whose score is over a half."""
    counted = mask_scores_sigmoid.flatten() > 0.5
    common = _common(proposals_idx, proposals_offset, instance_labels, nInstance, counted)
    fill("proposals_iou", proposals_iou, _ious(*common, instance_pointnum))


def _labels(name, mask_label, proposals_idx, proposals_offset, instance_labels, best, fits):
    """What writes 1 for points of the instance that a proposal fits best, 0 for its others; nothing where none fits."""
    proposal = _pairs.targets(proposals_offset)
    there = room(name, mask_label, [len(proposal)], torch.float32)
    same = (instance_labels[proposals_idx.long()] == best[proposal]).to(there.dtype)
    return filling(name, mask_label, torch.where(fits[proposal], same, there).view(mask_label.shape))


def get_mask_label(proposals_idx, proposals_offset, instance_labels, instance_cls, proposals_iou, nInstance, nProposal,
                   iou_thr, mask_label):
    """1 for points of the instance that a proposal fits best, 0 for its others; as it was where none fits."""
    if nInstance == 0:
        return
    best_iou, best = proposals_iou.masked_fill(instance_cls == -100, 0).max(1)
    write(_labels("mask_label", mask_label, proposals_idx, proposals_offset, instance_labels, best, best_iou >= iou_thr))


def cal_iou_and_masklabel(proposals_idx, proposals_offset, instance_labels, instance_pointnum, proposals_iou, nInstance,
                          nProposal, mask_scores_sigmoid, mask_label, mode):
    """IoUs of the clusters (mode 0) or of their points with a score over a half (1), and get_mask_label's labels from an IoU
    over a half."""
    if nInstance == 0:
        return
    counted = mask_scores_sigmoid.flatten() > 0.5 if mode == 1 else None
    iou = _ious(*_common(proposals_idx, proposals_offset, instance_labels, nInstance, counted), instance_pointnum)
    best_iou, best = iou.max(1)
    write(filling("proposals_iou", proposals_iou, iou),
          _labels("mask_label", mask_label, proposals_idx, proposals_offset, instance_labels, best, best_iou > 0.5))


def _segments(offsets):
    return _pairs.targets(offsets), torch.diff(offsets.long())


def global_avg_pool_fp(feats, proposals_offset, output_feats, nProposal, C):
    segment, counts = _segments(proposals_offset)
    total = _stacked.sums(feats.detach(), torch.arange(len(segment)), segment, nProposal)
    fill("output_feats", output_feats, total / counts[:, None])


def global_avg_pool_bp(d_feats, proposals_offset, d_output_feats, nProposal, C):
    segment, counts = _segments(proposals_offset)
    add("d_feats", d_feats, (d_output_feats / counts[:, None])[segment])


def roipool_fp(feats, proposals_offset, output_feats, output_maxidx, nProposal, C):
    """The greatest of each proposal, of equal ones the first; -inf and -1 where there is none."""
    segment, counts = _segments(proposals_offset)
    found, at = _scatter.extreme(feats.detach(), segment, 0, None, nProposal, True)
    empty = counts[:, None].expand_as(at) == 0
    fill_all((found.masked_fill(empty, float("-inf")), at.masked_fill(empty, -1).int()), output_feats=output_feats,
             output_maxidx=output_maxidx)


def roipool_bp(d_feats, proposals_offset, output_maxidx, d_output_feats, nProposal, C):
    at = output_maxidx.long()
    grad = d_output_feats.masked_fill(at < 0, 0)
    rows_of("d_feats", d_feats, rows_to(at), grad.shape[1:], grad.dtype)
    add("d_feats", d_feats, torch.zeros_like(d_feats).scatter_add_(0, at.clamp(min=0), grad))


def sec_mean(inp, offsets, out, nProposal, C):
    segment, counts = _segments(offsets)
    total = _stacked.sums(inp.detach(), torch.arange(len(segment)), segment, nProposal)
    fill("out", out, total / counts.clamp(min=1)[:, None])


def _extreme(inp, offsets, out, proposals, kind, start):
    segment = _pairs.targets(offsets)[:, None].expand_as(inp)
    base = inp.new_full((proposals, inp.shape[1]), start)
    fill("out", out, base.scatter_reduce(0, segment, inp.detach(), kind))


def sec_min(inp, offsets, out, nProposal, C):
    _extreme(inp, offsets, out, nProposal, "amin", float("inf"))


def sec_max(inp, offsets, out, nProposal, C):
    _extreme(inp, offsets, out, nProposal, "amax", float("-inf"))
