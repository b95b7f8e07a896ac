"""GeometricKernelAttention of MapTR: attention to whole pixels, those outside of a map being the nearest inside."""

import torch

from ...torch._tensors import floats
from ...torch.filling.pixels import bags

__all__ = ["geometric_kernel_attn_cuda_backward", "geometric_kernel_attn_cuda_forward"]

PACKAGE = "maptr"
NAMES = ("GeometricKernelAttention",)


def _table(value):
    """T [B, S, M, D] -> T [B * S * M, D]."""
    return value.reshape(-1, value.shape[3])


def _index(value, shapes, starts, locations):
    """Rows of the table of places int64 [B, Q, M, L, P, 2], x and y: [B, Q, M, L, P]."""
    size, heads = value.shape[1:3]
    high = shapes.long()[:, None] - 1
    y = torch.minimum(locations[..., 1].long(), high[..., 0]).clamp(min=0)
    x = torch.minimum(locations[..., 0].long(), high[..., 1]).clamp(min=0)
    pixel = starts.long()[:, None] + y * shapes.long()[:, 1, None] + x
    batch = torch.arange(len(value)).reshape(-1, 1, 1, 1, 1)
    head = torch.arange(heads).reshape(1, 1, -1, 1, 1)
    return (batch * size + pixel) * heads + head


def geometric_kernel_attn_cuda_forward(value, spatial_shapes, level_start_index, sampling_loc, attn_weight, im2col_step):
    """T [B, Q, M * D]."""
    value, weights = floats(value=value, attn_weight=attn_weight)
    index = _index(value, spatial_shapes, level_start_index, sampling_loc)
    made = bags(_table(value.detach()), index.reshape(-1, index.shape[3] * index.shape[4]),
                weights.detach().reshape(-1, index.shape[3] * index.shape[4]))
    return made.reshape(*index.shape[:2], -1)


def geometric_kernel_attn_cuda_backward(value, spatial_shapes, level_start_index, sampling_loc, attn_weight, grad_output,
                                        im2col_step):
    """The gradients of value and attn_weight."""
    value, weights, grad = floats(value=value, attn_weight=attn_weight, grad_output=grad_output)
    index = _index(value, spatial_shapes, level_start_index, sampling_loc)
    inputs = [_table(value.detach()).requires_grad_(),
              weights.detach().reshape(-1, index.shape[3] * index.shape[4]).requires_grad_()]
    with torch.enable_grad():
        made = bags(inputs[0], index.reshape(inputs[1].shape), inputs[1])
    of_table, of_weights = torch.autograd.grad(made, inputs, grad.reshape(made.shape))
    return [of_table.reshape(value.shape), of_weights.reshape(attn_weight.shape)]
