"""mluops.dropin: autograd functions of before torch 1.5, and functions that refuse CPU tensors before they reach ours."""

import types

import pytest

torch = pytest.importorskip("torch")

from dropin_doors import opened  # noqa: E402
import mluops.dropin as dropin  # noqa: E402


@pytest.fixture
def old():
    with opened("flownet2", "kernelconv2d", old_names=True):
        yield


class Scaled(torch.autograd.Function):
    def __init__(self, scale):
        super().__init__()
        self.scale = scale

    def forward(self, x, y, power):
        self.save_for_backward(x, y)
        self.made = self._product(x, y)
        return self.made, x * self.scale

    def backward(self, of_product, of_scaled):
        x, y = self.saved_tensors
        assert self.needs_input_grad == (True, True, False) and len(self.saved_variables) == 2
        return of_product * y * self.scale + of_scaled * self.scale, of_product * x * self.scale, None

    def _product(self, x, y):
        return x * y * self.scale


class Once(torch.autograd.Function):
    def forward(self, x):
        return x * 2

    def backward(self, grad):
        return grad * 2


class OfToday(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 3

    @staticmethod
    def backward(ctx, grad):
        return grad * 3


def test_a_function_whose_forward_is_a_method(old):
    x, y = torch.randn(2, 3, dtype=torch.float64, requires_grad=True), torch.randn(2, 3, dtype=torch.float64, requires_grad=True)
    function = Scaled(5.0)
    product, scaled = function(x, y, 2)
    assert torch.equal(product, x * y * 5) and torch.equal(scaled, x * 5)
    of_product, of_scaled = torch.randn(2, 3), torch.randn(2, 3)
    found = torch.autograd.grad((product, scaled), (x, y), (of_product.double(), of_scaled.double()))
    wanted = torch.autograd.grad((x * y * 5, x * 5), (x, y), (of_product.double(), of_scaled.double()))
    assert all(torch.allclose(*pair, rtol=0, atol=1e-14) for pair in zip(found, wanted))
    assert torch.equal(Once()(x), x * 2) and torch.equal(OfToday()(x), x * 3)
    assert torch.equal(torch.autograd.grad(Once()(x).sum(), x)[0], torch.full_like(x, 2))
    assert torch.equal(torch.autograd.grad(OfToday()(x).sum(), x)[0], torch.full_like(x, 3))


def test_torch_refuses_it_again_afterwards(old):
    dropin.uninstall()
    with pytest.raises(RuntimeError, match="Legacy autograd function"):
        Once()(torch.ones(2))


def test_the_correlation_of_an_old_program(old):
    import correlation_cuda

    class Correlation(torch.autograd.Function):
        def __init__(self, pad, displacement):
            super().__init__()
            self.numbers = pad, 1, displacement, 1, 1, 1

        def forward(self, one, two):
            self.save_for_backward(one, two)
            rooms, output = (one.new(), two.new()), one.new()
            correlation_cuda.forward(one, two, *rooms, output, *self.numbers)
            return output

        def backward(self, grad):
            one, two = self.saved_tensors
            made = one.new(), two.new()
            correlation_cuda.backward(one, two, one.new(), two.new(), grad, *made, *self.numbers)
            return made

    one, two = (torch.randn(2, 3, 6, 7, dtype=torch.float64, requires_grad=True) for _ in range(2))
    wide = torch.nn.functional.pad(two, (2,) * 4)
    wanted = torch.stack([(one * wide[:, :, y:y + 6, x:x + 7]).mean(1) for y in range(5) for x in range(5)], 1)
    found = Correlation(2, 2)(one, two)
    assert torch.allclose(found, wanted, rtol=0, atol=1e-12)
    grad = torch.randn_like(found)
    for ours, rule in zip(torch.autograd.grad(found, (one, two), grad), torch.autograd.grad(wanted, (one, two), grad)):
        assert torch.allclose(ours, rule, rtol=0, atol=1e-12) and rule.abs().max() > 0


# ---- is_cuda

INNER = """
import kernelconv2d_cuda as _ext
TABLE = {'one': _ext}
class Filter:
    @staticmethod
    def apply(x):
        return _ext.forward
    kept = classmethod(lambda cls, x: _ext.backward)
def through_a_class(x):
    return x.is_cuda, Filter
def through_a_method(x):
    return x.is_cuda, kept
def through_a_table(x):
    return x.is_cuda, TABLE
def by_itself(x):
    return _ext.forward
def neither(x):
    return x.is_cuda, len
kept = Filter.kept
"""
OUTER = """
def through_a_module(x):
    return x.is_cuda, functions.by_itself
def through_nothing_of_a_module(x):
    return x.is_cuda, functions.neither
"""


def test_is_cuda_where_a_function_comes_to_ours(old):
    inner, outer = types.ModuleType("a_program_s_functions"), types.ModuleType("a_program")
    exec(INNER, vars(inner))
    outer.functions = inner
    exec(OUTER, vars(outer))
    x = torch.ones(1)
    assert inner.through_a_class(x)[0] and inner.through_a_method(x)[0] and inner.through_a_table(x)[0]
    assert outer.through_a_module(x)[0]
    assert not inner.neither(x)[0] and not outer.through_nothing_of_a_module(x)[0] and not x.is_cuda


# ---- FlowNet2's warp


@pytest.mark.parametrize("share", [0.0, 0.05, 1.0])
def test_the_warp_s_gradients_where_some_places_are_on_pixels(old, share):
    """grid_sample rounds places; the slope on a pixel is that behind it, inside the image and beyond its border."""
    import resample2d_cuda
    torch.manual_seed(0)
    image, flow, grad = torch.randn(2, 3, 9, 11), torch.randn(2, 2, 9, 11) * 4, torch.randn(2, 3, 9, 11)
    flow = torch.where(torch.rand(2, 1, 9, 11) < share, flow.round(), flow)
    made = torch.zeros_like(image), torch.zeros_like(flow)
    resample2d_cuda.backward(image, flow, grad, *made, 1, True)
    exact = [each.double().requires_grad_() for each in (image, flow)]
    y, x = torch.arange(9)[:, None] + exact[1][:, 1], torch.arange(11) + exact[1][:, 0]
    wanted, rows = 0, torch.arange(2)[:, None, None]
    for dy in (0, 1):
        for dx in (0, 1):
            low_y, low_x = y.detach().floor(), x.detach().floor()
            weight = ((y - low_y) if dy else 1 - (y - low_y)) * ((x - low_x) if dx else 1 - (x - low_x))
            seen = exact[0].permute(0, 2, 3, 1)[rows, (low_y.long() + dy).clamp(0, 8), (low_x.long() + dx).clamp(0, 10)]
            wanted = wanted + weight[:, None] * seen.permute(0, 3, 1, 2)
    for ours, rule in zip(made, torch.autograd.grad(wanted, exact, grad.double())):
        assert (ours - rule).abs().max() < 1e-5 * rule.abs().max()
