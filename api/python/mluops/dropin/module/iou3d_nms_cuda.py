"""iou3d_nms_cuda of OpenPCDet, pcdet_nms of FCAF3D: overlaps of boxes seen from above, and suppression. Boxes come sorted."""

from ...torch._buffers import fill, fill_first
from ...torch._tensors import floats
from ...torch.op.iou3d import kept, overlap, paired_overlap

__all__ = ["boxes_aligned_iou_bev_cpu", "boxes_aligned_overlap_bev_gpu", "boxes_iou_bev_cpu", "boxes_iou_bev_gpu",
           "boxes_overlap_bev_gpu", "nms_gpu", "nms_normal_gpu", "paired_boxes_overlap_bev_gpu"]

PACKAGE = "pcdet"
NAMES = ("iou3d_nms_cuda", "*.iou3d_nms_cuda", "*.pcdet_nms.pcdet_nms")

_LEAST_AREA = 1e-8


def _area(boxes):
    return boxes[:, 3] * boxes[:, 4]


def _write(ans, values):
    fill("ans", ans, values)
    return 1


def boxes_overlap_bev_gpu(boxes_a, boxes_b, ans_overlap):
    return _write(ans_overlap, overlap(*floats(boxes_a=boxes_a, boxes_b=boxes_b)))


def boxes_aligned_overlap_bev_gpu(boxes_a, boxes_b, ans_overlap):
    return _write(ans_overlap, paired_overlap(*floats(boxes_a=boxes_a, boxes_b=boxes_b)))


paired_boxes_overlap_bev_gpu = boxes_aligned_overlap_bev_gpu


def boxes_iou_bev_gpu(boxes_a, boxes_b, ans_iou):
    a, b = floats(boxes_a=boxes_a, boxes_b=boxes_b)
    shared = overlap(a, b)
    return _write(ans_iou, shared / (_area(a)[:, None] + _area(b)[None] - shared).clamp(min=_LEAST_AREA))


boxes_iou_bev_cpu = boxes_iou_bev_gpu


def boxes_aligned_iou_bev_cpu(boxes_a, boxes_b, ans_iou):
    a, b = floats(boxes_a=boxes_a, boxes_b=boxes_b)
    shared = paired_overlap(a, b)
    return _write(ans_iou, shared / (_area(a) + _area(b) - shared).clamp(min=_LEAST_AREA))


def _nms(boxes, keep, thresh, rotated):
    return fill_first("keep", keep, kept(*floats(boxes=boxes), float(thresh), rotated))


def nms_gpu(boxes, keep, nms_overlap_thresh):
    """Returns how many of keep's first elements are set."""
    return _nms(boxes, keep, nms_overlap_thresh, True)


def nms_normal_gpu(boxes, keep, nms_overlap_thresh):
    return _nms(boxes, keep, nms_overlap_thresh, False)
