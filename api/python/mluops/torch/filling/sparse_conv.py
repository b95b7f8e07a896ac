"""Sparse convolution and its maximum pooling, in 2, 3 and 4 dimensions."""

import torch

from .._tensors import floats
from ..op import sparse_conv as _ours


def get_indice_pairs_3d_forward(indices, batch_size, out_shape, spatial_shape, ksize, stride, padding, dilation,
                                out_padding, subm, transpose):
    return list(_ours.find_pairs(indices, batch_size, out_shape, spatial_shape, ksize, stride, padding, dilation,
                                 bool(subm), bool(transpose)))


def get_indice_pairs_2d_forward(*arguments):
    return get_indice_pairs_3d_forward(*arguments)


def get_indice_pairs_4d_forward(*arguments):
    return get_indice_pairs_3d_forward(*arguments)


def get_indice_pairs_3d_backward(indices, grid, *arguments):
    """mmcv's form, whose scratch argument is left alone."""
    return get_indice_pairs_3d_forward(indices, *arguments)


def get_indice_pairs_2d_backward(indices, grid, *arguments):
    return get_indice_pairs_3d_forward(indices, *arguments)


def _filters_of(pairs, filters):
    """The filters of the pairs: of more, mmcv's own code uses the first. (Cylinder3D of mmdet3d gives kernels of 9 and of
    27 places one indice_key, whose pairs are those of the first.)"""
    count = len(pairs)
    if filters.shape[:-2].numel() <= count:
        return filters
    return filters.flatten(0, -3)[:count].reshape(count, 1, 1, *filters.shape[-2:])


def indice_conv_forward(features, filters, indice_pairs, indice_pair_num, num_activate_out, inverse, subm):
    return _ours.indice_conv(features, _filters_of(indice_pairs, filters), indice_pairs, indice_pair_num,
                             num_activate_out, bool(inverse))


def fused_indice_conv_forward(features, filters, bias, indice_pairs, indice_pair_num, num_activate_out, inverse, subm):
    return indice_conv_forward(features, filters, indice_pairs, indice_pair_num, num_activate_out, inverse, subm) + bias


def indice_conv_backward(features, filters, out_bp, indice_pairs, indice_pair_num, inverse, subm):
    wide = floats(features=features, filters=_filters_of(indice_pairs, filters), out_bp=out_bp)
    arguments = (*wide, *_ours.pair_tensors(indice_pairs, indice_pair_num), bool(inverse))
    of_features, of_filters = _ours.data_gradient(*arguments), _ours.filter_gradient(*arguments)
    whole = torch.zeros_like(filters)  # 0 for the filters that were not used
    whole.flatten(0, -3)[:len(indice_pairs)] = of_filters.flatten(0, -3)
    return [of_features.to(features.dtype), whole]


def indice_maxpool_forward(features, indice_pairs, indice_pair_num, num_activate_out):
    """0 is the least, as in mmcv's own code."""
    return _ours.indice_maxpool(features.clamp(min=0), indice_pairs, indice_pair_num, num_activate_out)


def indice_maxpool_backward(features, out_features, out_bp, indice_pairs, indice_pair_num):
    return _ours.max_gradient(features, out_features, out_bp, *_ours.pair_tensors(indice_pairs, indice_pair_num))
