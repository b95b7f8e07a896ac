"""convex_iou, convex_giou and min_area_polygons, which mmcv has no CPU code for."""

import torch

from ...torch.op import polygons as _ours


def convex_iou(pointsets, polygons, ious):
    ious.copy_(_ours.convex_iou(pointsets, polygons))


def convex_giou(pointsets, polygons, output):
    value, gradient = _ours.convex_giou(pointsets, polygons)
    output.copy_(torch.cat([gradient, value[:, None]], 1))


def min_area_polygons(pointsets, polygons):
    polygons.copy_(_ours.min_area_polygons(pointsets))


ENTRY_POINTS = (convex_iou, convex_giou, min_area_polygons)
