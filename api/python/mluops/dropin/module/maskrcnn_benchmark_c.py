"""maskrcnn_benchmark._C, of the detectors and scene graph programs built on it (GLIP, FCOS), and of faster-rcnn.pytorch."""

from ...torch.filling.dcn import (deform_conv_backward_input, deform_conv_backward_parameters, deform_conv_forward,
                                  modulated_deform_conv_backward, modulated_deform_conv_forward)
from ...torch.filling.deform_psroi_pool import deform_psroi_pooling_backward, deform_psroi_pooling_forward
from ...torch.filling import roi_legacy
from ...torch.filling.focal_legacy import sigmoid_focal_loss_backward, sigmoid_focal_loss_forward
from ...torch.op import nms as _nms

__all__ = ["deform_conv_backward_input", "deform_conv_backward_parameters", "deform_conv_forward",
           "deform_psroi_pooling_backward", "deform_psroi_pooling_forward", "ml_nms", "modulated_deform_conv_backward",
           "modulated_deform_conv_forward", "nms", "roi_align_backward", "roi_align_forward", "roi_pool_backward",
           "roi_pool_forward", "sigmoid_focalloss_backward", "sigmoid_focalloss_forward", "soft_nms"]

PACKAGE = "maskrcnn_benchmark"
NAMES = ("maskrcnn_benchmark._C", "*.maskrcnn_benchmark._C", "*_core._C", "model._C")


def nms(dets, scores, threshold):
    """Indices in increasing order; the last pixel counts."""
    return _nms.kept(dets, scores, threshold, 1).sort()[0]


def ml_nms(dets, scores, labels, threshold):
    """Boxes suppress those of their own label."""
    return _nms.kept_of_groups(dets, scores, labels, threshold, 1).sort()[0]


def soft_nms(dets, scores, threshold, sigma):
    """Indices in the order of the softened scores, and those scores; by the Gaussian."""
    found, indices = _nms.softened(dets, scores, threshold, sigma, 0.0, 2, 1)
    return indices, found[:, 4]


def roi_align_forward(input, rois, spatial_scale, pooled_height, pooled_width, sampling_ratio):
    return roi_legacy.roi_align_forward(input, rois, spatial_scale, pooled_height, pooled_width, sampling_ratio)


def roi_align_backward(grad, rois, spatial_scale, pooled_height, pooled_width, batch_size, channels, height, width,
                       sampling_ratio):
    return roi_legacy.roi_align_backward(grad, rois, spatial_scale, batch_size, height, width, sampling_ratio)


def roi_pool_forward(input, rois, spatial_scale, pooled_height, pooled_width):
    return roi_legacy.roi_pool_forward(input, rois, spatial_scale, pooled_height, pooled_width)


def roi_pool_backward(grad, input, rois, argmax, spatial_scale, pooled_height, pooled_width, batch_size, channels, height,
                      width):
    return roi_legacy.roi_pool_backward(grad, rois, argmax, spatial_scale, batch_size, height, width)


def sigmoid_focalloss_forward(logits, targets, num_classes, gamma, alpha):
    """Targets count from 1; 0 is the background, less is left out."""
    return sigmoid_focal_loss_forward(logits, targets, gamma, alpha, 1)


def sigmoid_focalloss_backward(logits, targets, d_losses, num_classes, gamma, alpha):
    return sigmoid_focal_loss_backward(logits, targets, d_losses, gamma, alpha, 1)
