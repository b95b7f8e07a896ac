"""Bilinear samples at pixels as rows of a table and their weights: bins that are weighted sums of rows are one call of
torch's embedding_bag, forward and backward."""

import torch
from torch.nn import functional


def rows_of(image):
    """T [B, C, H, W] -> T [B * H * W, C]."""
    return image.permute(0, 2, 3, 1).reshape(-1, image.shape[1])


def corners(y, x, height, width):
    """The four pixels round points that lie inside, [..., 4] each: their places y * width + x, and their weights."""
    y0, x0 = y.detach().floor(), x.detach().floor()
    ly, lx = y - y0, x - x0
    ys = torch.stack([y0, y0, y0 + 1, y0 + 1], -1).long().clamp(0, max(height - 1, 0))
    xs = torch.stack([x0, x0 + 1, x0, x0 + 1], -1).long().clamp(0, max(width - 1, 0))
    weights = torch.stack([(1 - ly) * (1 - lx), (1 - ly) * lx, ly * (1 - lx), ly * lx], -1)
    return ys * width + xs, weights


def bags(table, index, weights):
    """out[n] = sum over k of weights[n, k] * table[index[n, k]]: T [N, C]."""
    if index.numel() == 0 or table.numel() == 0:
        return table.new_zeros(len(index), table.shape[1]) + weights.sum() * 0
    return functional.embedding_bag(index, table, per_sample_weights=weights, mode="sum")
