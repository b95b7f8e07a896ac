"""Images seen as tables of pixels, and bilinear samples as sums of their rows (torch's embedding_bag, forward and backward) or
by torch's grid_sample."""

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


# ---- by grid_sample: images T [B, C, h, w], places y, x T [B, H, W] in pixels, as floats that are at least float32


def moved(flow):
    """Each pixel's place, moved by a flow [B, 2, H, W] of x and y."""
    rows, columns = flow.shape[2:]
    return torch.arange(rows)[:, None] + flow[:, 1], torch.arange(columns) + flow[:, 0]


def _grid(image, y, x):
    """Places that are no numbers lie outside, at the left and top."""
    places = [each.nan_to_num(-2.0, size + 1.0, -2.0).clamp(-2, size + 1) for each, size in zip((x, y), image.shape[:1:-1])]
    return torch.stack([(2 * each + 1) / size - 1 for each, size in zip(places, image.shape[:1:-1])], 3)


def sampled(image, y, x, outside):
    """Bilinear samples T [B, C, H, W]; outside: "zeros", or "border" for the nearest pixel inside."""
    return functional.grid_sample(image, _grid(image, y, x), padding_mode=outside, align_corners=False)


def scattered(values, image, y, x, outside):
    """The transpose of sampled: adds values T [B, C, H, W] to the pixels of an image as large as the given one."""
    mode = ("zeros", "border").index(outside)
    return torch.ops.aten.grid_sampler_2d_backward(values, image, _grid(image, y, x), 0, mode, False, [True, False])[0]


def slopes(image, y, x, outside):
    """Derivatives of sampled by y and x, T [B, C, H, W] each. A place on a pixel has the slope behind it. grid_sample's own
    depend on how it rounds there."""
    found = []
    for axis, place in ((2, y), (3, x)):
        edge = [each.narrow(axis, at, 1) if outside == "border" else torch.zeros_like(each.narrow(axis, at, 1))
                for each, at in ((image, 0), (image, image.shape[axis] - 1))]
        steps = torch.cat([edge[0], image, edge[1]], axis).diff(dim=axis)  # step k leads to pixel k
        before = place.floor() + 1
        found.append(sampled(steps, *((before, x) if axis == 2 else (y, before)), outside))
    return found
