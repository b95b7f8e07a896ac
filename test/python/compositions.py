"""The operators written with torch's own differentiable operations: the reference of these tests.

Slow and plain on purpose. Tensors are NCHW as in mluops.torch; run them in double.
"""

import math

import torch
from torch.nn import functional as F


def carafe(features, masks, kernel_size, group_size, scale_factor):
    n, c, h, w = features.shape
    k, g, s = kernel_size, group_size, scale_factor
    windows = F.unfold(features, k, padding=(k - 1) // 2).view(n, g, c // g, k * k, h, w)
    weights = masks.reshape(n, g, k * k, h, s, w, s)
    return torch.einsum("ngckhw,ngkhiwj->ngchiwj", windows, weights).reshape(n, c, h * s, w * s)


def psa_mask(input, psa_type, mask_size):
    hm, wm = mask_size
    n, _, h, w = input.shape
    columns = []
    for y in range(h):
        for x in range(w):
            # cell (p - y + half, q - x + half) of pixel (y, x) looks at target pixel (p, q)
            cells = input[:, :, y, x].reshape(n, hm, wm)
            top, left = y - (hm - 1) // 2, x - (wm - 1) // 2
            rows = [cells[:, p - top] if 0 <= p - top < hm else torch.zeros_like(cells[:, 0]) for p in range(h)]
            plane = torch.stack(rows, 1)
            cols = [plane[:, :, q - left] if 0 <= q - left < wm else torch.zeros_like(plane[:, :, 0])
                    for q in range(w)]
            columns.append(torch.stack(cols, 2).reshape(n, h * w))
    sources_first = torch.stack(columns, 1)  # [n, source pixel, target pixel]
    collect = psa_type in (0, "collect")
    return (sources_first.transpose(1, 2) if collect else sources_first).reshape(n, h * w, h, w)


def three_interpolate(features, indices, weight):
    points = features.shape[2]
    inside = (indices >= 0) & (indices < points)
    safe = indices.long().clamp(0, points - 1)
    b, n, _ = indices.shape
    picked = features.gather(2, safe.reshape(b, 1, n * 3).expand(-1, features.shape[1], -1))
    return (picked.reshape(b, -1, n, 3) * (weight * inside).unsqueeze(1)).sum(3)


def gather_points(features, indices):
    """indices [B, M] or [B, P, S]."""
    points = features.shape[2]
    inside = (indices >= 0) & (indices < points)
    safe = indices.long().clamp(0, points - 1).flatten(1)
    picked = features.gather(2, safe[:, None].expand(-1, features.shape[1], -1))
    return picked.reshape(*features.shape[:2], *indices.shape[1:]) * inside[:, None]


def bilinear(plane, y, x):
    """plane [C, H, W] at points y, x [P] -> [C, P]. Points more than a pixel outside give 0, others are clamped."""
    h, w = plane.shape[1:]
    inside = (y >= -1) & (y <= h) & (x >= -1) & (x <= w)
    y, x = y.clamp(0, h - 1), x.clamp(0, w - 1)
    y0, x0 = y.detach().floor().long(), x.detach().floor().long()
    y1, x1 = (y0 + 1).clamp(max=h - 1), (x0 + 1).clamp(max=w - 1)
    ly, lx = y - y0, x - x0
    value = (plane[:, y0, x0] * ((1 - ly) * (1 - lx)) + plane[:, y0, x1] * ((1 - ly) * lx)
             + plane[:, y1, x0] * (ly * (1 - lx)) + plane[:, y1, x1] * (ly * lx))
    return torch.where(inside, value, torch.zeros_like(value))


def border_align(input, boxes, pool_size):
    n, c4, h, w = input.shape
    c = c4 // 4
    steps = torch.arange(pool_size + 1, dtype=input.dtype) / pool_size
    images = []
    for image, image_boxes in zip(input, boxes):
        x1, y1, x2, y2 = (v.unsqueeze(1) for v in image_boxes.unbind(1))
        flat = torch.zeros_like(steps)
        xs = (x1 + (x2 - x1) * steps, x1 + flat, x2 - (x2 - x1) * steps, x2 + flat)
        ys = (y1 + flat, y1 + (y2 - y1) * steps, y2 + flat, y2 - (y2 - y1) * steps)
        borders = []
        for e in range(4):
            samples = bilinear(image[e * c:(e + 1) * c], ys[e].reshape(-1), xs[e].reshape(-1))
            borders.append(samples.reshape(c, -1, pool_size + 1).max(2).values)
        images.append(torch.stack(borders, 2))
    return torch.stack(images)


def deform_roi_pool(input, rois, offset, output_size, spatial_scale, sampling_ratio, gamma):
    ph, pw = output_size
    pooled = []
    for r, roi in enumerate(rois):
        x1, y1, x2, y2 = roi[1:] * spatial_scale - 0.5
        bin_h, bin_w = (y2 - y1) / ph, (x2 - x1) / pw
        grid_h = sampling_ratio if sampling_ratio > 0 else max(0, int(torch.ceil(bin_h)))
        grid_w = sampling_ratio if sampling_ratio > 0 else max(0, int(torch.ceil(bin_w)))
        for i in range(ph):
            for j in range(pw):
                dx = gamma * (x2 - x1) * offset[r, 0, i, j] if offset is not None else 0
                dy = gamma * (y2 - y1) * offset[r, 1, i, j] if offset is not None else 0
                ys = y1 + i * bin_h + (torch.arange(grid_h, dtype=input.dtype) + 0.5) * bin_h / max(grid_h, 1) + dy
                xs = x1 + j * bin_w + (torch.arange(grid_w, dtype=input.dtype) + 0.5) * bin_w / max(grid_w, 1) + dx
                y, x = (v.reshape(-1) for v in torch.broadcast_tensors(ys[:, None], xs))
                samples = bilinear(input[int(roi[0])], y, x)
                pooled.append(samples.sum(1) / max(grid_h * grid_w, 1))
    return torch.stack(pooled).reshape(len(rois), ph, pw, -1).permute(0, 3, 1, 2)


def roi_align(input, rois, output_size, spatial_scale, sampling_ratio, pool_mode="avg", aligned=True):
    """The mean only."""
    ph, pw = output_size if isinstance(output_size, tuple) else (output_size, output_size)
    pooled = []
    for roi in rois:
        x1, y1, x2, y2 = roi[1:] * spatial_scale - (0.5 if aligned else 0)
        high, wide = y2 - y1, x2 - x1
        if not aligned:
            high, wide = high.clamp(min=1), wide.clamp(min=1)
        bin_h, bin_w = high / ph, wide / pw
        grid_h, grid_w = (sampling_ratio if sampling_ratio > 0 else int(torch.ceil(size)) for size in (bin_h, bin_w))
        rows, columns, down, across = (torch.arange(count, dtype=input.dtype) for count in (ph, pw, grid_h, grid_w))
        ys = y1 + rows[:, None] * bin_h + (down + 0.5) * bin_h / grid_h
        xs = x1 + columns[:, None] * bin_w + (across + 0.5) * bin_w / grid_w
        y, x = (v.reshape(-1) for v in torch.broadcast_tensors(ys.reshape(-1, 1), xs.reshape(-1)))
        samples = bilinear(input[int(roi[0])], y, x)
        pooled.append(samples.reshape(-1, ph, grid_h, pw, grid_w).mean((2, 4)))
    return torch.stack(pooled)


def roi_align_rotated(input, rois, output_size, spatial_scale, sampling_ratio=0, aligned=True, clockwise=False):
    """Samples of a box rotated about its centre, a RoI at a time."""
    ph, pw = output_size if isinstance(output_size, tuple) else (output_size, output_size)
    rows = []
    for roi in rois.to(input.dtype):
        cx, cy = roi[1:3] * spatial_scale - (0.5 if aligned else 0)
        w, h = roi[3:5] * spatial_scale if aligned else (roi[3:5] * spatial_scale).clamp(min=1)
        angle = -roi[5] if clockwise else roi[5]
        gh, gw = (sampling_ratio if sampling_ratio > 0 else math.ceil(float(extent) / bins) for extent, bins in
                  ((h, ph), (w, pw)))
        y = ((torch.arange(ph * gh, dtype=input.dtype) + 0.5) / (ph * gh) - 0.5)[:, None] * h
        x = ((torch.arange(pw * gw, dtype=input.dtype) + 0.5) / (pw * gw) - 0.5)[None] * w
        down, across = y * angle.cos() - x * angle.sin() + cy, y * angle.sin() + x * angle.cos() + cx
        samples = bilinear(input[int(roi[0])], down.flatten(), across.flatten()).reshape(-1, ph, gh, pw, gw)
        rows.append(samples.mean((2, 4)))
    return torch.stack(rows) if rows else input.new_zeros(0, input.shape[1], ph, pw) + input.sum() * 0


def prroi_pool(input, rois, output_size, spatial_scale=1.0):
    """Shares of rows and of columns: the antiderivative of each pixel's hat at the bins' ends."""
    down, across = output_size if isinstance(output_size, tuple) else (output_size, output_size)
    x, y, x_end, y_end = (rois[:, 1:] * spatial_scale).unbind(1)
    width, height = (x_end - x).clamp(min=0), (y_end - y).clamp(min=0)
    flat = width * height == 0
    area = torch.where(flat, torch.ones_like(width), width * height / (down * across))[:, None, None]

    def shares(low, size, bins, length):
        ends = low[:, None] + size[:, None] * torch.arange(bins + 1) / bins
        away = (ends[..., None] - torch.arange(length)).clamp(-1, 1)
        return (away - away * away.abs() / 2).diff(dim=1)

    of_columns = shares(x, width, across, input.shape[3]) * ~flat[:, None, None]
    return torch.einsum("rchw,rqw,rph->rcpq", input[rois[:, 0].long()], of_columns,
                        shares(y, height, down, input.shape[2]) / area)


def sigmoid_focal_loss(input, target, weight, gamma, alpha):
    """Each loss."""
    hit = target[:, None] == torch.arange(input.shape[1])
    p = input.sigmoid()
    positive = -alpha * (1 - p) ** gamma * F.logsigmoid(input)
    negative = -(1 - alpha) * p ** gamma * F.logsigmoid(-input)
    losses = torch.where(hit, positive, negative)
    return losses if weight is None else losses * weight[target.long()][:, None]


def softmax_focal_loss(input, target, weight, gamma, alpha):
    """The sum."""
    safe = target.long().clamp(min=0)
    logs = F.log_softmax(input, 1).gather(1, safe[:, None])[:, 0]
    losses = -alpha * (1 - logs.exp()) ** gamma * logs * (target >= 0)
    return (losses if weight is None else losses * weight[safe]).sum()


def roi_pool(input, rois, output_size, spatial_scale):
    """RoIs of some size on the map."""
    ph, pw = output_size
    h, w = input.shape[2:]
    pooled = []
    for roi in rois:
        x1, y1, x2, y2 = (roi[1] * spatial_scale, roi[2] * spatial_scale, (roi[3] + 1) * spatial_scale,
                          (roi[4] + 1) * spatial_scale)
        for i in range(ph):
            for j in range(pw):
                top, bottom = (y1 + i * (y2 - y1) / ph).floor(), (y1 + (i + 1) * (y2 - y1) / ph).ceil()
                left, right = (x1 + j * (x2 - x1) / pw).floor(), (x1 + (j + 1) * (x2 - x1) / pw).ceil()
                rows = slice(max(0, int(top)), min(h, int(bottom)))
                cols = slice(max(0, int(left)), min(w, int(right)))
                pooled.append(input[int(roi[0]), :, rows, cols].flatten(1).max(1).values)
    return torch.stack(pooled).reshape(len(rois), ph, pw, -1).permute(0, 3, 1, 2)


def multi_scale_deformable_attn(value, shapes, starts, locations, weights):
    b, _, m, d = value.shape
    q = locations.shape[1]
    result = 0
    for level, (h, w) in enumerate(shapes.tolist()):
        start = int(starts[level])
        maps = value[:, start:start + h * w].permute(0, 2, 3, 1).reshape(b * m, d, h, w)
        grid = 2 * locations[:, :, :, level].transpose(1, 2).flatten(0, 1) - 1
        samples = F.grid_sample(maps, grid, mode="bilinear", padding_mode="zeros", align_corners=False)
        weight = weights[:, :, :, level].transpose(1, 2).reshape(b * m, 1, q, -1)
        result = result + (samples * weight).sum(3)
    return result.reshape(b, m * d, q).transpose(1, 2)


def deform_conv2d(input, offset, weight, stride=1, padding=0, dilation=1, groups=1, deform_groups=1, mask=None,
                  bias=None):
    """Tap by tap samples of torch's grid_sample, then a product."""
    n, c, h, w = input.shape
    o, _, kh, kw = weight.shape
    out_h, out_w = offset.shape[2:]
    at = offset.reshape(n, deform_groups, kh * kw, 2, out_h, out_w)
    rows = torch.arange(out_h, dtype=input.dtype)[:, None] * stride - padding
    columns = torch.arange(out_w, dtype=input.dtype) * stride - padding
    taps = []
    for k in range(kh * kw):
        y = rows + k // kw * dilation + at[:, :, k, 0]
        x = columns + k % kw * dilation + at[:, :, k, 1]
        grid = torch.stack(((2 * x + 1) / w - 1, (2 * y + 1) / h - 1), -1).flatten(0, 1)
        maps = input.reshape(n * deform_groups, c // deform_groups, h, w)
        samples = F.grid_sample(maps, grid, mode="bilinear", padding_mode="zeros", align_corners=False)
        samples = samples.reshape(n, deform_groups, -1, out_h, out_w)
        if mask is not None:
            samples = samples * mask.reshape(n, deform_groups, kh * kw, 1, out_h, out_w)[:, :, k]
        taps.append(samples.reshape(n, c, out_h, out_w))
    matrix = torch.stack(taps, 2).reshape(n, groups, -1, out_h * out_w)
    product = torch.einsum("gok,ngkp->ngop", weight.reshape(groups, o // groups, -1), matrix)
    product = product.reshape(n, o, out_h, out_w)
    return product if bias is None else product + bias[:, None, None]


def modulated_deform_conv2d(input, offset, mask, weight, bias=None, *numbers):
    return deform_conv2d(input, offset, weight, *numbers, mask=mask, bias=bias)
