#!/usr/bin/env python3
"""RoIAlign on a PyTorch tensor, with its gradient, checked against torch's grid_sample.

Usage: torch_roi_align.py
"""

import torch
from torch.nn import functional as F

import mluops.torch as mt


def with_grid_sample(image: torch.Tensor, box: torch.Tensor, bins: int) -> torch.Tensor:
    """One sample in the middle of each bin of one box, by torch's own bilinear sampling."""
    x1, y1, x2, y2 = box.tolist()
    middles = (torch.arange(bins) + 0.5) / bins
    height, width = image.shape[-2:]
    x = (x1 + middles * (x2 - x1)) / width * 2 - 1
    y = (y1 + middles * (y2 - y1)) / height * 2 - 1
    grid = torch.stack(torch.meshgrid(y, x, indexing="ij")[::-1], dim=-1)[None]
    return F.grid_sample(image, grid, align_corners=False, padding_mode="border")


def main() -> None:
    torch.manual_seed(0)
    image = torch.randn(1, 8, 32, 32, requires_grad=True)
    rois = torch.tensor([[0.0, 4.0, 6.0, 25.0, 20.0]])  # batch index, x1, y1, x2, y2
    pooled = mt.roi_align(image, rois, (7, 7), 1.0, 1, "avg", True)
    expected = with_grid_sample(image, rois[0, 1:], 7)
    print("shape", tuple(pooled.shape), "largest difference", (pooled - expected).abs().max().item())
    torch.testing.assert_close(pooled, expected, rtol=1e-4, atol=1e-5)

    ours, = torch.autograd.grad(pooled.square().sum(), image)
    theirs, = torch.autograd.grad(expected.square().sum(), image)
    torch.testing.assert_close(ours, theirs, rtol=1e-4, atol=1e-4)
    print("gradient checked")


if __name__ == "__main__":
    main()
