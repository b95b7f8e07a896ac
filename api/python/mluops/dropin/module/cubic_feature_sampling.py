"""cubic_feature_sampling of GRNet and PoinTr: the features of the grid's vertices round each point."""

import torch

__all__ = ["backward", "forward"]

PACKAGE = "gridding"
NAMES = ("cubic_feature_sampling",)


def _vertices(scale, neighborhood, points):
    """int64 [B, N, (2 * neighborhood)^3], -1 outside of the grid."""
    low = points.floor().long()[:, :, None]
    steps = torch.arange(1 - neighborhood, neighborhood + 1)
    at = low + torch.cartesian_prod(steps, steps, steps)
    inside = ((at >= 0) & (at < scale)).all(3)
    x, y, z = at.unbind(3)
    return torch.where(inside, (x * scale + y) * scale + z, torch.full_like(x, -1))


def forward(scale, neighborhood_size, ptcloud, cubic_features):
    """T [B, N, V, C] and int32 [B, N, V]; zeros outside of the grid."""
    index = _vertices(scale, neighborhood_size, ptcloud.detach())
    table = cubic_features.detach().flatten(2).transpose(1, 2)  # [B, S^3, C]
    rows = table.gather(1, index.clamp(min=0).flatten(1)[..., None].expand(-1, -1, table.shape[2]))
    rows = rows.reshape(*index.shape, -1).masked_fill((index < 0)[..., None], 0)
    return [rows, index.int()]


def backward(scale, neighborhood_size, grad_point_features, grid_pt_indexes):
    """Zeros for the points, and the gradient of the features T [B, C, S, S, S]."""
    b, n, _, c = grad_point_features.shape
    index = grid_pt_indexes.long().flatten(1)
    grad = grad_point_features.reshape(b, -1, c).masked_fill((index < 0)[..., None], 0)
    sums = torch.stack([one.new_zeros(scale ** 3, c).index_add(0, at.clamp(min=0), one) for one, at in zip(grad, index)])
    return [grad.new_zeros(b, n, 3), sums.transpose(1, 2).reshape(b, c, scale, scale, scale)]
