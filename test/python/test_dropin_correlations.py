"""mluops.dropin: RAFT's lookup of correlations, and spatial_correlation_sampler, against plain torch in double."""

import importlib

import pytest

torch = pytest.importorskip("torch")

from dropin_doors import opened  # noqa: E402
from torch.nn import functional  # noqa: E402



@pytest.fixture(autouse=True)
def doors():
    with opened("raft", "spatial_correlation_sampler"):
        yield


def looked_up(one, two, places, radius):
    """T [B, N, R * R, H, W]: bilinear samples of two [B, H2, W2, C] round the places, 0 outside, times one; x first."""
    height, width = two.shape[1:3]
    steps = torch.arange(-radius, radius + 1, dtype=one.dtype)
    found = []
    for number in range(places.shape[1]):
        for dx in steps:
            for dy in steps:
                at = places[:, number] + torch.stack([dx, dy])
                scale = torch.tensor([max(width - 1, 1), max(height - 1, 1)], dtype=one.dtype)
                sampled = functional.grid_sample(two.permute(0, 3, 1, 2), at / scale * 2 - 1, align_corners=True)
                found.append((sampled * one.permute(0, 3, 1, 2)).sum(1))
    return torch.stack(found, 1).unflatten(1, (places.shape[1], -1))


@pytest.mark.parametrize("dtype, tolerance", [(torch.float64, 1e-11), (torch.float32, 1e-5)])
@pytest.mark.parametrize("size, radius, many", [((7, 9), 2, True), ((7, 9), 2, False), ((2, 3), 4, True), ((5, 2), 0, False)])
def test_raft_s_lookup(monkeypatch, dtype, tolerance, size, radius, many):
    module = importlib.import_module("alt_cuda_corr")
    from mluops.dropin.module import alt_cuda_corr
    monkeypatch.setattr(alt_cuda_corr, "_MANY", 64 if many else 0)
    torch.manual_seed(0)
    one, two = torch.randn(2, 4, 5, 6, dtype=dtype), torch.randn(2, *size, 6, dtype=dtype)
    places = torch.rand(2, 2, 4, 5, 2, dtype=dtype) * 14 - 3
    places[0, 0, 0, 0], places[1, 1, 0, 0] = 2.0, torch.tensor([1e30, -1e30], dtype=dtype)
    finite = places.clamp(-100, 100)
    exact = [each.double().requires_grad_() for each in (one, two)]
    wanted = looked_up(*exact, finite.double(), radius)
    out, = module.forward(one, two, places, radius)
    assert out.dtype == dtype and out.shape == wanted.shape == (2, 2, (2 * radius + 1) ** 2, 4, 5)
    torch.testing.assert_close(out.double(), wanted.detach(), rtol=tolerance, atol=tolerance * 10)
    grad = torch.randn_like(out)
    *found, of_places = module.backward(one, two, places, grad, radius)
    for ours, by_rule in zip(found, torch.autograd.grad(wanted, exact, grad.double())):
        torch.testing.assert_close(ours.double(), by_rule, rtol=tolerance, atol=tolerance * 10)
    assert of_places.shape == places.shape and not of_places.any()


def test_places_that_are_no_numbers_have_nothing_round_them():
    module = importlib.import_module("alt_cuda_corr")
    one = torch.ones(1, 1, 2, 3)
    places = torch.tensor([[float("nan"), 0.0], [0.0, float("inf")]]).view(1, 1, 1, 2, 2)
    assert not module.forward(one, one, places, 1)[0][..., 1].isnan().any()
    assert not module.forward(one, one, places, 1)[0][..., 1].any()


def test_a_large_map_is_done_some_pixels_at_a_time(monkeypatch):
    from mluops.dropin import _stacked
    module = importlib.import_module("alt_cuda_corr")
    torch.manual_seed(1)
    one, two, places = torch.randn(1, 6, 7, 4), torch.randn(1, 6, 7, 4), torch.rand(1, 1, 6, 7, 2) * 6
    whole, grad = module.forward(one, two, places, 1)[0], torch.randn(1, 1, 9, 6, 7)
    gradients = module.backward(one, two, places, grad, 1)
    monkeypatch.setattr(_stacked, "_ELEMENTS", 300)
    torch.testing.assert_close(module.forward(one, two, places, 1)[0], whole)
    for ours, before in zip(module.backward(one, two, places, grad, 1), gradients):
        torch.testing.assert_close(ours, before)


# ---- spatial_correlation_sampler


def correlated(one, two, kernel, patch, stride, padding, dilation, dilation_patch):
    """T [B, patch, patch, Ho, Wo], window by window; every number is a pair."""
    reach = 60
    one, two = (functional.pad(each, (reach,) * 4) for each in (one, two))
    sizes = [(one.shape[2 + axis] - 2 * reach + 2 * padding[axis] - (kernel[axis] - 1) * dilation[axis] - 1)
             // stride[axis] + 1 for axis in (0, 1)]

    def window(image, shift, tap):
        start = [reach - padding[axis] + tap[axis] * dilation[axis] + shift[axis] for axis in (0, 1)]
        rows, columns = (slice(first, first + (size - 1) * step + 1, step) for first, size, step in zip(start, sizes, stride))
        return image[:, :, rows, columns]

    taps = [(i, j) for i in range(kernel[0]) for j in range(kernel[1])]
    found = []
    for i in range(patch[0]):
        for j in range(patch[1]):
            shift = [(place - (count - 1) // 2) * step for place, count, step in zip((i, j), patch, dilation_patch)]
            found.append(sum((window(one, (0, 0), tap) * window(two, shift, tap)).sum(1) for tap in taps))
    return torch.stack(found, 1).unflatten(1, tuple(patch))


@pytest.mark.parametrize("numbers", [
    dict(kernel=(1, 1), patch=(5, 5), stride=(1, 1), padding=(0, 0), dilation=(1, 1), dilation_patch=(1, 1)),
    dict(kernel=(3, 1), patch=(3, 5), stride=(2, 1), padding=(1, 2), dilation=(2, 1), dilation_patch=(2, 1)),
    dict(kernel=(1, 3), patch=(4, 2), stride=(1, 2), padding=(2, 0), dilation=(1, 1), dilation_patch=(1, 3)),
    dict(kernel=(2, 2), patch=(1, 1), stride=(1, 1), padding=(0, 0), dilation=(1, 1), dilation_patch=(1, 1))])
def test_spatial_correlation(numbers):
    package = importlib.import_module("spatial_correlation_sampler")
    torch.manual_seed(3)
    images = [torch.randn(2, 3, 8, 9, dtype=torch.float64, requires_grad=True) for _ in range(2)]
    wanted = correlated(*images, **numbers)
    sampler = package.SpatialCorrelationSampler(numbers["kernel"], numbers["patch"], numbers["stride"], numbers["padding"],
                                                numbers["dilation"], numbers["dilation_patch"])
    found, grad = sampler(*images), torch.randn_like(wanted)
    torch.testing.assert_close(found, wanted, rtol=1e-10, atol=1e-10)
    exact = torch.autograd.grad(wanted, images, grad)
    backend = importlib.import_module("spatial_correlation_sampler_backend")
    flat = [each for name in ("kernel", "patch", "padding", "dilation", "dilation_patch", "stride") for each in numbers[name]]
    assert torch.equal(backend.forward(*images, *flat), found)
    for ours in (torch.autograd.grad(found, images, grad), backend.backward(*images, grad, *flat)):
        for one, other in zip(ours, exact):
            torch.testing.assert_close(one, other, rtol=1e-10, atol=1e-10)
