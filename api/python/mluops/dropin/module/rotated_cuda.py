"""The extensions of rotated detectors on mmdet 1 (S2ANet and its descendants), YOLOv5-OBB and Rotated_IoU: suppression and IoU
of boxes x, y, w, h, angle in radians, RoIs of such boxes, the corners of intersections."""

from ...torch._integers import int32
from ...torch._tensors import floats
from ...torch.op import roi_align_rotated as _rois
from ...torch.op import rotated as _rotated
from ...torch.op.diff_iou_rotated import sort_vertices
from ...torch.op.poly_nms import poly_nms

__all__ = ["box_iou_rotated", "ml_nms_rotated", "nms_poly", "nms_rotated", "roi_align_rotated_backward", "roi_align_rotated_forward",
           "sort_vertices_forward"]

PACKAGE = "mmdet"
NAMES = tuple(f"{prefix}{name}_cuda" for name in ("box_iou_rotated", "ml_nms_rotated", "nms_rotated", "roi_align_rotated",
                                                  "sort_vertices") for prefix in ("", "*.")) + ("sort_vertices",)


def nms_rotated(dets, scores, iou_threshold):
    """Indices int64 of the boxes kept, best score first. IoUs are the same for both senses of the angle."""
    return _rotated.kept(*floats(dets=dets, scores=scores), iou_threshold)


def nms_poly(dets, iou_threshold):
    """Quadrilaterals and scores [N, 9]; indices int64 of those kept, ascending."""
    return poly_nms(dets, iou_threshold)


def ml_nms_rotated(dets, scores, labels, iou_threshold):
    return _rotated.kept_of_groups(*floats(dets=dets, scores=scores), labels, iou_threshold)


def box_iou_rotated(boxes1, boxes2):
    return _rotated.box_iou_rotated(boxes1, boxes2)


def roi_align_rotated_forward(input, rois, spatial_scale, pooled_height, pooled_width, sampling_ratio):
    """RoIs: batch index, x, y, w, h, angle, counterclockwise; moved by half a pixel."""
    x, r = floats(input=input, rois=rois)
    return _rois.forward(x, r, pooled_height, pooled_width, max(sampling_ratio, 0), float(spatial_scale), True, False)


def roi_align_rotated_backward(grad, rois, spatial_scale, pooled_height, pooled_width, batch_size, channels, height,
                               width, sampling_ratio):
    g, r = floats(grad=grad, rois=rois)
    return _rois.gradient(g, r, batch_size, height, width, max(sampling_ratio, 0), float(spatial_scale), True, False)


def sort_vertices_forward(vertices, mask, num_valid):
    """Indices [B, N, 9] of an intersection's corners in order."""
    return sort_vertices(vertices, mask.bool(), int32("num_valid", num_valid))
