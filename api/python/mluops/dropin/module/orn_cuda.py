"""orn_cuda of S2ANet: filters in several orientations, and features turned until the greatest comes first."""

import torch

from ...torch.op.active_rotated_filter import active_rotated_filter, turned_back

__all__ = ["arf_backward", "arf_forward", "rie_backward", "rie_forward"]

PACKAGE = "mmdet"
NAMES = ("orn_cuda", "*.orn_cuda")


def arf_forward(input, indices):
    """Indices uint8 [O, H, W, R], from 1 on."""
    return active_rotated_filter(input.detach(), indices.int())


def arf_backward(indices, grad_output):
    o, h, w, copies = indices.shape
    shape = grad_output.shape[0] // copies, grad_output.shape[1] // o, o, h, w
    return turned_back(grad_output, indices.int(), shape)


def _turned(features, directions, orientations, sense):
    """[B, C * O, 1, 1]: each group of orientations moved on by its direction."""
    groups = features.reshape(len(features), -1, orientations)
    at = (torch.arange(orientations) + sense * directions.long()[..., None]) % orientations
    return groups.gather(2, at).reshape(features.shape)


def rie_forward(feature, orientations):
    """The direction of the greatest of each group, uint8 [B, C], and the features turned to it."""
    directions = feature.reshape(len(feature), -1, orientations).argmax(2)
    return directions.to(torch.uint8), _turned(feature, directions, orientations, 1)


def rie_backward(directions, grad_output, orientations):
    return _turned(grad_output, directions, orientations, -1)
