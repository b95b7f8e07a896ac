"""The extensions of rotated detectors on mmdet (S2ANet, AerialDetection, ReDet, R3Det and their descendants), YOLOv5-OBB and
Rotated_IoU: suppression and IoU of quadrilaterals and of boxes x, y, w, h, angle in radians, RoIs of such boxes, the corners
of intersections."""

from ...torch._buffers import add, fill
from ...torch._integers import int32
from ...torch._tensors import floats
from ...torch.op import roi_align_rotated as _rois
from ...torch.op import rotated as _rotated
from ...torch.op.box_iou_quadri import box_iou_quadri
from ...torch.op.diff_iou_rotated import sort_vertices
from ...torch.op.poly_nms import poly_nms

__all__ = ["backward", "box_iou_rotated", "forward", "mat_iou_iof", "ml_nms_rotated", "nms_poly", "nms_rotated", "poly_nms",
           "polygon_iou", "rnms", "roi_align_rotated_backward", "roi_align_rotated_forward", "sort_vertices_forward",
           "vec_iou_iof"]

PACKAGE = "mmdet"
NAMES = tuple(f"{prefix}{name}" for name in (
    "box_iou_rotated_cuda", "ml_nms_rotated_cuda", "nms_rotated_cuda", "poly_nms_cuda", "polygon_geo_cpu", "rbbox_geo_cuda",
    "rnms_cuda", "rnms_ext", "roi_align_rotated_cuda", "sort_vertices_cuda") for prefix in ("", "*.")) + ("sort_vertices",)


def nms_rotated(dets, scores, iou_threshold):
    """Indices int64 of the boxes kept, best score first. Angles are clockwise."""
    return _rotated.kept(*floats(dets=dets, scores=scores), iou_threshold)


def nms_poly(dets, iou_threshold):
    """Quadrilaterals and scores [N, 9]; indices int64 of those kept, ascending."""
    return poly_nms(dets, iou_threshold)


def rnms(dets, iou_threshold):
    """Boxes and scores [N, 6]; indices int64 of those kept, ascending."""
    return _rotated.kept(dets[:, :5].contiguous(), dets[:, 5].contiguous(), iou_threshold).sort()[0]


def ml_nms_rotated(dets, scores, labels, iou_threshold):
    return _rotated.kept_of_groups(*floats(dets=dets, scores=scores), labels, iou_threshold)


def box_iou_rotated(boxes1, boxes2):
    return _rotated.box_iou_rotated(boxes1, boxes2)


def mat_iou_iof(boxes1, boxes2, iof):
    """IoUs [N, M], or shared areas over those of boxes1."""
    return _rotated.box_iou_rotated(boxes1, boxes2, "iof" if iof else "iou")


def vec_iou_iof(boxes1, boxes2, iof):
    """The same of pairs [N]; one of the two may be a single box."""
    count = max(len(boxes1), len(boxes2))
    pairs = (each.expand(count, 5) if len(each) == 1 else each for each in (boxes1, boxes2))
    return _rotated.box_iou_rotated(*pairs, "iof" if iof else "iou", aligned=True)


def polygon_iou(polygons1, polygons2):
    """IoUs [N, M] of quadrilaterals."""
    return box_iou_quadri(polygons1, polygons2)


def roi_align_rotated_forward(input, rois, spatial_scale, pooled_height, pooled_width, sampling_ratio):
    """RoIs: batch index, x, y, w, h, angle, counterclockwise; moved by half a pixel."""
    x, r = floats(input=input, rois=rois)
    return _rois.forward(x, r, pooled_height, pooled_width, max(sampling_ratio, 0), float(spatial_scale), True, False)


def roi_align_rotated_backward(grad, rois, spatial_scale, pooled_height, pooled_width, batch_size, channels, height,
                               width, sampling_ratio):
    g, r = floats(grad=grad, rois=rois)
    return _rois.gradient(g, r, batch_size, height, width, max(sampling_ratio, 0), float(spatial_scale), True, False)


def forward(features, rois, out_h, out_w, spatial_scale, sample_num, output):
    """RoIs: batch index, x, y, w, h, angle, clockwise."""
    x, r = floats(features=features, rois=rois)
    fill("output", output, _rois.forward(x, r, out_h, out_w, max(sample_num, 0), float(spatial_scale), False, True))
    return 1


def backward(grad_output, rois, out_h, out_w, spatial_scale, sample_num, grad_input):
    """Added to what there is."""
    g, r = floats(grad_output=grad_output, rois=rois)
    batch, _, height, width = grad_input.shape
    add("grad_input", grad_input, _rois.gradient(g, r, batch, height, width, max(sample_num, 0), float(spatial_scale), False,
                                                 True))
    return 1


def sort_vertices_forward(vertices, mask, num_valid):
    """Indices [B, N, 9] of an intersection's corners in order."""
    return sort_vertices(vertices, mask.bool(), int32("num_valid", num_valid))
