"""pointrope of LitePT: rotary embedding of places in space. Pointcept's other extension, pointseg, imports alone."""

import torch

from ..._errors import bad_param
from ...torch._buffers import fill
from ...torch._tensors import is_tensor

__all__ = ["pointrope"]

PACKAGE = "pointops"
NAMES = ("pointrope", "*.pointrope_cuda")
UNSERVED = ("pointseg", "pointseg.functions")


def pointrope(tokens, positions, base, fwd):
    """Turns pairs of numbers of tokens T [B, N, H, D], in place. Each third of D has an axis: its first half is paired with its second,
    and pair i of Q turns by positions[B, N, axis] * fwd / base^(i / Q). With -fwd it turns back, which is the gradient."""
    size = is_tensor("tokens", tokens).shape
    if len(size) != 4 or size[3] % 6:
        raise bad_param("tokens", "4 axes, the last a multiple of 6", list(size))
    pairs = size[3] // 6
    wide = tokens.detach().to(torch.promote_types(tokens.dtype, torch.float32)).unflatten(3, (3, 2, pairs))
    speed = float(fwd) / float(base) ** (torch.arange(pairs, dtype=wide.dtype) / pairs)
    angle = (positions.to(wide.dtype)[..., None] * speed)[:, :, None]
    u, v, cos, sin = wide[..., 0, :], wide[..., 1, :], angle.cos(), angle.sin()
    turned = torch.stack([u * cos - v * sin, v * cos + u * sin], 4).flatten(3)
    fill("tokens", tokens, turned)
