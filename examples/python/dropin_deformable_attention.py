#!/usr/bin/env python3
"""A program written for Deformable-DETR's CUDA extension: it imports `MultiScaleDeformableAttention`, which is not installed.

Usage: python -m mluops.dropin dropin_deformable_attention.py
"""

import MultiScaleDeformableAttention as MSDA
import torch


def main() -> None:
    torch.manual_seed(0)
    shapes = torch.tensor([[16, 16], [8, 8]])  # height and width of each level
    starts = torch.tensor([0, 256])
    value = torch.randn(1, 320, 4, 8)  # batch, pixels of all levels, heads, channels of a head
    locations = torch.rand(1, 50, 4, 2, 4, 2)  # batch, queries, heads, levels, samples, (x, y)
    weights = torch.rand(1, 50, 4, 2, 4).flatten(3).softmax(-1).view(1, 50, 4, 2, 4)
    output = MSDA.ms_deform_attn_forward(value, shapes, starts, locations, weights, 64)
    print("output", tuple(output.shape))
    assert output.shape == (1, 50, 32)


if __name__ == "__main__":
    main()
