"""The stand-ins that whole models are compared with (models/standins.py), where no smaller test holds them."""

import sys
from pathlib import Path

import pytest
import torch

import mluops.torch as mt

sys.path.append(str(Path(__file__).parent / "models"))
import standins  # noqa: E402


@pytest.mark.parametrize("box", [[3.0, 3.0, 9.0, 8.0], [-0.9, -0.9, 5.0, 5.0], [8.0, 6.0, 16.9, 12.9]])
def test_deform_roi_pool_beyond_the_map_s_edges(box):
    """Scale and gamma are C floats in the operator: these are powers of two."""
    torch.manual_seed(0)
    grad = torch.rand(1, 8, 7, 7, dtype=torch.float64)
    image, offset = torch.rand(1, 8, 12, 16, dtype=torch.float64), torch.rand(1, 2, 7, 7, dtype=torch.float64) - 0.5
    rois = torch.tensor([[0.0, *box]], dtype=torch.float64)
    found = []
    for pool in (mt.deform_roi_pool, standins.deform_roi_pool):
        leaves = [image.clone().requires_grad_(), offset.clone().requires_grad_()]
        pooled = pool(leaves[0], rois, leaves[1], (7, 7), 1.0, 2, 0.125)
        found.append((pooled, *torch.autograd.grad(pooled, leaves, grad)))
    for ours, theirs in zip(*found):
        torch.testing.assert_close(ours, theirs, rtol=1e-12, atol=1e-12)
