"""Calls beside the sizes and types of networks: large filters over few pixels, a group for each channel, many
neighbours, boxes in one column, small calls, gradients that compositions would need, and other types than float.
`measure.py --only corners` prints the table; `--case` takes a part of a name. Least times of calls that take turns, in
milliseconds."""

import torch
from torch.nn import functional as F

import mluops.torch as mt
from measure_detection import gradients, sigmoid_composed, torchvision_ops

FLOAT, HALF, BFLOAT16, DOUBLE = torch.float32, torch.float16, torch.bfloat16, torch.float64


def deformed(channels, size, dtype=FLOAT, groups=1):
    """Tensors of a deformable 3 x 3 convolution."""
    of_group = channels // groups
    tensors = (torch.randn(1, channels, size, size), torch.randn(1, 18, size, size),
               torch.randn(channels, of_group, 3, 3) / (3 * of_group ** 0.5))
    return [t.to(dtype) for t in tensors]


def deform_conv(groups=1):
    return lambda x, offset, weight: mt.deform_conv2d(x, offset, weight, 1, 1, 1, groups)


def filters(vision):
    for channels, size in ((512, 7), (1024, 7), (2048, 4)):
        tensors = deformed(channels, size)
        theirs = vision and (lambda t=tensors: vision.deform_conv2d(*t, padding=1))
        yield (f"deform_conv2d, {channels} channels, {size} x {size}", lambda t=tensors: deform_conv()(*t),
               "torchvision", theirs)
    dense, split = deformed(64, 50), deformed(64, 50, groups=64)
    yield ("deform_conv2d, 64 channels, 50 x 50, groups = 64", lambda: deform_conv(64)(*split), "groups = 1",
           lambda: deform_conv()(*dense))
    x, mask, masks = torch.rand(1, 64, 50, 50), torch.rand(1, 25, 100, 100), torch.rand(1, 64 * 25, 100, 100)
    yield ("carafe, 64 channels, 50 x 50, groups = 64", lambda: mt.carafe(x, masks, 5, 64, 2), "groups = 1",
           lambda: mt.carafe(x, mask, 5, 1, 2))


def points(vision):
    cloud = torch.rand(1, 4096, 3)
    for k in (512, 1024):
        yield (f"knn, k {k} of 4096", lambda k=k: mt.knn(k, cloud), "topk of cdist",
               lambda k=k: torch.cdist(cloud, cloud).topk(k, largest=False))


def boxes_at(x, y, size=10.0):
    corner = torch.stack([x, y], 1)
    return torch.cat([corner, corner + size], 1)


def rotated(count, side):
    return torch.cat([torch.rand(count, 2) * side, torch.rand(count, 2) * 20 + 4, torch.rand(count, 1) * 3], 1)


def suppression(vision):
    count = 20000
    scores, along = torch.randperm(count) / count, torch.arange(count) * 0.5
    row = boxes_at(along, torch.zeros(count))
    spread = boxes_at(torch.rand(count) * 1300, torch.rand(count) * 800, 40.0)
    far = torch.cat([spread[1:], torch.tensor([[1e6, 1e6, 1e6 + 10, 1e6 + 10]])])
    for name, boxes in (("in one row", row), ("in one column", boxes_at(torch.zeros(count), along)),
                        ("spread", spread), ("spread, one far away", far)):
        yield (f"nms of 20000 boxes {name}", lambda b=boxes: mt.nms(b, scores, 0.5), "torchvision",
               vision and (lambda b=boxes: vision.nms(b, scores, 0.5)))
    for count, side in ((2000, 300), (8000, 600)):
        flat, own = rotated(count, side), torch.rand(count)
        solid = torch.cat([flat[:, :2], torch.rand(count, 1), flat[:, 2:4], torch.rand(count, 1), flat[:, 4:]], 1)
        yield f"nms_rotated of {count} boxes", lambda b=flat, s=own: mt.nms_rotated(b, s, 0.1), "", None
        yield f"nms3d of {count} boxes", lambda b=solid, s=own: mt.nms3d(b, s, 0.1), "", None


def small(vision):
    for count in (8, 100):
        boxes, scores = boxes_at(torch.rand(count) * 50, torch.rand(count) * 50), torch.rand(count)
        yield (f"nms of {count} boxes", lambda b=boxes, s=scores: mt.nms(b, s, 0.5), "torchvision",
               vision and (lambda b=boxes, s=scores: vision.nms(b, s, 0.5)))
    classes, config = torch.randint(0, 4, (100,)), {"type": "nms", "iou_threshold": 0.5}
    yield ("batched_nms of 100 boxes", lambda: mt.batched_nms(boxes, scores, classes, config), "torchvision",
           vision and (lambda: vision.batched_nms(boxes, scores, classes, 0.5)))
    cloud = torch.rand(1, 100, 3)
    yield ("knn, k 8 of 100", lambda: mt.knn(8, cloud), "topk of cdist",
           lambda: torch.cdist(cloud, cloud).topk(8, largest=False))


def overlaps(a, b):
    low, high = torch.maximum(a[:, None, :2], b[:, :2]), torch.minimum(a[:, None, 2:], b[:, 2:])
    shared = (high - low).clamp(min=0).prod(2)
    area = (a[:, 2:] - a[:, :2]).prod(1)[:, None] + (b[:, 2:] - b[:, :2]).prod(1)
    return shared / (area - shared)


def without_compositions(vision):
    rois = torch.cat([torch.rand(128, 3) * 50, torch.rand(128, 3) * 4 + 2, torch.rand(128, 1)], 1)
    cloud, features = torch.rand(16384, 3) * 50, torch.rand(16384, 32)
    yield ("roiaware_pool3d backward, 128 RoIs, 14 a side", gradients(
        lambda f: mt.roiaware_pool3d(rois, cloud, f, 14, 128, "max"), [features]), "", None)
    f, i, w = torch.rand(16, 256, 256), torch.randint(0, 256, (16, 1024, 3), dtype=torch.int32), torch.rand(16, 1024, 3)
    yield ("three_interpolate backward in weights", gradients(lambda w: mt.three_interpolate(f, i, w), [w]),
           "in features", gradients(lambda f: mt.three_interpolate(f, i, w), [f]))
    a, b = (boxes_at(torch.rand(1000) * 90, torch.rand(1000) * 90) for _ in range(2))
    yield ("bbox_overlaps 1000 x 1000, backward", gradients(mt.bbox_overlaps, [a, b]), "composed",
           gradients(overlaps, [a, b]))
    x, target = torch.randn(200700, 80), torch.randint(0, 81, (200700,))
    yield ("sigmoid_focal_loss, sum of [200700, 80]", lambda: mt.sigmoid_focal_loss(x, target, 2.0, 0.25, None, "sum"),
           "composed", lambda: sigmoid_composed(x, target))
    yield ("sigmoid_focal_loss, backward", gradients(
        lambda x: mt.sigmoid_focal_loss(x, target, 2.0, 0.25, None, "sum"), [x]), "composed",
        gradients(lambda x: sigmoid_composed(x, target), [x]))


def compared_with_float(name, make, dtypes):
    """make(dtype): a call."""
    in_float = make(FLOAT)
    for dtype in dtypes:
        yield f"{name} in {str(dtype)[6:]}", make(dtype), "float32", in_float


def types(vision):
    def convolution(dtype):
        tensors = deformed(256, 50, dtype)
        return lambda: deform_conv()(*tensors)

    def sparse(dtype):
        voxels = torch.unique(torch.randint(0, 41, (40000, 3)), dim=0).int()
        indices = torch.cat([torch.zeros(len(voxels), 1, dtype=torch.int32), voxels], 1)
        _, pairs, number = mt.get_indice_pairs(indices, 1, [41, 41, 41], 3, 1, 1, subm=True)
        x, weight = torch.rand(len(voxels), 64).to(dtype), torch.rand(3, 3, 3, 64, 64).to(dtype)
        return lambda: mt.indice_subm_conv(x, weight, pairs, number, len(voxels))

    def chamfer(dtype):
        a, b = torch.rand(16, 2048, 2).to(dtype), torch.rand(16, 2048, 2).to(dtype)
        return gradients(lambda a, b: mt.chamfer_distance(a, b)[0], [a, b])

    def pairs_of_boxes(dtype):
        boxes = rotated(1000, 200).to(dtype)
        return lambda: mt.box_iou_rotated(boxes, boxes)

    yield from compared_with_float("deform_conv2d, 256 channels, 50 x 50,", convolution, (BFLOAT16, HALF))
    yield from compared_with_float("indice_subm_conv, 64 channels,", sparse, (BFLOAT16, HALF))
    image, plain = torch.rand(1, 256, 50, 50), torch.rand(256, 256, 3, 3)
    yield ("torch's conv2d, 256 channels, 50 x 50, in bfloat16",
           lambda a=image.bfloat16(), b=plain.bfloat16(): F.conv2d(a, b, padding=1), "float32",
           lambda: F.conv2d(image, plain, padding=1))
    yield from compared_with_float("chamfer_distance backward", chamfer, (HALF,))
    yield from compared_with_float("box_iou_rotated 1000 x 1000", pairs_of_boxes, (HALF,))
    yield from compared_with_float("psa_mask backward, 59 x 59", lambda dtype: gradients(
        lambda x: mt.psa_mask(x, 0, 59), [torch.rand(1, 59 * 59, 30, 30).to(dtype)]), (DOUBLE,))
    yield from compared_with_float("correlation, 64 channels, 9 x 9 places,", lambda dtype: (
        lambda a=torch.rand(1, 64, 48, 64).to(dtype), b=torch.rand(1, 64, 48, 64).to(dtype):
        mt.correlation(a, b, 1, 4, 1, 0)), (DOUBLE,))


def corners(seconds, only, least):
    vision = torchvision_ops()
    print("\n| case | ms | compared with | ms | times |\n|---|---|---|---|---|")
    for part in (filters, points, suppression, small, without_compositions, types):
        for name, ours, who, theirs in part(vision):
            if only not in name:
                continue
            own, *other = least([ours] + ([theirs] if theirs else []), seconds)
            cells = [who, f"{other[0]:.4g}", f"{own / other[0]:.2f}"] if other else ["", "", ""]
            print(f"| {name} | {own:.4g} | {' | '.join(cells)} |", flush=True)
