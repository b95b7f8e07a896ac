"""upfirdn2d of mluops.torch against its definition written in torch, in both memory orders, with two gradients."""

import pytest

torch = pytest.importorskip("torch")
from torch.autograd import gradcheck, gradgradcheck  # noqa: E402
from torch.nn import functional as F  # noqa: E402

import mluops.torch as mt  # noqa: E402


def random(*shape, seed=0):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def textbook(x, f, up=(1, 1), down=(1, 1), pads=(0, 0, 0, 0), flip=False, gain=1.0):
    """Zeros between the pixels, padding or cutting, a correlation, every few pixels."""
    n, c, h, w = x.shape
    wide = x.new_zeros(n, c, h * up[1], w * up[0])
    wide[:, :, ::up[1], ::up[0]] = x
    wide = F.pad(wide, pads).reshape(n * c, 1, h * up[1] + pads[2] + pads[3], w * up[0] + pads[0] + pads[1])
    made = F.conv2d(wide, (f if flip else f.flip((0, 1)))[None, None] * gain)[:, :, ::down[1], ::down[0]]
    return made.reshape(n, c, *made.shape[2:])


CALLS = [((1, 1), (1, 1), (1, 1, 1, 1)), ((2, 2), (1, 1), (2, 1, 2, 1)), ((1, 1), (2, 2), (1, 1, 2, 2)),
         ((2, 3), (3, 1), (0, 2, 1, 3)), ((1, 1), (1, 1), (-1, 2, 3, -2)), ((3, 2), (2, 5), (-1, 3, 4, 3))]


@pytest.mark.parametrize("dtype, most", [(torch.float64, 1e-12), (torch.float32, 1e-5), (torch.float16, 3e-3),
                                         (torch.bfloat16, 2e-2)])
@pytest.mark.parametrize("up, down, pads", CALLS)
@pytest.mark.parametrize("channels", [3, 17])
def test_both_memory_orders(up, down, pads, channels, dtype, most):
    x, f = random(2, channels, 9, 21).to(dtype), random(3, 4, seed=1).to(dtype)
    for flip, gain in ((False, 1.0), (True, 1.7)):
        wanted = textbook(x.double(), f.double(), up, down, pads, flip, gain)
        for order in (torch.contiguous_format, torch.channels_last):
            made = mt.upfirdn2d(x.contiguous(memory_format=order), f, up, down, pads, flip, gain)
            assert made.dtype == dtype and made.is_contiguous(memory_format=order)
            assert (made.double() - wanted).abs().max() <= most * wanted.abs().max()


@pytest.mark.parametrize("up, down, pads", CALLS)
def test_gradients(up, down, pads):
    f = random(3, 4, seed=1)
    for x in (random(2, 2, 5, 6), random(1, 3, 4, 5).contiguous(memory_format=torch.channels_last)):
        x.requires_grad_()
        made = mt.upfirdn2d(x, f, up, down, pads, True, 1.3)
        along = random(*made.shape, seed=2)
        wanted, = torch.autograd.grad(textbook(x, f, up, down, pads, True, 1.3), x, along)
        assert torch.allclose(torch.autograd.grad(made, x, along)[0], wanted, atol=1e-12)
        assert gradcheck(lambda a: mt.upfirdn2d(a, f, up, down, pads, False, 1.3), (x,))
        assert gradgradcheck(lambda a: mt.upfirdn2d(a, f, up, down, pads, False, 1.3), (x,))


def test_spellings():
    x, f, one = random(2, 3, 7, 6), random(4, 3, seed=1), random(5, seed=2)
    assert torch.equal(mt.upfirdn2d(x, None), x)
    assert torch.equal(mt.upfirdn2d(x, f, 2, 3, 2), mt.upfirdn2d(x, f, (2, 2), [3, 3], (2, 2, 2, 2)))
    assert torch.equal(mt.upfirdn2d(x, f, padding=(1, 2)), mt.upfirdn2d(x, f, padding=(1, 1, 2, 2)))
    both = mt.upfirdn2d(x, one[:, None] * one, 2, 3, (2, 3, 1, 4), gain=0.7)
    assert torch.allclose(mt.upfirdn2d(x, one, 2, 3, (2, 3, 1, 4), gain=0.7), both, atol=1e-12)
    assert mt.upfirdn2d(x.half(), f.float()).dtype == torch.float16
    assert mt.upfirdn2d(x[:0], f).shape == (0, 3, 4, 4)


@pytest.mark.parametrize("call, text", [
    (lambda x, f: mt.upfirdn2d(x, f.clone().requires_grad_()), "filter: wanted one that needs no gradient"),
    (lambda x, f: mt.upfirdn2d(x, f, padding=(-3, 0)), "filter: wanted at most 4 x -2, the padded input"),
    (lambda x, f: mt.upfirdn2d(x, f, up=0), "up: wanted at least 1, got 0"),
    (lambda x, f: mt.upfirdn2d(x, f, down=(1, 0)), "down: wanted at least 1"),
    (lambda x, f: mt.upfirdn2d(x, f, padding=(1, 2, 3)), "padding: wanted one number"),
    (lambda x, f: mt.upfirdn2d(x[0], f), "input: wanted 4 dimensions"),
    (lambda x, f: mt.upfirdn2d(x[:, :, :0], f, padding=9), "input: wanted height and width of at least 1"),
    (lambda x, f: mt.upfirdn2d(x, f[:0]), "filter: wanted height and width of at least 1"),
])
def test_refusals(call, text):
    with pytest.raises(ValueError, match=text):
        call(random(1, 2, 4, 4), random(2, 2, seed=1))


def test_any_number_of_threads_gives_the_same_bits():
    x, f = random(2, 5, 40, 37).float(), random(4, 4, seed=1).float()
    before, made = torch.get_num_threads(), []
    try:
        for threads in (1, 2, 3):
            torch.set_num_threads(threads)
            made.append(mt.upfirdn2d(x, f, (2, 1), (1, 2), 2))
    finally:
        torch.set_num_threads(before)
    assert all(torch.equal(one, made[0]) for one in made)
