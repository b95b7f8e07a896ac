"""ms_deform_attn, and the function by which programs compute it for CPU tensors."""

import torch

from .._buffers import fill_all
from ..op.ms_deform_attn import arguments, forward, gradient, multi_scale_deformable_attn


def ms_deform_attn_forward(value, value_spatial_shapes, value_level_start_index, sampling_locations, attention_weights,
                           im2col_step):
    return forward(*arguments(value, value_spatial_shapes, value_level_start_index, sampling_locations,
                              attention_weights)).flatten(2)


def gradients(value, value_spatial_shapes, value_level_start_index, sampling_locations, attention_weights,
              grad_output):
    """The gradients of value, sampling_locations and attention_weights."""
    inputs = arguments(value, value_spatial_shapes, value_level_start_index, sampling_locations, attention_weights)
    return gradient(grad_output.to(inputs[0].dtype).unflatten(2, value.shape[2:]), *inputs)


def ms_deform_attn_backward(value, value_spatial_shapes, value_level_start_index, sampling_locations,
                            attention_weights, grad_output, grad_value, grad_sampling_loc, grad_attn_weight,
                            im2col_step):
    results = gradients(value, value_spatial_shapes, value_level_start_index, sampling_locations, attention_weights,
                        grad_output)
    fill_all(results, grad_value=grad_value, grad_sampling_loc=grad_sampling_loc, grad_attn_weight=grad_attn_weight)


def composition(value, value_spatial_shapes, sampling_locations, attention_weights):
    shapes = torch.as_tensor(value_spatial_shapes)
    sizes = shapes.prod(1)
    return multi_scale_deformable_attn(value, shapes, sizes.cumsum(0) - sizes, sampling_locations, attention_weights)
