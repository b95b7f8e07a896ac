"""detectron2._C, and the operators torch.ops.detectron2 that it registers. Deformable convolutions, which detectron2
refuses for CPU tensors, are replaced where they stand."""

import math

import torch

from ...torch._tensors import floats
from ...torch.filling.dcn import deform_conv_backward_input, deform_conv_forward
from ...torch.filling.dcn import deform_conv_backward_parameters as deform_conv_backward_filter
from ...torch.filling.dcn import modulated_deform_conv_backward, modulated_deform_conv_forward
from ...torch.op import roi_align_rotated as _rois
from ...torch.op.dcn import deform_conv2d, modulated_deform_conv2d
from ...torch.op.rotated import box_iou_rotated as _box_iou_rotated
from ...torch.op.rotated import nms_rotated as _nms_rotated

__all__ = ["box_iou_rotated", "deform_conv_backward_filter", "deform_conv_backward_input", "deform_conv_forward",
           "get_compiler_version", "get_cuda_version", "has_cuda", "modulated_deform_conv_backward",
           "modulated_deform_conv_forward", "nms_rotated", "roi_align_rotated_backward", "roi_align_rotated_forward"]

PACKAGE = "detectron2"
NAMES = ("detectron2._C",)
UNSERVED = ("tensormask._C",)
FAILS = ("detectron2.evaluation.fast_eval_api",)  # its COCOeval is in the extension; the evaluator has pycocotools' then


def get_compiler_version():
    return "none (mluops)"


def get_cuda_version():
    return "not available"


def has_cuda():
    return False


def _radians(boxes):
    """The last of their numbers are degrees."""
    factors = boxes.new_ones(boxes.shape[1])
    factors[-1] = math.pi / 180
    return boxes * factors


def box_iou_rotated(boxes1, boxes2):
    """Boxes x, y, w, h and degrees, counterclockwise."""
    return _box_iou_rotated(_radians(boxes1), _radians(boxes2), clockwise=False)


def nms_rotated(dets, scores, iou_threshold):
    """Indices int64 of the boxes kept, best score first."""
    return _nms_rotated(_radians(dets), scores, iou_threshold, clockwise=False)[1]


def roi_align_rotated_forward(input, rois, spatial_scale, pooled_height, pooled_width, sampling_ratio):
    """RoIs: batch index, x, y, w, h and degrees, counterclockwise; moved by half a pixel."""
    x, r = floats(input=input, rois=_radians(rois))
    return _rois.forward(x, r, pooled_height, pooled_width, max(sampling_ratio, 0), float(spatial_scale), True, False)


def roi_align_rotated_backward(grad, rois, spatial_scale, pooled_height, pooled_width, batch_size, channels, height,
                               width, sampling_ratio):
    g, r = floats(grad=grad, rois=_radians(rois))
    return _rois.gradient(g, r, batch_size, height, width, max(sampling_ratio, 0), float(spatial_scale), True, False)


def _deform_conv(input, offset, weight, stride=1, padding=0, dilation=1, groups=1, deformable_groups=1,
                 im2col_step=64):
    return deform_conv2d(input, offset, weight, stride, padding, dilation, groups, deformable_groups)


REPLACES = {("detectron2.layers.deform_conv", "deform_conv"): _deform_conv,
            ("detectron2.layers.deform_conv", "modulated_deform_conv"): modulated_deform_conv2d}

_library = []  # kept: the registrations live as long as it does


def loaded():
    """Registers torch.ops.detectron2, once in a process."""
    if _library or not hasattr(torch.library, "Library"):
        return
    made = torch.library.Library("detectron2", "DEF")
    for schema, function in (("nms_rotated(Tensor dets, Tensor scores, float iou_threshold) -> Tensor", nms_rotated),
                             ("box_iou_rotated(Tensor boxes1, Tensor boxes2) -> Tensor", box_iou_rotated),
                             ("roi_align_rotated_forward(Tensor input, Tensor rois, float spatial_scale,"
                              " int pooled_height, int pooled_width, int sampling_ratio) -> Tensor",
                              roi_align_rotated_forward),
                             ("roi_align_rotated_backward(Tensor grad, Tensor rois, float spatial_scale,"
                              " int pooled_height, int pooled_width, int batch_size, int channels, int height,"
                              " int width, int sampling_ratio) -> Tensor", roi_align_rotated_backward)):
        made.define(schema)
        made.impl(schema.split("(")[0], function, "CPU")
    _library.append(made)
