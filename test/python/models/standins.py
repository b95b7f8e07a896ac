"""mmcv's operators in torch alone, for models in double: simple, slow, with no part in the library. They take the arguments
of mmcv's functions."""

import sys
import types

import torch

import compositions


def gather_points(features, indices):
    return compositions.gather_points(features, indices)


def three_interpolate(features, indices, weight):
    return compositions.three_interpolate(features, indices, weight.detach())


def carafe(features, masks, kernel_size, group_size=1, scale_factor=1):
    return compositions.carafe(features, masks, kernel_size, group_size, scale_factor)


def hats(at, size):
    """Samples at [...] of a row of `size` pixels as weights [..., size]: linear between pixels, clamped to the row, nothing
    more than a pixel outside of it."""
    clamped = at.clamp(0, size - 1).unsqueeze(-1)
    weights = (1 - (clamped - torch.arange(size, dtype=at.dtype)).abs()).clamp(min=0)
    return weights * ((at >= -1) & (at <= size)).unsqueeze(-1)


def sample_places(start, extent, bins, ratio):
    """[bins, samples] of one RoI along one axis."""
    step = extent / bins
    count = ratio if ratio > 0 else int(torch.ceil(step))
    before, within = torch.arange(bins, dtype=step.dtype), torch.arange(count, dtype=step.dtype) + 0.5
    return start + before[:, None] * step + within * step / max(count, 1)


def roi_align(input, rois, output_size, spatial_scale=1.0, sampling_ratio=0, pool_mode="avg", aligned=True):
    """A bin's mean is a row of weights x map x a column of weights."""
    assert pool_mode == "avg"
    size = output_size if isinstance(output_size, tuple) else (output_size, output_size)
    pooled = []
    for roi in rois.to(input.dtype):
        x1, y1, x2, y2 = roi[1:] * spatial_scale - (0.5 if aligned else 0)
        extents = (y2 - y1, x2 - x1) if aligned else ((y2 - y1).clamp(min=1), (x2 - x1).clamp(min=1))
        down, across = (hats(sample_places(start, extent, bins, sampling_ratio), length).mean(1) for
                        start, extent, bins, length in zip((y1, x1), extents, size, input.shape[2:]))
        pooled.append(down @ input[int(roi[0])] @ across.t())
    return torch.stack(pooled) if pooled else input.new_zeros(0, input.shape[1], *size) + input.sum() * 0


class RoIAlignRotatedFunction:
    apply = staticmethod(compositions.roi_align_rotated)


def one_number(pair):
    """Of a stride, padding or dilation; the models have the same for both axes."""
    assert isinstance(pair, int) or pair[0] == pair[1]
    return pair if isinstance(pair, int) else pair[0]


def deform_conv2d(input, offset, weight, stride=1, padding=0, dilation=1, groups=1, deform_groups=1, bias=False,
                  im2col_step=32):
    return compositions.deform_conv2d(input, offset, weight, *map(one_number, (stride, padding, dilation)), groups,
                                      deform_groups)


def modulated_deform_conv2d(input, offset, mask, weight, bias=None, stride=1, padding=0, dilation=1, groups=1,
                            deform_groups=1):
    return compositions.deform_conv2d(input, offset, weight, *map(one_number, (stride, padding, dilation)), groups,
                                      deform_groups, mask, bias)


def corners(at, size):
    """As hats, but with the derivative in `at` that the operator has: of coordinates that are not clamped. From the last
    pixel on both neighbours are that pixel, and their weights cancel."""
    low = at.detach().clamp(0, size - 1).floor()
    high = (low + 1).clamp(max=size - 1)
    before, after = (at - low).unsqueeze(-1), (high - at).unsqueeze(-1)
    pixels = torch.arange(size)
    inside = ((at >= -1) & (at <= size)).unsqueeze(-1)
    return ((low.unsqueeze(-1) == pixels) * after + (high.unsqueeze(-1) == pixels) * before) * inside


def deform_roi_pool(input, rois, offset, output_size, spatial_scale=1.0, sampling_ratio=0, gamma=0.1):
    """Where the offset gets a gradient, the sum of the value, a constant to it, and a zero with its derivative."""
    size = output_size if isinstance(output_size, tuple) else (output_size, output_size)
    pooled = []
    for r, roi in enumerate(rois.to(input.dtype)):
        x1, y1, x2, y2 = roi[1:] * spatial_scale - 0.5
        ys = sample_places(y1, y2 - y1, size[0], sampling_ratio)[:, None]
        xs = sample_places(x1, x2 - x1, size[1], sampling_ratio)[None]
        ys, xs = ys.expand(*size, -1), xs.expand(*size, -1)
        image = input[int(roi[0])]

        def value(plane, weights, y, x):
            return torch.einsum("ijh,chw,ijw->cij", weights(y, image.shape[1]).mean(2), plane,
                                weights(x, image.shape[2]).mean(2))

        if offset is not None and offset.numel() > 0:
            xs = xs + gamma * (x2 - x1) * offset[r, 0, :, :, None]
            ys = ys + gamma * (y2 - y1) * offset[r, 1, :, :, None]
        result = value(image, hats, ys.detach(), xs.detach())
        if ys.requires_grad:
            moved = value(image.detach(), corners, ys, xs)
            result = result + moved - moved.detach()
        pooled.append(result)
    return torch.stack(pooled)


def psa_mask(input, psa_type, mask_size):
    """compositions' form has a step for each pixel; this one is a gather."""
    n, _, h, w = input.shape
    rows, columns = (torch.arange(size)[:, None] - torch.arange(size) + (mask - 1) // 2
                     for size, mask in zip((h, w), mask_size))  # [target, source]
    def spread(down, across):
        """[h, h] and [w, w] over [target, source] of all pixels."""
        return down[:, None, :, None], across[None, :, None, :]

    (top, bottom), (left, right) = spread(rows >= 0, columns >= 0), spread(rows < mask_size[0], columns < mask_size[1])
    inside = top & bottom & left & right
    y, x = spread(rows.clamp(0, mask_size[0] - 1), columns.clamp(0, mask_size[1] - 1))
    cells = y * mask_size[1] + x
    moved = input.flatten(2).gather(1, cells.reshape(1, h * w, h * w).expand(n, -1, -1)) * inside.reshape(h * w, h * w)
    return (moved if psa_type in (0, "collect") else moved.transpose(1, 2)).reshape(n, h * w, h, w)


def nms(boxes, scores, iou_threshold=None, offset=0, score_threshold=0, max_num=-1, iou_thr=None):
    """iou_thr: the argument's former name, which 3DSSD uses."""
    iou_threshold = iou_thr if iou_threshold is None else iou_threshold
    order = scores.sort(dim=0, descending=True, stable=True)[1]
    if score_threshold > 0:
        order = order[scores[order] > score_threshold]
    areas = (boxes[:, 2:] - boxes[:, :2] + offset).prod(1)
    kept = []
    while len(order) > 0:
        best, rest = order[0], order[1:]
        kept.append(best)
        shared = (torch.min(boxes[best, 2:], boxes[rest, 2:]) - torch.max(boxes[best, :2], boxes[rest, :2]) + offset)
        shared = shared.clamp(min=0).prod(1)
        order = rest[~(shared / (areas[best] + areas[rest] - shared) > iou_threshold)]
    kept = torch.stack(kept) if kept else order
    kept = kept[:max_num] if max_num > 0 else kept
    return torch.cat([boxes[kept], scores[kept, None]], 1), kept


def squares(a, b):
    """[B, N, M] squared distances of a [B, N, 3] and b [B, M, 3]."""
    return (a[:, :, None] - b[:, None]).square().sum(3)


def of_each(values, counts):
    return values.split(counts.tolist())


def stacked_ball_query(radius, sample_num, xyz, centres, counts, centre_counts):
    """[M, sample_num]: numbers within a centre's own cloud; an empty ball begins with -1."""
    found = []
    for cloud, some in zip(of_each(xyz, counts), of_each(centres, centre_counts)):
        for part in some.split(1024):
            inside = squares(part[None], cloud[None])[0] < radius ** 2
            numbers = torch.where(inside, torch.arange(len(cloud)), len(cloud)).sort(1)[0][:, :sample_num]
            numbers = torch.nn.functional.pad(numbers, (0, sample_num - numbers.shape[1]), value=len(cloud))
            numbers = torch.where(numbers == len(cloud), numbers[:, :1], numbers)
            empty = numbers[:, 0] == len(cloud)
            numbers[empty] = 0
            numbers[empty, 0] = -1
            found.append(numbers)
    return torch.cat(found).int()


def grouping_operation(features, indices, counts=None, indices_counts=None):
    if counts is None:
        return gather_points(features, indices)
    return torch.cat([cloud[rows.long()].transpose(1, 2) for cloud, rows in
                      zip(of_each(features, counts), of_each(indices, indices_counts))])


def ball_query(min_radius, max_radius, sample_num, xyz, center_xyz, *counts):
    if counts:
        return stacked_ball_query(max_radius, sample_num, xyz, center_xyz, *counts)
    inside, count = [], xyz.shape[1]
    for centres in center_xyz.split(256, 1):
        d = squares(centres, xyz)
        inside.append((d == 0) | (d >= min_radius ** 2) & (d < max_radius ** 2))
    numbers = torch.where(torch.cat(inside, 1), torch.arange(count), count)
    first = numbers.sort(2)[0][:, :, :sample_num]
    first = torch.where(first == count, first[:, :, :1], first)
    return torch.where(first == count, 0, first).int()


def three_nn(target, source):
    found = [squares(part, source).sort(dim=2, stable=True) for part in target.split(256, 1)]
    return torch.cat([d[:, :, :3] for d, _ in found], 1).sqrt(), torch.cat([i[:, :, :3] for _, i in found], 1).int()


def furthest(count, distances_from):
    """distances_from: indices [B] -> [B, N]."""
    picked = [torch.zeros_like(distances_from(0)[:, 0], dtype=torch.int64)]
    nearest = distances_from(picked[0])
    for _ in range(count - 1):
        picked.append(nearest.argmax(1))
        nearest = torch.min(nearest, distances_from(picked[-1]))
    return torch.stack(picked, 1).int()


def furthest_point_sample(points, count):
    batch = torch.arange(len(points))
    return furthest(count, lambda i: (points - points[batch, i][:, None]).square().sum(2))


def furthest_point_sample_with_dist(distances, count):
    batch = torch.arange(len(distances))
    return furthest(count, lambda i: distances[batch, i].reshape(len(distances), -1))


def inside(points, boxes):
    """bool [M, T] of points [M, 3] and boxes [T, 7] on their bottoms."""
    moved = points[:, None] - boxes[None, :, :3]
    c, s = boxes[:, 6].cos(), boxes[:, 6].sin()
    x, y = moved[..., 0] * c + moved[..., 1] * s, moved[..., 1] * c - moved[..., 0] * s
    high = (moved[..., 2] - boxes[:, 5] / 2).abs() <= boxes[:, 5] / 2
    return high & (x.abs() < boxes[:, 3] / 2) & (y.abs() < boxes[:, 4] / 2)


def points_in_boxes_all(points, boxes):
    return torch.stack([inside(p, b) for p, b in zip(points, boxes)]).int()


def points_in_boxes_part(points, boxes):
    every = points_in_boxes_all(points, boxes)
    return torch.where(every.any(2), every.argmax(2), -1).int()


class RoIPointPool3dFunction:
    @staticmethod
    def apply(points, features, boxes, count=512):
        rows, empty = torch.cat([points, features], 2), []
        result = rows.new_zeros(*boxes.shape[:2], count, rows.shape[2])
        for b in range(len(points)):
            flags = inside(points[b], boxes[b])
            empty.append(~flags.any(0))
            for t in range(boxes.shape[1]):
                found = flags[:, t].nonzero()[:count, 0]
                if len(found) > 0:
                    result[b, t] = rows[b, found[torch.arange(count) % len(found)]]
        return result, torch.stack(empty).int()


def corners_of(boxes):
    """[N, 4, 2] of boxes x, y, w, h, angle."""
    signs = torch.tensor([[-0.5, -0.5], [0.5, -0.5], [0.5, 0.5], [-0.5, 0.5]], dtype=boxes.dtype)
    local = signs * boxes[:, None, 2:4]
    c, s = boxes[:, 4, None].cos(), boxes[:, 4, None].sin()
    return boxes[:, None, :2] + torch.stack([local[..., 0] * c - local[..., 1] * s,
                                             local[..., 0] * s + local[..., 1] * c], 2)


def cross(a, b):
    return a[..., 0] * b[..., 1] - a[..., 1] * b[..., 0]


def border_inside(polygon, rim, closed):
    """Twice the area that the parts of a polygon's sides inside of `rim` span with the origin; [N, 4, 2] both. A side on
    one of rim's is inside if closed."""
    along, rims = polygon.roll(-1, 1) - polygon, rim.roll(-1, 1) - rim
    height = cross(rims[:, None], polygon[:, :, None] - rim[:, None])  # [N, side of polygon, side of rim]
    slope = cross(rims[:, None], along[:, :, None])
    outside = torch.where(height < 0 if closed else height <= 0, 2.0, 0.0).to(height.dtype)
    at = -height / torch.where(slope == 0, torch.ones_like(slope), slope)
    enter = torch.where(slope > 0, at, torch.where(slope == 0, outside, 0)).amax(2).clamp(min=0)
    leave = torch.where(slope < 0, at, 1).amin(2).clamp(max=1)
    start = polygon + enter.unsqueeze(-1) * along
    return ((leave - enter).clamp(min=0) * cross(start, along)).sum(1)


def shared_area(a, b):
    """Area that a box [5] shares with each of b [N, 5]: Green's formula along the border of what they share."""
    one = corners_of(a[None]).expand(len(b), 4, 2) - a[:2]
    each = corners_of(b) - a[:2]
    return (border_inside(one, each, True) + border_inside(each, one, False)).clamp(min=0) / 2


def box_iou_rotated(boxes1, boxes2, mode="iou", aligned=False, clockwise=True):
    assert not aligned
    if len(boxes1) == 0 or len(boxes2) == 0:
        return boxes1.new_zeros(len(boxes1), len(boxes2))
    if not clockwise:
        boxes1, boxes2 = (boxes * torch.tensor([1, 1, 1, 1, -1]) for boxes in (boxes1, boxes2))
    shared = torch.stack([shared_area(a, boxes2) for a in boxes1])
    areas1, areas2 = boxes1[:, 2:4].prod(1)[:, None], boxes2[:, 2:4].prod(1)[None]
    return shared / (areas1 if mode == "iof" else areas1 + areas2 - shared)


def nms_rotated(dets, scores, iou_threshold, labels=None, clockwise=True):
    assert labels is None
    if len(dets) == 0:
        return dets, None
    order, kept = scores.sort(dim=0, descending=True, stable=True)[1], []
    while len(order) > 0:
        kept.append(order[0])
        order = order[1:]
        if len(order) > 0:
            order = order[box_iou_rotated(dets[kept[-1]][None], dets[order])[0] <= iou_threshold]
    kept = torch.stack(kept)
    return torch.cat([dets[kept], scores[kept, None]], 1), kept


def voxelization(points, voxel_size, coors_range, max_points=35, max_voxels=20000, deterministic=True):
    size, limits = torch.tensor(voxel_size), torch.tensor(coors_range)  # float, as mmcv passes them
    grid = ((limits[3:] - limits[:3]) / size).round().long()
    cells = ((points[:, :3] - limits[:3].to(points.dtype)) / size.to(points.dtype)).floor().long()
    seen, rows = {}, []
    for i, cell in enumerate(cells.tolist()):
        if all(0 <= c < g for c, g in zip(cell, grid.tolist())):
            number = seen.setdefault(tuple(cell), len(seen))
            if number == len(rows) and number < max_voxels:
                rows.append([])
            if number < len(rows) and len(rows[number]) < max_points:
                rows[number].append(i)
    voxels = points.new_zeros(len(rows), max_points, points.shape[1])
    for number, found in enumerate(rows):
        voxels[number, :len(found)] = points[found]
    places = [place[::-1] for place in list(seen)[:len(rows)]]
    return voxels, torch.tensor(places).int(), torch.tensor([len(found) for found in rows]).int()


def get_indice_pairs(indices, batch_size, spatial_shape, ksize, stride, padding, dilation, out_padding, subm, transpose,
                     grid=None):
    """Pairs of a convolution: for each offset the inputs that meet an output, and which."""
    assert not transpose
    ksize, stride, padding, dilation = (torch.tensor(each) for each in (ksize, stride, padding, dilation))
    if subm:
        padding, stride = ksize // 2 * dilation, torch.ones_like(stride)
    shape = torch.tensor(spatial_shape)
    shape = (shape + 2 * padding - dilation * (ksize - 1) - 1) // stride + 1
    offsets = torch.cartesian_prod(*(torch.arange(int(k)) for k in ksize)).view(-1, len(ksize))
    places = indices[None, :, 1:].long() + padding - (offsets * dilation)[:, None]
    outputs = torch.div(places, stride, rounding_mode="floor")
    met = ((places % stride == 0) & (outputs >= 0) & (outputs < shape)).all(2)
    keys = indices[:, 0].long().expand(met.shape)
    for axis, size in enumerate(shape):
        keys = keys * size + outputs[..., axis]
    if subm:
        own, order = keys[len(offsets) // 2].sort()
        at = torch.searchsorted(own, keys).clamp(max=len(own) - 1)
        met = met & (own[at] == keys)
        numbers, outids = order[at], indices
    else:
        own = keys[met].unique()
        numbers, rest, columns = torch.searchsorted(own, keys), own, []
        for size in shape.flip(0):
            columns.append(rest % size)
            rest = torch.div(rest, size, rounding_mode="floor")
        outids = torch.stack([rest, *columns[::-1]], 1).to(indices.dtype)
    pairs = indices.new_full((len(offsets), 2, len(indices)), -1)
    for k, flags in enumerate(met):
        found = flags.nonzero()[:, 0]
        pairs[k, 0, :len(found)], pairs[k, 1, :len(found)] = found, numbers[k, found]
    return outids, pairs, met.sum(1).int()


def indice_conv(features, filters, indice_pairs, indice_pair_num, num_activate_out):
    result = features.new_zeros(num_activate_out, filters.shape[-1])
    for pairs, number, filter in zip(indice_pairs, indice_pair_num.tolist(), filters.flatten(0, -3)):
        result = result.index_add(0, pairs[1, :number], features[pairs[0, :number].long()] @ filter)
    return result


STAND_INS = {"carafe": carafe, "roi_align": roi_align, "deform_roi_pool": deform_roi_pool, "psa_mask": psa_mask,
             "nms": nms, "ball_query": ball_query, "three_nn": three_nn, "three_interpolate": three_interpolate,
             "furthest_point_sample": furthest_point_sample,
             "furthest_point_sample_with_dist": furthest_point_sample_with_dist, "gather_points": gather_points,
             "grouping_operation": grouping_operation, "points_in_boxes_all": points_in_boxes_all,
             "points_in_boxes_part": points_in_boxes_part, "RoIPointPool3dFunction": RoIPointPool3dFunction,
             "box_iou_rotated": box_iou_rotated, "nms_rotated": nms_rotated, "voxelization": voxelization,
             "RoIAlignRotatedFunction": RoIAlignRotatedFunction, "deform_conv2d": deform_conv2d,
             "modulated_deform_conv2d": modulated_deform_conv2d,
             "get_indice_pairs": get_indice_pairs, "indice_conv": indice_conv, "indice_subm_conv": indice_conv}


# mmdet3d has a copy of mmcv's voxelization.
OWNERS = ("mmcv.ops", "mmdet3d.models.data_preprocessors.voxelize")


def without_extension():
    """mmcv.ops without a compiled extension can be imported; calling anything of it raises."""
    module = types.ModuleType("mmcv._ext")

    def missing(name):
        if name.startswith("__"):
            raise AttributeError(name)

        def call(*args, **kwargs):
            raise NotImplementedError(f"no stand-in for mmcv's {name}")
        return call

    module.__getattr__ = missing
    sys.modules["mmcv._ext"] = sys.modules["mmcv"]._ext = module


def replace():
    """Puts the stand-ins wherever a loaded module has mmcv's function."""
    originals = {}
    for module in [module for name, module in list(sys.modules.items()) if name.startswith(OWNERS)]:
        for name, ours in STAND_INS.items():
            if name in vars(module) and not isinstance(vars(module)[name], types.ModuleType):
                originals[id(vars(module)[name])] = ours
    for name, module in list(sys.modules.items()):
        if name.split(".")[0] in ("mmcv", "mmdet", "mmdet3d", "mmrotate", "mmseg"):
            for attribute, value in list(vars(module).items()):
                if id(value) in originals:
                    setattr(module, attribute, originals[id(value)])
