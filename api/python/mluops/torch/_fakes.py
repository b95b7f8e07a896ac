"""What torch.compile and meta tensors need: shapes, dtypes and strides of the results, without any arithmetic."""

import torch

from ._memory import empty_channels_last


def carafe(features, masks, kernel_size, group_size, scale_factor):
    n, c, h, w = features.shape
    return empty_channels_last(features, (n, c, h * scale_factor, w * scale_factor))


def carafe_backward(grad, features, masks, kernel_size, group_size, scale_factor):
    return empty_channels_last(features, features.shape), empty_channels_last(masks, masks.shape)


def psa_mask(input, psa_type, h_mask, w_mask):
    n, _, h, w = input.shape
    return empty_channels_last(input, (n, h * w, h, w))


def psa_mask_backward(grad, psa_type, h_mask, w_mask):
    n, _, h, w = grad.shape
    return empty_channels_last(grad, (n, h_mask * w_mask, h, w))


def deform_roi_pool(input, rois, offset, pooled_height, pooled_width, spatial_scale, sampling_ratio, gamma):
    return empty_channels_last(input, (rois.shape[0], input.shape[1], pooled_height, pooled_width))


def deform_roi_pool_backward(grad, input, rois, offset, pooled_height, pooled_width, spatial_scale, sampling_ratio,
                             gamma):
    return empty_channels_last(input, input.shape), input.new_empty(0 if offset is None else offset.shape)


def three_interpolate(features, indices, weight):
    return features.new_empty((features.shape[0], features.shape[1], indices.shape[1]))


def three_interpolate_backward(grad, indices, weight, points):
    return grad.new_empty((grad.shape[0], grad.shape[1], points))


def border_align(input, boxes, pool_size):
    shape = (input.shape[0], input.shape[1] // 4, boxes.shape[1], 4)
    return empty_channels_last(input, shape), empty_channels_last(input, shape, torch.int32)


def border_align_backward(grad, boxes, argmax, pool_size, height, width):
    n, c, _, _ = grad.shape
    return empty_channels_last(grad, (n, 4 * c, height, width))
