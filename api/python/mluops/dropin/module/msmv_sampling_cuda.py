"""_msmv_sampling_cuda of SparseBEV: bilinear samples of several maps of the view that a point is in, weighted."""

import torch

from ..._errors import bad_param
from ...torch._tensors import floats
from ...torch.filling.pixels import bags

__all__ = ["_ms_deform_attn_cuda_c23456_backward", "_ms_deform_attn_cuda_c23456_forward",
           "_ms_deform_attn_cuda_c2345_backward", "_ms_deform_attn_cuda_c2345_forward"]

PACKAGE = "sparsebev"
NAMES = ("_msmv_sampling_cuda", "*._msmv_sampling_cuda")


def _corners(image, places, height, width, views):
    """The four pixels round points x, y in [0, 1] of views (borders are the outer pixels' middles): rows of the maps' table, and
    weights, 0 of pixels outside. [..., 4] each."""
    scaled = places[..., :2] * torch.tensor([width - 1, height - 1], dtype=places.dtype)
    view = (places[..., 2:].detach() * (views - 1) + 0.5).floor()
    low = scaled.detach().floor()
    pixels = low[..., None, :] + torch.tensor([[0, 0], [1, 0], [0, 1], [1, 1]], dtype=places.dtype)
    size = torch.tensor([width, height], dtype=places.dtype)
    inside = ((pixels >= 0) & (pixels < size)).all(-1) & (view >= 0) & (view < views)
    right, down = (scaled - low).unbind(-1)
    weights = torch.stack([(1 - down) * (1 - right), (1 - down) * right, down * (1 - right), down * right], -1)
    x, y = torch.minimum(pixels.nan_to_num().clamp(min=0), size - 1).long().unbind(-1)
    which = image + view.nan_to_num().clamp(0, views - 1).long()
    return (which * height + y) * width + x, weights.masked_fill(~inside, 0)


def _sampled(maps, places, weights):
    """T [B, Q, C, P]."""
    batch, views, _, _, channels = maps[0].shape
    image, made = torch.arange(batch)[:, None, None, None] * views, 0
    for level, each in enumerate(maps):
        index, shares = _corners(image, places, *each.shape[2:4], views)
        shares = shares * weights[..., level, None]
        made = made + bags(each.reshape(-1, channels), index.reshape(-1, 4), shares.reshape(-1, 4))
    return made.reshape(*places.shape[:3], channels).transpose(2, 3).contiguous()


def _inputs(tensors):
    """Maps T [B, views, H, W, C], places x, y, view T [B, Q, P, 3] from 0 to 1 and weights T [B, Q, P, maps]."""
    *maps, places, weights = (each.detach() for each in floats(**{f"argument {k + 1}": each for k, each in enumerate(tensors)}))
    if weights.shape != (*places.shape[:3], len(maps)):
        raise bad_param("scale_weights", [*places.shape[:3], len(maps)], list(weights.shape))
    return maps, places, weights


def _forward(*tensors):
    return _sampled(*_inputs(tensors))


def _backward(grad_output, *tensors):
    """Of the maps, the places and the weights; 0 for a place's view."""
    maps, *others = _inputs(tensors)
    leaves = [each.requires_grad_() for each in (*maps, *others)]
    with torch.enable_grad():
        made = _sampled(leaves[:-2], *leaves[-2:])
    return list(torch.autograd.grad(made, leaves, grad_output.to(made.dtype)))


_ms_deform_attn_cuda_c2345_forward = _ms_deform_attn_cuda_c23456_forward = _forward
_ms_deform_attn_cuda_c2345_backward = _ms_deform_attn_cuda_c23456_backward = _backward
