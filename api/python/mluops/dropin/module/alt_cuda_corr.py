"""alt_cuda_corr of RAFT and its descendants: products of each pixel with those round its place in another map."""

import torch

from ...torch._tensors import floats
from .. import _stacked

__all__ = ["backward", "forward"]

PACKAGE = "raft"
NAMES = ("alt_cuda_corr", "*.alt_cuda_corr")
BUILT = ("alt_cuda_corr",)

_MANY = 64  # pixels of a map for each place that is wanted, up to which one product of matrices is faster than gathering


def _whole_places(places, radius, height, width):
    """The pixels round each place [P, 2], a row of them more on each side: which of the map [P, K * K], which are inside, and
    how far behind a pixel the place is."""
    size = torch.tensor([width, height], dtype=places.dtype)
    far = radius + 2.0
    places = torch.minimum(places.nan_to_num(-far).clamp(min=-far), size + far)
    low = places.floor()
    step = torch.arange(-radius, radius + 2)
    x, y = (low[:, axis, None].long() + step for axis in (0, 1))
    inside = ((y >= 0) & (y < height))[:, :, None] & ((x >= 0) & (x < width))[:, None]
    index = y.clamp(0, height - 1)[:, :, None] * width + x.clamp(0, width - 1)[:, None]
    return index.flatten(1), inside, places - low


def _block(one, two, places, radius, height, width):
    """T [P, R * R] of pixels T [P, C] with a map T [H * W, C] round places x, y; R = 2 radius + 1, x first."""
    index, inside, behind = _whole_places(places, radius, height, width)
    if len(two) <= _MANY * index.shape[1]:
        products = (one @ two.t()).gather(1, index)
    else:
        products = torch.bmm(two[index], one[..., None])[..., 0]
    products = products.view(inside.shape).masked_fill(~inside, 0)
    dx, dy = behind[:, :1, None], behind[:, 1:, None]
    rows = products[:, :-1] * (1 - dy) + products[:, 1:] * dy
    return (rows[..., :-1] * (1 - dx) + rows[..., 1:] * dx).transpose(1, 2).flatten(1)


def _blocks(fmap1, fmap2, coords, radius):
    """For each image and each map of places its blocks of pixels, and what _block takes."""
    height, width = fmap2.shape[1:3]
    least = min(height * width, (2 * radius + 2) ** 2 * fmap2.shape[3])
    for image, (one, two) in enumerate(zip(fmap1.flatten(1, 2), fmap2.flatten(1, 2))):
        for number, places in enumerate(coords[image].flatten(1, 2)):
            for pixels in _stacked.blocks(len(one), least):
                yield image, number, pixels, (one[pixels], two, places[pixels], radius, height, width)


def forward(fmap1, fmap2, coords, radius):
    """Maps T [B, H, W, C], [B, H2, W2, C], places x, y T [B, N, H, W, 2]: [T [B, N, R * R, H, W]]."""
    fmap1, fmap2, coords = (each.detach() for each in floats(fmap1=fmap1, fmap2=fmap2, coords=coords))
    b, h, w, _ = fmap1.shape
    out = fmap1.new_zeros(b, coords.shape[1], h * w, (2 * radius + 1) ** 2)
    for image, number, pixels, given in _blocks(fmap1, fmap2, coords, radius):
        out[image, number, pixels] = _block(*given)
    return [out.transpose(2, 3).unflatten(3, (h, w)).contiguous()]


def backward(fmap1, fmap2, coords, corr_grad, radius):
    """Gradients of both maps, and zeros for the places, as RAFT's."""
    fmap1, fmap2, coords, grad = (each.detach() for each in floats(fmap1=fmap1, fmap2=fmap2, coords=coords,
                                                                   corr_grad=corr_grad))
    of_one, of_two = torch.zeros_like(fmap1), torch.zeros_like(fmap2)
    for image, number, pixels, (one, two, *rest) in _blocks(fmap1, fmap2, coords, radius):
        one, two = one.detach().requires_grad_(), two.detach().requires_grad_()
        with torch.enable_grad():
            made = _block(one, two, *rest)
        found = torch.autograd.grad(made, (one, two), grad[image, number].flatten(1)[:, pixels].t())
        of_one[image].flatten(0, 1)[pixels] += found[0]
        of_two[image].flatten(0, 1).add_(found[1])
    return [of_one, of_two, torch.zeros_like(coords)]
