"""bev_pool_v2_ext of BEVDet, FB-OCC and their descendants: depth times camera features, summed in the cells of a grid."""

import torch

from ...torch._buffers import fill, fill_all
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


def bev_pool_v2_forward(depth, feat, out, ranks_depth, ranks_feat, ranks_bev, interval_lengths, interval_starts):
    """out T [B, D, H, W, C]: cells of an interval are set, the others stay."""
    depth, feat = floats(depth=depth.detach(), feat=feat.detach())
    channels = feat.shape[-1]
    place, first = _intervals(interval_starts, interval_lengths)
    result = out.detach().reshape(-1, channels).clone().to(feat.dtype)
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
    of_depth = depth_grad.detach().flatten().clone().to(grad.dtype)
    of_depth[points] = (grad[cells] * table[rows]).sum(1)
    of_feat = feat_grad.detach().reshape(-1, channels).clone().to(grad.dtype)
    if len(first):
        of_feat[ranks_feat.long()[interval_starts.long()]] = _sums(grad, cells, first, depth.flatten()[points])
    fill_all((of_depth.reshape(depth_grad.shape), of_feat.reshape(feat_grad.shape)), depth_grad=depth_grad,
             feat_grad=feat_grad)
