"""DCNv4.ext: DCNv3 and multi-scale deformable attention with offsets (or locations) and weights in one tensor."""

import torch

from ..._errors import bad_param
from ..._shapes import rank
from ...torch.filling.ms_deform_attn import gradients as _attention_gradients
from ...torch.filling.ms_deform_attn import ms_deform_attn_forward as _attention
from .dcnv3 import dcnv3_backward, dcnv3_forward, points_of

__all__ = ["dcnv4_backward", "dcnv4_forward", "flash_deform_attn_backward", "flash_deform_attn_forward"]

PACKAGE = "DCNv4"
NAMES = ("DCNv4.ext", "*.DCNv4.ext")


def _split(name, both, points):
    """Splits T [..., 3 * points] into places T [..., 2 * points] and weights T [..., points]."""
    if both.shape[-1] != 3 * points:
        raise bad_param(name, f"{3 * points} numbers a query: {points} places x, y and {points} weights", both.shape[-1])
    return both[..., :2 * points], both[..., 2 * points:]


def _of_groups(offset_mask, group, points):
    """Offsets T [N, H, W, G * P * 2] and weights T [N, H, W, G * P]; numbers behind them are padding."""
    wanted = 3 * group * points
    if offset_mask.shape[-1] < wanted:
        raise bad_param("offset_mask", f"at least {wanted} numbers a pixel, {group} groups of {points} points",
                        offset_mask.shape[-1])
    parts = offset_mask[..., :wanted].unflatten(-1, (group, 3 * points))
    return [part.flatten(-2) for part in _split("offset_mask", parts, points)]


def dcnv4_forward(value, p_offset, *numbers):
    """T [N, H, W, G * C], p_offset T [N, Ho, Wo, 3 * G * P and more]; numbers: DCNv3's, then d_stride, block_thread and
    softmax: whether the softmax of the weights is taken."""
    group, points = numbers[8], points_of(numbers[0], numbers[1], bool(numbers[12]))
    offset, mask = _of_groups(p_offset, group, points)
    return dcnv3_forward(value, offset, _weights(mask, group, numbers[15]), *numbers[:13])


def _softmax(logits):
    """In float32 at least: an older torch has none of half on a CPU."""
    return logits.softmax(-1, dtype=torch.promote_types(logits.dtype, torch.float32)).to(logits.dtype)


def _weights(mask, group, softmax):
    return _softmax(mask.unflatten(-1, (group, -1))).flatten(-2) if softmax else mask


def _through_softmax(grad, weights, group):
    """The gradient of logits, from that of their weights."""
    grad, weights = (each.unflatten(-1, (group, -1)) for each in (grad, weights))
    return (weights * (grad - (grad * weights).sum(-1, keepdim=True))).flatten(-2)


def dcnv4_backward(value, p_offset, *numbers):
    """The gradients of value and p_offset; grad_output stands before remove_center."""
    group, remove_center, softmax = numbers[8], bool(numbers[13]), numbers[16]
    points = points_of(numbers[0], numbers[1], remove_center)
    offset, mask = _of_groups(p_offset, group, points)
    weights = _weights(mask, group, softmax)
    of_value, of_offset, of_mask = dcnv3_backward(value, offset, weights, *numbers[:11], numbers[12], numbers[11],
                                                  remove_center)
    if softmax:
        of_mask = _through_softmax(of_mask, weights, group)
    parts = [part.unflatten(-1, (group, -1)) for part in (of_offset, of_mask)]
    found = torch.zeros_like(p_offset)
    found[..., :3 * group * points] = torch.cat(parts, -1).flatten(-2)
    return [of_value, found]


def _samples(value_spatial_shapes, sampling_loc_attn, K):
    """Locations T [B, Q, M, L, K, 2] and weights T [B, Q, M, L, K] of T [B, Q, M, 3 * L * K]."""
    rank("sampling_loc_attn", sampling_loc_attn.shape, 4)
    levels = len(value_spatial_shapes)
    locations, logits = _split("sampling_loc_attn", sampling_loc_attn, levels * K)
    return locations.unflatten(-1, (levels, K, 2)), _softmax(logits).unflatten(-1, (levels, K))


def flash_deform_attn_forward(value, spatial_shapes, level_start_index, sampling_loc_attn, im2col_step, K, d_stride,
                              block_thread):
    """T [B, Q, M * D] of T [B, S, M, D]; the softmax of the weights is taken."""
    samples = _samples(spatial_shapes, sampling_loc_attn, K)
    return _attention(value, spatial_shapes, level_start_index, *samples, im2col_step)


def flash_deform_attn_backward(value, spatial_shapes, level_start_index, sampling_loc_attn, grad_output, im2col_step, K,
                               d_stride, block_thread):
    """The gradients of value and sampling_loc_attn."""
    locations, weights = _samples(spatial_shapes, sampling_loc_attn, K)
    of_value, of_locations, of_weights = _attention_gradients(value, spatial_shapes, level_start_index, locations, weights,
                                                              grad_output)
    of_logits = _through_softmax(of_weights.flatten(-2), weights.flatten(-2), 1)
    return [of_value, torch.cat([of_locations.flatten(-3), of_logits], -1)]
