"""Calls of eight boxes or fewer through torch: what they cost beside their work. `measure.py --only small` prints them."""

import math

import torch

import mluops.torch as mt

N = 8


def rectangles(numbers=5):
    """Centres, sizes, and an angle for an odd number."""
    axes = numbers // 2
    return torch.cat([torch.rand(N, axes) * 8, torch.rand(N, axes) * 4 + 0.5, torch.rand(N, numbers % 2)], 1)


def upright():
    corner = torch.rand(N, 2) * 8
    return torch.cat([corner, corner + torch.rand(N, 2) * 5], 1)


def quads():
    angles = torch.rand(N, 4).add(torch.arange(4)).mul(math.pi / 2)
    corners = torch.stack([angles.cos(), angles.sin()], 2) * (torch.rand(N, 1, 2) * 3 + 0.5)
    return (corners + torch.rand(N, 1, 2) * 8).reshape(N, 8)


def cases():
    sets, quad, scores, image = torch.rand(N, 18) * 8, quads(), torch.rand(N), torch.rand(1, 16, 8, 8)
    flat, rotated, solid, other = upright(), rectangles(), rectangles(7), rectangles(7)
    points, logits, classes = torch.rand(N, 2) * 8, torch.rand(N, 16), torch.zeros(N, dtype=torch.long)
    aligned, mask = torch.rand(1, 8, 8, 5), torch.rand(1, 8, 8) - 0.5
    images, weight, bias = torch.zeros(N, 1), torch.rand(16, 16, 3, 3), torch.rand(16)
    rois, curves = torch.cat([images, flat], 1), torch.cat([images, sets[:, :16]], 1)
    config = {"type": "nms", "iou_threshold": 0.5}
    return {
        "convex_giou": lambda: mt.convex_giou(sets, quad), "convex_iou": lambda: mt.convex_iou(sets, quad),
        "min_area_polygons": lambda: mt.min_area_polygons(sets),
        "nms_quadri": lambda: mt.nms_quadri(quad, scores, 0.3), "box_iou_quadri": lambda: mt.box_iou_quadri(quad, quad),
        "bezier_align": lambda: mt.bezier_align(image, curves, (2, 4), 1.0),
        "diff_iou_rotated_2d": lambda: mt.diff_iou_rotated_2d(rotated[None], rotated[None].flip(1)),
        "diff_iou_rotated_3d": lambda: mt.diff_iou_rotated_3d(solid[None], other[None]),
        "prroi_pool": lambda: mt.prroi_pool(image, rois, (2, 2), 1.0),
        "rotated_feature_align": lambda: mt.rotated_feature_align(image, aligned, 1.0, 1),
        "points_in_polygons": lambda: mt.points_in_polygons(points, quad),
        "correlation": lambda: mt.correlation(image, image),
        "batched_nms": lambda: mt.batched_nms(flat, scores, classes, config), "nms": lambda: mt.nms(flat, scores, 0.5),
        "nms_rotated": lambda: mt.nms_rotated(rotated, scores, 0.3), "nms3d": lambda: mt.nms3d(solid, scores, 0.3),
        "poly_nms": lambda: mt.poly_nms(torch.cat([quad, scores[:, None]], 1), 0.3),
        "box_iou_rotated": lambda: mt.box_iou_rotated(rotated, other[:, :5]),
        "masked_conv2d": lambda: mt.masked_conv2d(image, mask, weight, bias, 1),
        "softmax_focal_loss": lambda: mt.softmax_focal_loss(logits, classes),
        "knn": lambda: mt.knn(3, solid[None, :, :3].contiguous()), "torch.mul": lambda: flat * flat,
    }


def small(seconds, only, least):
    """Least times in microseconds."""
    print(f"\n{'us per call, 8 boxes':46s}")
    for name, call in cases().items():
        if only in name:
            print(f"{name:46s}{least(call, seconds):10.1f}", flush=True)
