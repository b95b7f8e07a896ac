"""The stand-ins that whole models are compared with (models/standins.py), where no smaller test holds them."""

import sys
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")

sys.path.append(str(Path(__file__).parent / "models"))

import compositions  # noqa: E402
import mluops.torch as mt  # noqa: E402
import standins  # noqa: E402


@pytest.mark.parametrize("box", [[3.0, 3.0, 9.0, 8.0], [-0.9, -0.9, 5.0, 5.0], [8.0, 6.0, 16.9, 12.9]])
def test_deform_roi_pool_beyond_the_map_s_edges(box):
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


@pytest.mark.parametrize("kind", [0, 1])
@pytest.mark.parametrize("size", [(3, 3), (5, 7), (13, 9)])
def test_psa_mask(kind, size):
    image = torch.rand(2, size[0] * size[1], 5, 6)
    assert torch.equal(standins.psa_mask(image, kind, size), compositions.psa_mask(image, kind, size))


def sorted_pairs(pairs, numbers):
    return [sorted(zip(*pair[:, :number].tolist())) for pair, number in zip(pairs, numbers.tolist())]


@pytest.mark.parametrize("k, stride, padding, subm", [(3, 1, 0, True), (3, 2, 1, False), ((3, 1, 1), (2, 1, 1), 0, False)])
def test_indice_conv(k, stride, padding, subm):
    torch.manual_seed(0)
    places = torch.randperm(2 * 6 * 7 * 8)[:150]
    places = torch.stack([places // 336, places // 56 % 6, places // 8 % 7, places % 8], 1).int()
    k, stride, padding = (each if isinstance(each, tuple) else (each,) * 3 for each in (k, stride, padding))
    arguments = places, 2, (6, 7, 8), k, stride, padding, (1, 1, 1), (0, 0, 0), subm, False
    ours, theirs = mt.get_indice_pairs(*arguments), standins.get_indice_pairs(*arguments)
    assert torch.equal(ours[0], theirs[0]) and torch.equal(ours[2], theirs[2])
    assert sorted_pairs(*ours[1:]) == sorted_pairs(*theirs[1:])
    features, filters = torch.rand(150, 3, dtype=torch.float64), torch.rand(*k, 3, 5, dtype=torch.float64)
    torch.testing.assert_close(standins.indice_conv(features, filters, *theirs[1:], len(theirs[0])),
                               mt.indice_conv(features, filters, *ours[1:], len(ours[0])))
