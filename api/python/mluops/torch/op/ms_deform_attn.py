"""Multi-scale deformable attention."""

from typing import Tuple

import torch
from torch import Tensor

from ..._functions.ms_deform_attn import MS_DEFORM_ATTN_BACKWARD as BACKWARD, MS_DEFORM_ATTN_FORWARD as FORWARD
from .._blocks import bad_param, described, floats, int32, linear_tangent

__all__ = ["multi_scale_deformable_attn"]


def _check_pixels(output, value, shapes, *others):
    """Before every call, in graphs too: the maps have as many pixels as value."""
    pixels = sum(height * width for height, width in shapes.tolist())
    if pixels != value.shape[1]:
        raise bad_param("value_spatial_shapes", f"maps of {value.shape[1]} pixels in all, the pixels of value", pixels)


def _slopes(value, shapes, starts, locations, weights):
    """The derivatives of each sample's channels along x and y, as values of a map of its own: the gradients of
    one channel at a time."""
    channels = []
    for c in range(value.shape[3]):
        one = value[..., c:c + 1].contiguous()
        ones = one.new_ones((*weights.shape[:3], 1))
        channels.append(gradient(ones, one, shapes, starts, locations, weights)[1])
    return torch.stack(channels, 3)


def _jvp(inputs, output, tangents):
    """Linear in value and in the weights; along the locations channel by channel."""
    along = linear_tangent(forward, inputs, tangents, (0, 4))
    if tangents[3] is not None:
        along = along + (_slopes(*inputs) * tangents[3].unsqueeze(3)).flatten(4).sum(4)
    return along


_ONE_IMAGE = {"im2col_step": 1}  # which only has to divide the batch
gradient = described("multi_scale_deformable_attn_backward(grad, value, value_spatial_shapes, "
                     "value_level_start_index, sampling_locations, attention_weights)", BACKWARD, fixed=_ONE_IMAGE)
forward = described("multi_scale_deformable_attn(value, value_spatial_shapes, value_level_start_index, "
                    "sampling_locations, attention_weights)", FORWARD, fixed=_ONE_IMAGE, gradient=gradient, jvp=_jvp,
                    before=_check_pixels)


def arguments(value, value_spatial_shapes, value_level_start_index, sampling_locations,
              attention_weights) -> Tuple[Tensor, ...]:
    """The arguments as the operators take them."""
    v, locations, weights = floats(value=value, sampling_locations=sampling_locations,
                                   attention_weights=attention_weights)
    return (v, int32("value_spatial_shapes", value_spatial_shapes),
            int32("value_level_start_index", value_level_start_index), locations, weights)


def multi_scale_deformable_attn(value: Tensor, value_spatial_shapes: Tensor, value_level_start_index: Tensor,
                                sampling_locations: Tensor, attention_weights: Tensor, im2col_step: int = 64) -> Tensor:
    """Each query sums bilinear samples of maps of several sizes, weighted.

    Args:
        value: T [B, S, M, D], S pixels of all maps, M heads, D channels of a head.
        value_spatial_shapes: int32 or int64 [L, 2], height and width of each map; S pixels in all.
        value_level_start_index: int32 or int64 [L], each map's first pixel. A map outside [0, S-1] is refused.
        sampling_locations: T [B, Q, M, L, P, 2], x and y; 0 to 1 is the map, outside is 0.
        attention_weights: T [B, Q, M, L, P].
        im2col_step: mmcv's; without effect.
    Returns: T [B, Q, M * D], differentiable in value, sampling_locations and attention_weights.

    T: float16, bfloat16, float32, float64, mixed dtypes are promoted. Source: Zhu et al., "Deformable DETR", ICLR 2021;
    mmcv's MultiScaleDeformableAttnFunction.
    """
    given = arguments(value, value_spatial_shapes, value_level_start_index, sampling_locations, attention_weights)
    return forward(*given).flatten(2)


SMALLEST = {"multi_scale_deformable_attn": lambda ones, zeros: multi_scale_deformable_attn(
    ones(1, 1, 1, 1), zeros(1, 2) + 1, zeros(1), ones(1, 1, 1, 1, 1, 2), ones(1, 1, 1, 1, 1))}
