"""corr_sampler of RAFT-Stereo and its descendants: each pixel's matching costs round its place in the other image's row."""

import torch

from ...torch._tensors import floats

__all__ = ["backward", "forward"]

PACKAGE = "raft"
NAMES = ("corr_sampler", "*.corr_sampler")


def _whole_places(coords, radius, width):
    """Of places [B, 1, H, W], the pixels round them [B, H, W, 2 R + 2], which of those are inside, and how far behind the
    pixel in the middle a place is [B, H, W, 1]."""
    far = radius + 2.0
    places = coords[:, 0, ..., None].nan_to_num(-far).clamp(-far, width + far)
    low = places.floor()
    x = low.long() + torch.arange(-radius, radius + 2)
    return x.clamp(0, width - 1), (x >= 0) & (x < width), places - low


def forward(volume, coords, radius):
    """Costs T [B, H, W, W2] and places T [B, 1 or more, H, W], of which the first is x: [T [B, 2 R + 1, H, W]], linear
    samples at x - R to x + R, 0 outside."""
    volume, coords = (each.detach() for each in floats(volume=volume, coords=coords))
    index, inside, behind = _whole_places(coords, radius, volume.shape[3])
    near = volume.gather(3, index).masked_fill(~inside, 0)
    return [torch.lerp(near[..., :-1], near[..., 1:], behind).permute(0, 3, 1, 2).contiguous()]


def backward(volume, coords, corr_grad, radius):
    """[the gradient of volume]."""
    volume, coords, grad = (each.detach() for each in floats(volume=volume, coords=coords, corr_grad=corr_grad))
    index, inside, behind = _whole_places(coords, radius, volume.shape[3])
    grad = grad.permute(0, 2, 3, 1)
    none = torch.zeros_like(grad[..., :1])
    shares = torch.cat([grad * (1 - behind), none], 3) + torch.cat([none, grad * behind], 3)
    return [torch.zeros_like(volume).scatter_add(3, index, shares.masked_fill(~inside, 0))]
