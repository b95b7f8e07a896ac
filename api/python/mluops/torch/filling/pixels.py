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


def _steps(image, batch, y, x, outside):
    """Derivatives of samples by y and x, T [P, C] each, at P places. A place on a pixel has the slope behind it."""
    height, width = image.shape[2:]
    y0, x0 = y.floor(), x.floor()
    ly, lx = (y - y0)[:, None], (x - x0)[:, None]
    rows, whole_y, whole_x = rows_of(image), y0.long(), x0.long()

    def pixel(dy, dx):
        ys, xs = whole_y + dy, whole_x + dx
        inner_y, inner_x = ys.clamp(0, height - 1), xs.clamp(0, width - 1)
        seen = rows.index_select(0, (batch * height + inner_y) * width + inner_x)
        return seen if outside == "border" else seen.masked_fill_(((ys != inner_y) | (xs != inner_x))[:, None], 0)

    above, right, below, corner = (pixel(*each) for each in ((0, 0), (0, 1), (1, 0), (1, 1)))
    return torch.lerp(below - above, corner - right, lx), torch.lerp(right - above, corner - below, ly)


def _on_pixels(places, shape):
    """Where grid_sample may round a place to the other side of a pixel."""
    far = [(place - place.round()).abs() <= size * 2.0 ** -21 for place, size in zip(places, shape)]
    return far[0] | far[1]


def _slopes(image, y, x, outside):
    """Derivatives of all samples by y and x, T [B, C, H, W] each."""
    found = []
    for axis, place in ((2, y), (3, x)):
        edge = [each.narrow(axis, at, 1) if outside == "border" else torch.zeros_like(each.narrow(axis, at, 1))
                for each, at in ((image, 0), (image, image.shape[axis] - 1))]
        steps = torch.cat([edge[0], image, edge[1]], axis).diff(dim=axis)  # step k leads to pixel k
        before = place.floor() + 1
        found.append(sampled(steps, *((before, x) if axis == 2 else (y, before)), outside))
    return found


def gradients(values, image, y, x, outside, of_image=True):
    """Those of (values * sampled(image, y, x)).sum(), of image (None unless of_image) and of y and x, T [B, H, W] each. On a
    pixel the slope is that behind it; grid_sample's own depends on how it rounds there. All slopes anew cost as much as
    those of an eighth of the places one by one."""
    mode, on_pixels = ("zeros", "border").index(outside), _on_pixels((y, x), image.shape[2:])
    at = on_pixels.nonzero(as_tuple=True)
    are_few = 8 * len(at[0]) <= on_pixels.numel()
    to_image, to_grid = torch.ops.aten.grid_sampler_2d_backward(values, image, _grid(image, y, x), 0, mode, False,
                                                                [of_image, are_few])
    if not are_few:
        return to_image, *((values * slope).sum(1) for slope in _slopes(image, y, x, outside))
    by_y, by_x = to_grid[..., 1] * (2 / image.shape[2]), to_grid[..., 0] * (2 / image.shape[3])
    if len(at[0]):
        here = values.permute(0, 2, 3, 1)[at]
        by_y[at], by_x[at] = ((here * each).sum(1) for each in _steps(image, at[0], y[at], x[at], outside))
    return to_image, by_y, by_x
