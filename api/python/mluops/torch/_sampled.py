"""Bilinear samples of images and their weighted sums, by torch's operators: each place is an embedding bag of
pixels."""

from typing import Any, Callable, Optional, Tuple

import torch
from torch import Tensor
from torch.nn import functional as F

from .._errors import bad_param
from .._shapes import expect, rank
from ._tensors import floats

_MOST_SAMPLES = 1 << 26  # some GB of indices and weights


def _corners(position: Tensor, length: int) -> Tuple[Tensor, Tensor]:
    """The two pixels at a position along one axis, int64 [2, S], and their weights. Up to one pixel outside counts as
    the border, what is further has no weight."""
    inside = (position >= -1) & (position <= length)
    position = torch.where(inside, position, torch.zeros_like(position)).clamp(0, max(length - 1, 0))
    low = position.floor().clamp(max=max(length - 1, 0))
    share = position - low
    pixels = torch.stack([low, (low + 1).clamp(max=max(length - 1, 0))]).long()
    return pixels, torch.stack([1 - share, share]) * inside


def sums(input: Tensor, images: Tensor, y: Tensor, x: Tensor, weights: Tensor, first: Tensor) -> Tensor:
    """Weighted sums of samples of input [N, C, H, W].

    Args:
        images: int64 [S], the image of each sample.
        y, x, weights: [S].
        first: int64 [P], where each place's samples begin.
    Returns: [P, C], differentiable in input; float for halves.
    """
    n, channels, height, width = input.shape
    wide = input.float() if input.dtype in (torch.float16, torch.bfloat16) else input
    rows, of_rows = _corners(y, height)
    cols, of_cols = _corners(x, width)
    pixels = ((images * height + rows)[:, None] * width + cols[None]).flatten(0, 1).t()  # [S, 4]
    shares = ((of_rows * weights)[:, None] * of_cols[None]).flatten(0, 1).t().to(wide.dtype)
    if pixels.numel() == 0 or wide.numel() == 0:
        return wide.new_zeros(first.shape[0], channels) + wide.sum() * 0
    table = wide.permute(0, 2, 3, 1).reshape(n * height * width, channels)
    return F.embedding_bag(pixels.flatten(), table, first * 4, mode="sum", per_sample_weights=shares.flatten())


def checked(input: Tensor, rois: Tensor, numbers: int, what: str,
            differentiable: bool = False) -> Tuple[Tensor, Tensor, Tensor]:
    """Input, the images of RoIs, int64 [R], and their other numbers [R, numbers - 1], in float for halves; with their
    gradient where differentiable."""
    input, rois = floats(input=input, rois=rois)
    n = rank("input", input.shape, 4)[0]
    count, _ = rank("rois", rois.shape, 2)
    expect("rois", rois.shape, (count, numbers), ("", "batch index, " + what))
    rois = rois if differentiable else rois.detach()
    rois = rois.float() if rois.dtype in (torch.float16, torch.bfloat16) else rois
    images = rois[:, 0]
    wrong = ~((images > -1) & (images < n))
    if wrong.any():
        raise bad_param("rois", f"batch indices from 0 to {n - 1}", images[wrong][0].item())
    return input, images.long(), rois[:, 1:]


def pooled(input: Tensor, images: Tensor, size: Tuple[Tensor, Tensor], bins: Tuple[int, int], sampling_ratio: int,
           points: Callable[[Tensor, Tensor, Tensor, Tensor, Tensor], Tuple[Tensor, Tensor]]) -> Tensor:
    """Means of a grid of samples in each bin of RoIs.

    Args:
        size: height and width of each RoI, [R].
        sampling_ratio: samples a bin along each axis; 0: one for each started pixel of a bin.
        points: (RoI, row of bins, column, dy, dx), each [S], the last two the part of a bin in front of a sample -> y,
            x.
    Returns: [R, C, bins], differentiable in input.
    """
    count, total = images.shape[0], bins[0] * bins[1]
    if min(bins) < 1:
        raise bad_param("output_size", "at least 1", bins)
    grid = [torch.full_like(images, sampling_ratio) if sampling_ratio > 0
            else (each / along).ceil().nan_to_num(0, posinf=1e9, neginf=0).clamp(0, 1e9).long()
            for each, along in zip(size, bins)]
    each = grid[0] * grid[1]
    if count and (float((grid[0].double() * grid[1].double()).sum()) * total > _MOST_SAMPLES):
        raise bad_param("rois", f"at most {_MOST_SAMPLES} samples; a sampling_ratio bounds them", "more")
    of_bins = each.repeat_interleave(total)
    ends = of_bins.cumsum(0)
    first = ends - of_bins
    place = torch.arange(count * total, device=images.device).repeat_interleave(of_bins)
    number = torch.arange(place.shape[0], device=images.device) - first[place]
    roi, cell = torch.div(place, total, rounding_mode="floor"), place % total
    columns = grid[1][roi]
    dtype = size[0].dtype
    dy = (torch.div(number, columns, rounding_mode="floor").to(dtype) + 0.5) / grid[0][roi]
    dx = ((number % columns).to(dtype) + 0.5) / columns
    y, x = points(roi, torch.div(cell, bins[1], rounding_mode="floor"), cell % bins[1], dy, dx)
    found = sums(input, images[roi], y, x, 1 / each[roi].to(dtype), first)
    return found.reshape(count, *bins, input.shape[1]).permute(0, 3, 1, 2).to(input.dtype)


def gradient_into(grad_input: Tensor, grad: Tensor, function: Callable[..., Tensor], *others: Any,
                  at: Optional[Tensor] = None) -> None:
    """That of a function in its first argument, for mmcv's backward functions: where that is `at`; anywhere of a function
    that is linear in it."""
    with torch.enable_grad():
        leaf = (torch.zeros_like(grad_input) if at is None else at.detach().clone()).requires_grad_()
        grad_input.copy_(torch.autograd.grad(function(leaf, *others), leaf, grad.to(leaf.dtype))[0])
