"""bev_pool_ext of BEVFusion, in OpenPCDet and mmdet3d: camera features summed in the cells of a grid."""

__all__ = ["bev_pool_backward", "bev_pool_forward"]

PACKAGE = "pcdet"
NAMES = ("bev_pool_ext", "*.bev_pool_ext")


def _cells(geom_feats, d, h, w):
    """The number of each point's cell in [b, d, h, w]; a row of geom_feats is its place along h, w, d, b."""
    y, x, z, batch = geom_feats.long().unbind(1)
    return ((batch * d + z) * h + y) * w + x


def bev_pool_forward(x, geom_feats, interval_lengths, interval_starts, b, d, h, w):
    """T [N, C] -> T [b, d, h, w, C]. Intervals are runs of points of one cell, which the points say themselves."""
    out = x.new_zeros(b * d * h * w, x.shape[1])
    return out.index_add_(0, _cells(geom_feats, d, h, w), x).view(b, d, h, w, x.shape[1])


def bev_pool_backward(out_grad, geom_feats, interval_lengths, interval_starts, b, d, h, w):
    return out_grad.reshape(-1, out_grad.shape[4]).index_select(0, _cells(geom_feats, d, h, w))
