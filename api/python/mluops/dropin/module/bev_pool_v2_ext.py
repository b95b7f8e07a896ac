"""bev_pool_v2_ext of BEVDet, FB-OCC and their descendants: depth times camera features, summed in the cells of a grid."""

import torch

from ...torch._buffers import fill, fill_all, room, rows_of, rows_to
from ...torch._tensors import floats

__all__ = ["bev_pool_v2_backward", "bev_pool_v2_forward"]

PACKAGE = "mmdet3d"
NAMES = ("bev_pool_v2_ext", "*.bev_pool_v2_ext")


def _intervals(starts, lengths):
    """The places of all intervals, one interval after the other, and where each begins among them."""
    lengths = lengths.long()
    ends = lengths.cumsum(0)
    first = ends - lengths
    place = torch.arange(int(ends[-1]) if len(ends) else 0) + (starts.long() - first).repeat_interleave(lengths)
    return place, first


def _sums(table, rows, first, weights):
    """The weighted sum of the table's rows in each interval."""
    return torch.nn.functional.embedding_bag(rows, table, first, per_sample_weights=weights, mode="sum")


def _table(name, buffer, index, channels, dtype):
    """A copy of a buffer [.., C] as rows, of which it has as many as an index wants."""
    rows = room(name, buffer, (*buffer.shape[:-1], channels), dtype).detach().clone().reshape(-1, channels)
    return rows_of(name, rows, rows_to(index), [channels], dtype).to(dtype)


def bev_pool_v2_forward(depth, feat, out, ranks_depth, ranks_feat, ranks_bev, interval_lengths, interval_starts):
    """out T [B, D, H, W, C]: cells of an interval are set, the others stay."""
    depth, feat = floats(depth=depth.detach(), feat=feat.detach())
    channels = feat.shape[-1]
    place, first = _intervals(interval_starts, interval_lengths)
    result = _table("out", out, ranks_bev, channels, feat.dtype)
    if len(first):
        result[ranks_bev.long()[interval_starts.long()]] = _sums(
            feat.reshape(-1, channels), ranks_feat.long()[place], first, depth.flatten()[ranks_depth.long()[place]])
    fill("out", out, result.reshape(out.shape))


def bev_pool_v2_backward(out_grad, depth_grad, feat_grad, depth, feat, ranks_depth, ranks_feat, ranks_bev, interval_lengths,
                         interval_starts):
    """Intervals are points of one feature."""
    grad, depth, feat = floats(out_grad=out_grad, depth=depth.detach(), feat=feat.detach())
    channels = feat.shape[-1]
    place, first = _intervals(interval_starts, interval_lengths)
    cells, rows, points = (each.long()[place] for each in (ranks_bev, ranks_feat, ranks_depth))
    grad, table = grad.reshape(-1, channels), feat.reshape(-1, channels)
    of_depth = rows_of("depth_grad", depth_grad.detach().flatten().clone(), rows_to(points), [], grad.dtype).to(grad.dtype)
    of_depth[points] = (grad[cells] * table[rows]).sum(1)
    of_feat = _table("feat_grad", feat_grad, rows, channels, grad.dtype)
    if len(first):
        of_feat[ranks_feat.long()[interval_starts.long()]] = _sums(grad, cells, first, depth.flatten()[points])
    fill_all((of_depth.reshape(depth_grad.shape), of_feat.reshape(feat_grad.shape)), depth_grad=depth_grad,
             feat_grad=feat_grad)
