"""Sparse convolution and its maximum pooling, in 2, 3 and 4 dimensions."""

from ...torch._tensors import floats
from ...torch.op import sparse_conv as _ours


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


def indice_conv_forward(features, filters, indice_pairs, indice_pair_num, num_activate_out, inverse, subm):
    return _ours.indice_conv(features, filters, indice_pairs, indice_pair_num, num_activate_out, bool(inverse))


def fused_indice_conv_forward(features, filters, bias, indice_pairs, indice_pair_num, num_activate_out, inverse, subm):
    return indice_conv_forward(features, filters, indice_pairs, indice_pair_num, num_activate_out, inverse, subm) + bias


def indice_conv_backward(features, filters, out_bp, indice_pairs, indice_pair_num, inverse, subm):
    wide = floats(features=features, filters=filters, out_bp=out_bp)
    arguments = (*wide, *_ours.pair_tensors(indice_pairs, indice_pair_num), bool(inverse))
    gradients = _ours.data_gradient(*arguments), _ours.filter_gradient(*arguments)
    return [gradient.to(like.dtype) for gradient, like in zip(gradients, (features, filters))]


def indice_maxpool_forward(features, indice_pairs, indice_pair_num, num_activate_out):
    """0 is the least, as in mmcv's own code."""
    return _ours.indice_maxpool(features.clamp(min=0), indice_pairs, indice_pair_num, num_activate_out)


def indice_maxpool_backward(features, out_features, out_bp, indice_pairs, indice_pair_num):
    return _ours.max_gradient(features, out_features, out_bp, *_ours.pair_tensors(indice_pairs, indice_pair_num))


ENTRY_POINTS = (get_indice_pairs_2d_forward, get_indice_pairs_3d_forward, get_indice_pairs_4d_forward,
                get_indice_pairs_2d_backward, get_indice_pairs_3d_backward, indice_conv_forward, indice_conv_backward,
                fused_indice_conv_forward, indice_maxpool_forward, indice_maxpool_backward)
