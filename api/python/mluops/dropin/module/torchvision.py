"""torchvision.ops: mluops' nms, batched_nms, roi_align, ps_roi_pool and deform_conv2d for CPU tensors, on request.
(roi_pool rounds boxes, mmcv's and ours does not.) torchvision's detectors take numbers of boxes that torch.export learns
when the model runs: three functions ask for them as Python numbers."""

from typing import Any, Callable

import torch
from torch.nn import functional

from ...torch.op import nms as _nms
from ...torch.op.dcn import torchvision_deform_conv2d as deform_conv2d
from ...torch.op.ps_roi_pool import ps_roi_pool as _ps_roi_pool
from ...torch.op.roi_align import roi_align as _roi_align

__all__ = ["batched_nms", "deform_conv2d", "nms", "ps_roi_pool", "roi_align"]

PACKAGE = "torchvision"
ON_REQUEST = True


def nms(boxes, scores, iou_threshold):
    return _nms.kept(boxes, scores, float(iou_threshold), 0)


def batched_nms(boxes, scores, idxs, iou_threshold):
    return _nms.kept_of_groups(boxes, scores, idxs, float(iou_threshold))


def _rois(boxes):
    """T [K, 5] of T [K, 5], or of a list with T [L, 4] for each image."""
    if isinstance(boxes, torch.Tensor):
        return boxes
    return torch.cat([torch.cat([torch.full_like(each[:, :1], i), each], 1) for i, each in enumerate(boxes)])


def roi_align(input, boxes, output_size, spatial_scale=1.0, sampling_ratio=-1, aligned=False):
    return _roi_align(input, _rois(boxes), output_size, spatial_scale, sampling_ratio, "avg", aligned)


def _rounded(numbers):
    """Halves away from zero, as C does."""
    whole = numbers.trunc()
    return whole + ((numbers - whole).abs() >= 0.5) * numbers.sign()


def ps_roi_pool(input, boxes, output_size, spatial_scale=1.0):
    """Corners are rounded after they are scaled, x2 and y2 are outside, and the map's last row and column are left out:
    all of which our definition gives for other boxes on a smaller map."""
    rois = _rois(boxes)
    corners = _rounded(rois[:, 1:] * spatial_scale)
    low, high = corners[:, :2], corners[:, 2:]
    pixels = torch.cat([rois[:, :1], low, torch.maximum(high, low + 1) - 1], 1)
    inner = functional.pad(input, (0, -1, 0, -1))  # one step back; those of two slices fill two maps with zeros
    return _ps_roi_pool(inner, pixels, output_size)


def _multiscale_roi_align(features, boxes, output_size, sampling_ratio, scales, mapper):
    """Each box on the map of its level."""
    rois = _rois(boxes)
    if len(features) == 1:
        return roi_align(features[0], rois, output_size, scales[0], sampling_ratio)
    levels = mapper(boxes)
    pooled = features[0].new_zeros((rois.shape[0], features[0].shape[1], *output_size))
    for level, (feature, scale) in enumerate(zip(features, scales)):
        here = torch.where(levels == level)[0]
        own = roi_align(feature, rois[here], output_size, scale, sampling_ratio)
        pooled = pooled.index_put((here,), own.to(pooled.dtype))
    return pooled


def _topk_min(original: Callable) -> Callable:
    def least(input: torch.Tensor, most: int, axis: int) -> Any:
        size = input.shape[axis]
        return torch.sym_min(most, size) if isinstance(size, getattr(torch, "SymInt", ())) else original(input, most, axis)

    return least


def _box_coder(original: type) -> type:
    class BoxCoder(original):
        def decode(self, rel_codes: torch.Tensor, boxes: Any) -> torch.Tensor:
            together = torch.cat(boxes, 0)
            moved = self.decode_single(rel_codes.reshape(together.shape[0], rel_codes.shape[-1]), together)
            return moved.unflatten(1, (-1, 4))

    return BoxCoder


_PLACES = {"boxes": {"nms": nms, "batched_nms": batched_nms}, "roi_align": {"roi_align": roi_align},
           "deform_conv": {"deform_conv2d": deform_conv2d}, "ps_roi_pool": {"ps_roi_pool": ps_roi_pool}}
REPLACES = {(place, name): function for own, functions in _PLACES.items() for name, function in functions.items()
            for place in (f"torchvision.ops.{own}", "torchvision.ops")}
REPLACES["torchvision.ops.poolers", "_multiscale_roi_align"] = _multiscale_roi_align
WRAPS = {("torchvision.models.detection._utils", "_topk_min"): _topk_min,
         ("torchvision.models.detection._utils", "BoxCoder"): _box_coder}
