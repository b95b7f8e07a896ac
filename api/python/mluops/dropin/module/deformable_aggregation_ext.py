"""deformable_aggregation_ext of Sparse4D: bilinear samples of many maps of many cameras, weighted, through multi-scale
deformable attention: groups are its heads, the maps its levels."""

import torch

from ...torch._buffers import add_all
from ...torch._tensors import floats
from ...torch.op.ms_deform_attn import forward as _attention
from ...torch.op.ms_deform_attn import gradient as _gradient

__all__ = ["deformable_aggregation_backward", "deformable_aggregation_forward"]

PACKAGE = "sparse4d"
NAMES = ("deformable_aggregation_ext", "*.deformable_aggregation_ext")


def _seen(locations):
    """Points that a camera sees, [B, A, P, cams]: the others do not count."""
    return ((locations > 0) & (locations < 1)).all(-1)


def _inputs(features, shapes, starts, locations, weights):
    """features T [B, S, C]; shapes [cams, scales, 2], starts [cams, scales]; locations T [B, A, P, cams, 2]; weights T [B, A, P,
    cams, scales, G]."""
    features, locations, weights = floats(mc_ms_feat=features, sampling_location=locations, weights=weights)
    batch, anchors, points, cams, scales, groups = weights.shape
    weights = weights * _seen(locations)[..., None, None]
    value = features.reshape(batch, -1, groups, features.shape[2] // groups)
    places = locations.permute(0, 1, 3, 2, 4)[:, :, None, :, None].expand(batch, anchors, groups, cams, scales, points, 2)
    weighted = weights.permute(0, 1, 5, 3, 4, 2).reshape(batch, anchors, groups, cams * scales, points)
    return (value, shapes.reshape(-1, 2).int(), starts.reshape(-1).int(),
            places.reshape(batch, anchors, groups, cams * scales, points, 2), weighted)


def deformable_aggregation_forward(mc_ms_feat, spatial_shape, scale_start_index, sampling_location, weights):
    """T [B, anchors, C]."""
    return _attention(*_inputs(mc_ms_feat, spatial_shape, scale_start_index, sampling_location, weights)).flatten(2)


def deformable_aggregation_backward(mc_ms_feat, spatial_shape, scale_start_index, sampling_location, weights, grad_output,
                                    grad_mc_ms_feat, grad_sampling_location, grad_weights):
    """Added to what there is."""
    inputs = _inputs(mc_ms_feat, spatial_shape, scale_start_index, sampling_location, weights)
    batch, anchors, points, cams, scales, groups = weights.shape
    grad = grad_output.to(inputs[0].dtype).reshape(batch, anchors, groups, -1)
    of_value, of_places, of_weights = _gradient(grad, *inputs)
    of_places = of_places.reshape(batch, anchors, groups, cams, scales, points, 2).sum((2, 4)).permute(0, 1, 3, 2, 4)
    of_weights = of_weights.reshape(batch, anchors, groups, cams, scales, points).permute(0, 1, 5, 3, 4, 2)
    seen = _seen(sampling_location)
    add_all((of_value.reshape(mc_ms_feat.shape), of_places * seen[..., None], of_weights * seen[..., None, None]),
            grad_mc_ms_feat=grad_mc_ms_feat, grad_sampling_location=grad_sampling_location, grad_weights=grad_weights)
