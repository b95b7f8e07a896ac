"""The extensions that StyleGAN2, -ADA and 3 compile at import, called as their programs do, against plain torch in float64."""

import importlib

import pytest

torch = pytest.importorskip("torch")
from dropin_doors import opened, random  # noqa: E402
from torch.nn import functional as F  # noqa: E402



@pytest.fixture(autouse=True)
def doors(monkeypatch):
    from torch.utils import cpp_extension
    monkeypatch.setattr(cpp_extension, "CUDA_HOME", None)
    with opened("stylegan2"):
        yield


def built(name, *sources):
    return importlib.import_module("torch.utils.cpp_extension").load(name=name, sources=list(sources))


def textbook(x, f, up, down, pads):
    """Zeros between the pixels, padding or cutting, a true convolution, every few pixels: one element at a time."""
    (ux, uy), (dx, dy), (x0, x1, y0, y1) = up, down, pads
    n, c, h, w = x.shape
    wide = x.new_zeros(n, c, h * uy, w * ux)
    wide[:, :, ::uy, ::ux] = x
    wide = F.pad(wide, (x0, x1, y0, y1))
    kh, kw = f.shape
    out = x.new_zeros(n, c, (wide.shape[2] - kh) // dy + 1, (wide.shape[3] - kw) // dx + 1)
    for i in range(out.shape[2]):
        for j in range(out.shape[3]):
            window = wide[:, :, i * dy:i * dy + kh, j * dx:j * dx + kw]
            out[:, :, i, j] = (window * f.flip((0, 1))).sum((2, 3))
    return out


FILTERS = [((1, 1), (1, 1), (1, 1, 1, 1)), ((2, 2), (1, 1), (2, 1, 2, 1)), ((1, 1), (2, 2), (1, 1, 2, 2)),
           ((2, 3), (3, 1), (0, 2, 1, 3)), ((1, 1), (1, 1), (-1, 2, 3, -2)),
           ((2, 2), (1, 1), (-1, 3, -2, 4)), ((2, 1), (1, 2), (5, -1, 0, 6)), ((1, 1), (1, 1), (3, 3, 0, 0))]
SIZES = [(4, 3), (1, 2)]  # of filters; the second is smaller than some steps between pixels


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("up, down, pads", FILTERS)
def test_upfirdn2d_as_stylegan2_calls_it(up, down, pads, size):
    x, f = random(2, 3, 7, 6), random(*size, seed=1)
    call = built("upfirdn2d", "upfirdn2d.cpp", "upfirdn2d_kernel.cu").upfirdn2d
    made = call(x.permute(0, 2, 3, 1), f, *up, *down, *pads)
    assert torch.allclose(made.permute(0, 3, 1, 2), textbook(x, f, up, down, pads), atol=1e-12)
    single = call(x.permute(0, 2, 3, 1).float(), f.float(), *up, *down, *pads)
    assert single.dtype == torch.float32 and torch.allclose(single.double(), made, atol=1e-5)


@pytest.mark.parametrize("up, down, pads", FILTERS)
def test_upfirdn2d_as_ada_calls_it(up, down, pads):
    x, f = random(2, 3, 7, 6), random(4, 3, seed=1)
    call = built("upfirdn2d_plugin", "upfirdn2d.cpp", "upfirdn2d.cu").upfirdn2d
    assert torch.allclose(call(x, f, *up, *down, *pads, False, 1.5), 1.5 * textbook(x, f, up, down, pads), atol=1e-12)
    assert torch.allclose(call(x, f, *up, *down, *pads, True, 1.0), textbook(x, f.flip((0, 1)), up, down, pads), atol=1e-12)
    both = random(3, seed=2)
    separable = call(x, both, *up, *down, *pads, False, 2.0)
    assert torch.allclose(separable, 2 * textbook(x, both[:, None] * both, up, down, pads), atol=1e-12)


def test_upfirdn2d_refuses():
    call = built("upfirdn2d", "a.cu").upfirdn2d
    with pytest.raises(ValueError, match="filter: wanted at most 3 x 3, the padded input, got \\[4, 4\\]"):
        call(torch.ones(1, 3, 3, 1), torch.ones(4, 4), 1, 1, 1, 1, 0, 0, 0, 0)
    with pytest.raises(ValueError, match="down: wanted at least 1, got \\(0, 1\\)"):
        call(torch.ones(1, 3, 3, 1), torch.ones(2, 2), 1, 1, 0, 1, 0, 0, 0, 0)
    assert call(torch.ones(0, 3, 3, 1), torch.ones(2, 2), 1, 1, 1, 1, 0, 0, 0, 0).shape == (0, 2, 2, 1)


class Leaky(torch.autograd.Function):
    """StyleGAN2's: the extension for the value and for each derivative."""

    @staticmethod
    def forward(ctx, x, bias, fused):
        out = fused.fused_bias_act(x, bias, x.new_empty(0), 3, 0, 0.2, 2 ** 0.5)
        ctx.save_for_backward(out)
        ctx.fused = fused
        return out

    @staticmethod
    def backward(ctx, grad):
        out, = ctx.saved_tensors
        found = LeakyBackward.apply(grad, out, ctx.fused)
        return found, found.sum([i for i in range(grad.dim()) if i != 1]), None


class LeakyBackward(torch.autograd.Function):
    @staticmethod
    def forward(ctx, grad, out, fused):
        ctx.save_for_backward(out)
        ctx.fused = fused
        return fused.fused_bias_act(grad.contiguous(), grad.new_empty(0), out, 3, 1, 0.2, 2 ** 0.5)

    @staticmethod
    def backward(ctx, along):
        out, = ctx.saved_tensors
        return ctx.fused.fused_bias_act(along.contiguous(), along.new_empty(0), out, 3, 1, 0.2, 2 ** 0.5), None, None


@pytest.mark.parametrize("shape", [(3, 5), (2, 5, 4, 3)])
def test_fused_bias_act(shape):
    fused = built("fused", "fused_bias_act.cpp", "fused_bias_act_kernel.cu")
    x, bias = random(*shape).requires_grad_(), random(5, seed=1).requires_grad_()
    wanted = F.leaky_relu(x + bias.reshape([-1 if i == 1 else 1 for i in range(x.dim())]), 0.2) * 2 ** 0.5
    assert torch.allclose(Leaky.apply(x, bias, fused), wanted, atol=1e-14)
    assert torch.autograd.gradcheck(lambda a, b: Leaky.apply(a, b, fused), (x, bias))
    assert torch.autograd.gradgradcheck(lambda a, b: Leaky.apply(a, b, fused), (x, bias))


ACTIVATIONS = {1: lambda x: x, 2: F.relu, 3: lambda x: F.leaky_relu(x, 0.3), 4: torch.tanh, 5: torch.sigmoid, 6: F.elu,
               7: F.selu, 8: F.softplus, 9: lambda x: x * torch.sigmoid(x)}


@pytest.mark.parametrize("act", sorted(ACTIVATIONS))
@pytest.mark.parametrize("clamp", [-1.0, 0.7])
def test_bias_act(act, clamp):
    """The value and both derivatives, as the plugin's program asks for them, against autograd."""
    call = built("bias_act_plugin", "bias_act.cpp", "bias_act.cu").bias_act
    x, b, dy, gain, none = random(2, 4, 5), random(4, seed=1), random(2, 4, 5, seed=2), 1.3, torch.empty(0)
    argument = (x + b[:, None]).requires_grad_()
    whole = ACTIVATIONS[act](argument) * gain
    y = whole.clamp(-clamp, clamp) if clamp > 0 else whole
    assert torch.allclose(call(x, b, none, none, none, 0, 1, act, 0.3, gain, clamp), y, atol=1e-12)
    slope, = torch.autograd.grad(y.sum(), argument, create_graph=True)
    assert torch.allclose(call(dy, b, x, y.detach(), none, 1, 1, act, 0.3, gain, clamp), slope * dy, atol=1e-7)
    if slope.requires_grad and act not in (1, 2, 3):
        curve, = torch.autograd.grad(slope.sum(), argument)
        assert torch.allclose(call(dy, b, x, y.detach(), 2 * dy, 2, 1, act, 0.3, gain, clamp), curve * 2 * dy * dy, atol=1e-7)


def test_filtered_lrelu():
    """And its gradient from the signs it wrote."""
    plugin = built("filtered_lrelu_plugin", "filtered_lrelu.cpp", "filtered_lrelu_ns.cu")
    x, b = random(2, 3, 9, 10).requires_grad_(), random(3, seed=1)
    fu, fd, none = random(6, seed=2), random(4, seed=3), torch.empty(0, dtype=torch.uint8)
    up, down, pads, gain, slope, clamp = 2, 2, (3, 2, 3, 2), 1.4, 0.2, 0.9

    def wanted(x):
        y = textbook(x + b[:, None, None], fu[:, None] * fu * up ** 2, (up, up), (1, 1), pads)
        return y, F.leaky_relu(y * gain, slope).clamp(-clamp, clamp)

    made, signs, code = plugin.filtered_lrelu(x.detach(), fu, fd, b, none, up, down, *pads, 0, 0, gain, slope, clamp, False,
                                              True)
    before, active = wanted(x)
    assert code == 0 and torch.allclose(made, textbook(active, fd[:, None] * fd, (1, 1), (down, down), (0,) * 4), atol=1e-12)
    assert signs.dtype == torch.uint8 and signs.shape == (2, 3, before.shape[2], (before.shape[3] + 15) // 16 * 4)
    along = random(*before.shape, seed=4)
    slopes, = torch.autograd.grad((active * along).sum(), before)
    place = along.clone()
    plugin.filtered_lrelu_act_(place, signs, 0, 0, gain, slope, clamp, False)
    assert torch.allclose(place, slopes, atol=1e-12)
    part = along[:, :, 2:, 3:].clone()
    plugin.filtered_lrelu_act_(part, signs, 3, 2, gain, slope, clamp, False)
    assert torch.allclose(part, slopes[:, :, 2:, 3:], atol=1e-12)


def test_the_function_of_stylegan3_for_cpu_tensors(tmp_path, monkeypatch):
    for name in ("torch_utils", "torch_utils/ops"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").write_text("")
    (tmp_path / "torch_utils/ops/upfirdn2d.py").write_text(
        "def _upfirdn2d_ref(x, f, up=1, down=1, padding=0, flip_filter=False, gain=1): return 'theirs'")
    monkeypatch.syspath_prepend(str(tmp_path))
    module = importlib.import_module("torch_utils.ops.upfirdn2d")
    x, f = random(2, 3, 7, 6).requires_grad_(), random(4, seed=1)
    made = module._upfirdn2d_ref(x, f, up=[2, 1], down=3, padding=[1, 2, 0, 3], gain=1.7)
    wanted = 1.7 * textbook(x, f[:, None] * f, (2, 1), (3, 3), (1, 2, 0, 3))
    assert torch.allclose(made, wanted, atol=1e-12)
    assert torch.autograd.gradgradcheck(lambda a: module._upfirdn2d_ref(a, f, 2, 1, 2), (x[:1, :1, :3, :3],))
    assert torch.equal(module._upfirdn2d_ref(x, None), x)
    import sys
    for name in ("torch_utils.ops.upfirdn2d", "torch_utils.ops", "torch_utils"):
        del sys.modules[name]
