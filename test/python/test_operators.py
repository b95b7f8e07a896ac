"""mluops.torch against the compositions: values, gradients, dtypes, layouts, odd inputs."""

import warnings

import pytest

torch = pytest.importorskip("torch")

import mluops  # noqa: E402
import mluops.torch as mt  # noqa: E402
from cases import CASES, TOLERANCE  # noqa: E402
from mluops._context import torch_door  # noqa: E402

DTYPES = [torch.float32, torch.float16, torch.float64, torch.bfloat16]
every_case = pytest.mark.parametrize("case", CASES, ids=repr)
every_dtype = pytest.mark.parametrize("dtype", DTYPES, ids=str)


def assert_near(got, wanted, dtype, factor=1.0):
    limit = TOLERANCE[dtype] * factor * max(1.0, wanted.abs().max().item() if wanted.numel() else 1.0)
    assert got.shape == wanted.shape
    assert (got.double() - wanted).abs().max().item() <= limit


@every_dtype
@every_case
def test_forward_and_backward(case, dtype):
    tensors = case.inputs(dtype, requires_grad=True)
    output = case.run(tensors)
    wanted, wide = case.expected(tensors)
    assert output.dtype == dtype
    assert_near(output, wanted.detach(), dtype)
    grad = torch.rand(output.shape, generator=torch.Generator().manual_seed(1)).to(dtype)
    output.backward(grad)
    wanted.backward(grad.double())
    for i in case.leaves:
        assert tensors[i].grad.dtype == dtype
        assert_near(tensors[i].grad, wide[i].grad, dtype, factor=4)


@every_case
def test_gradcheck(case):
    tensors = case.inputs(torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(lambda *given: case.run(given), tensors, atol=1e-6, nondet_tol=1e-12)


@every_case
def test_channels_last_stays_and_agrees(case):
    plain, last = case.inputs(torch.float32, True), case.inputs(torch.float32, True, channels_last=True)
    a, b = case.run(plain), case.run(last)
    assert torch.equal(a, b)
    assert a.is_contiguous()
    if b.dim() == 4:
        assert b.is_contiguous(memory_format=torch.channels_last)
    a.sum().backward()
    b.sum().backward()
    for i in case.leaves:
        assert torch.allclose(plain[i].grad, last[i].grad, atol=1e-6)


@pytest.mark.parametrize("channels_last, copies", [(True, 0), (False, 2)])
def test_layout_conversions_are_counted(channels_last, copies, monkeypatch):
    """channels_last reaches the library at the address torch gave it; NCHW is converted once for each input."""
    from mluops import _calls
    seen = []
    inner = _calls.carafe_forward
    monkeypatch.setattr(_calls, "carafe_forward",
                        lambda *args: (seen.extend(t[2] for t in args[4:6]), inner(*args))[1])
    case = CASES[0]
    tensors = case.inputs(torch.float32, channels_last=channels_last)
    case.run(tensors)
    assert sum(address != t.data_ptr() for address, t in zip(seen, tensors)) == copies and len(seen) == 2


@every_case
def test_not_contiguous_inputs(case):
    dense = case.inputs(torch.float32)
    # every second element of a tensor twice as long, in the last dimension
    strided = [t if t is None else torch.stack([t, torch.zeros_like(t)], -1)[..., 0] for t in dense]
    assert any(t is not None and not t.is_contiguous() for t in strided)
    assert torch.equal(case.run(strided), case.run(dense))


@every_case
def test_requires_grad_false(case):
    output = case.run(case.inputs(torch.float32))
    assert not output.requires_grad
    with torch.no_grad():
        assert not case.run(case.inputs(torch.float32, requires_grad=True)).requires_grad


@every_case
def test_one_leaf_at_a_time(case):
    whole = case.inputs(torch.float32, requires_grad=True)
    case.run(whole).sum().backward()
    for i in case.leaves:
        tensors = case.inputs(torch.float32)
        if tensors[i] is None:
            continue
        tensors[i].requires_grad_()
        case.run(tensors).sum().backward()
        assert torch.allclose(tensors[i].grad, whole[i].grad, atol=1e-6)


def test_mixed_dtypes_promote():
    x, masks = CASES[0].inputs(torch.float16)[0].requires_grad_(), CASES[0].inputs(torch.float32)[1].requires_grad_()
    y = mt.carafe(x, masks, *CASES[0].arguments)
    assert y.dtype == torch.float32
    assert torch.equal(y, mt.carafe(x.float(), masks, *CASES[0].arguments))
    y.sum().backward()
    assert x.grad.dtype == torch.float16 and masks.grad.dtype == torch.float32

    pool = CASES[5]
    features, rois, offset = pool.inputs(torch.float32)
    y = mt.deform_roi_pool(features.half(), rois, offset.half(), *pool.arguments)
    assert y.dtype == torch.float32
    assert mt.deform_roi_pool(features.bfloat16(), rois.half(), None, *pool.arguments).dtype == torch.float32

    f, i, w = CASES[7].inputs(torch.float32)
    assert mt.three_interpolate(f.bfloat16(), i, w).dtype == torch.float32
    assert torch.equal(mt.three_interpolate(f, i.long(), w), mt.three_interpolate(f, i, w))
    image, boxes = CASES[8].inputs(torch.float32)
    assert mt.border_align(image.half(), boxes, 3).dtype == torch.float32


@pytest.mark.skipif(not hasattr(torch, "autocast"), reason="this torch has no CPU autocast")
def test_autocast_bfloat16():
    torch.manual_seed(0)
    layer = mt.CARAFEPack(8, 2, compressed_channels=4)
    x = torch.randn(1, 8, 6, 5, requires_grad=True)
    wanted = layer(x)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        y = layer(x)
    assert (y.float() - wanted).abs().max() < 0.05
    y.float().sum().backward()
    assert x.grad.dtype == torch.float32 and torch.isfinite(x.grad).all()
    with torch.autocast("cpu", dtype=torch.bfloat16):
        features = torch.nn.functional.conv2d(x, torch.randn(8, 8, 1, 1))
        assert features.dtype == torch.bfloat16
        pooled = mt.deform_roi_pool(features, torch.tensor([[0, 0, 0, 4, 4.]]), None, 2)
        assert pooled.dtype == torch.float32  # widest of bfloat16 features and float32 RoIs


def test_empty_inputs():
    x = torch.zeros(0, 4, 3, 3, requires_grad=True)
    y = mt.carafe(x, torch.zeros(0, 9, 6, 6), 3, 1, 2)
    assert y.shape == (0, 4, 6, 6)
    y.sum().backward()
    assert x.grad.shape == x.shape

    x = torch.ones(2, 4, 3, 3, requires_grad=True)
    y = mt.deform_roi_pool(x, torch.zeros(0, 5), None, 2)
    assert y.shape == (0, 4, 2, 2)
    y.sum().backward()
    assert torch.equal(x.grad, torch.zeros_like(x))

    assert mt.border_align(torch.ones(2, 8, 3, 3), torch.zeros(2, 0, 4), 2).shape == (2, 2, 0, 4)
    assert mt.psa_mask(torch.ones(0, 9, 3, 3), 0, 3).shape == (0, 9, 3, 3)
    assert mt.three_interpolate(torch.ones(2, 4, 5), torch.zeros(2, 0, 3, dtype=torch.int32),
                                torch.ones(2, 0, 3)).shape == (2, 4, 0)
    nothing = mt.three_interpolate(torch.ones(2, 4, 0), torch.zeros(2, 6, 3, dtype=torch.int32), torch.ones(2, 6, 3))
    assert torch.equal(nothing, torch.zeros(2, 4, 6))
    with pytest.raises(RuntimeError, match="features: wanted 4 dimensions"):
        mt.carafe(torch.ones(4, 3, 3), torch.ones(1, 9, 6, 6), 3, 1, 2)


def test_errors_are_the_library_s():
    with pytest.raises(mluops.BadParamError, match="mask"):
        mt.carafe(torch.ones(1, 4, 3, 3), torch.ones(1, 8, 6, 6), 3, 1, 2)
    with pytest.raises(mluops.BadParamError, match="rois"):
        mt.deform_roi_pool(torch.ones(1, 4, 3, 3), torch.tensor([[1., 0, 0, 2, 2]]), None, 2)
    with pytest.raises(TypeError, match="int64"):
        mt.psa_mask(torch.ones(1, 9, 3, 3, dtype=torch.long), 0, 3)


@every_case
def test_no_gradient_of_a_gradient(case):
    tensors = case.inputs(torch.float32, requires_grad=True)
    leaf = next(tensors[i] for i in case.leaves if tensors[i] is not None)
    grad, = torch.autograd.grad(case.run(tensors).square().sum(), leaf, create_graph=True)
    with pytest.raises(RuntimeError, match="gradients of gradients are not available"):
        grad.sum().backward()


def test_border_grad_offset_is_the_documented_one():
    """In the border bands grad_offset uses unclamped coordinates: nonzero where the function is constant."""
    image = torch.arange(16.).reshape(1, 1, 4, 4).requires_grad_()
    offset = torch.zeros(1, 2, 1, 1, requires_grad=True)
    # one sample at y = -0.5, x = 1.5
    roi = torch.tensor([[0, 1.5, -0.5, 2.5, 0.5]])
    y = mt.deform_roi_pool(image, roi, offset, 1, 1.0, 1, 1.0)
    assert y.item() == 1.5
    y.sum().backward()
    gx, gy = offset.grad.reshape(-1).tolist()
    assert gx == pytest.approx(1.0) and gy == pytest.approx(4.0)


@pytest.mark.parametrize("name", ["carafe", "deform_roi_pool offset", "three_interpolate", "border_align"])
def test_deterministic_flag_selects_the_strategy(name):
    from mluops._context import ATOMICS_ALLOWED, ATOMICS_NOT_ALLOWED
    case = next(c for c in CASES if c.name == name)

    def gradients():
        tensors = case.inputs(torch.float32, requires_grad=True)
        case.run(tensors).sum().backward()
        return [tensors[i].grad for i in case.leaves]

    gradients()
    assert torch_door.context().atomics == ATOMICS_ALLOWED
    torch.use_deterministic_algorithms(True)
    try:
        first, second = gradients(), gradients()
        assert torch_door.context().atomics == ATOMICS_NOT_ALLOWED
    finally:
        torch.use_deterministic_algorithms(False)
    assert all(torch.equal(a, b) for a, b in zip(first, second))


def test_gradients_are_the_same_bits_for_every_thread_count():
    torch.manual_seed(3)
    x, masks = torch.randn(1, 16, 24, 24), torch.rand(1, 25, 48, 48)
    threads, found = torch.get_num_threads(), []
    torch.use_deterministic_algorithms(True)
    try:
        for count in (1, 2, 3):
            torch.set_num_threads(count)
            leaf = x.clone().requires_grad_()
            mt.carafe(leaf, masks, 5, 1, 2).square().sum().backward()
            found.append(leaf.grad)
    finally:
        torch.use_deterministic_algorithms(False)
        torch.set_num_threads(threads)
    assert torch.equal(found[0], found[1]) and torch.equal(found[0], found[2])


def test_no_warnings():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for case in CASES:
            tensors = case.inputs(torch.float32, requires_grad=True)
            case.run(tensors).sum().backward()


def test_large_results():
    """Results large enough for huge pages are complete."""
    x = torch.ones(1, 1, 64, 64)
    y = mt.carafe(x, torch.ones(1, 1, 4096, 4096), 1, 1, 64)
    assert y.shape == (1, 1, 4096, 4096) and y.sum().item() == 4096 * 4096


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16], ids=str)
@every_case
def test_on_the_emulated_device(case, dtype):
    """The same door leads to the emulator."""
    if case.name.startswith("psa_mask") and dtype != torch.float32:
        with pytest.raises(mluops.NotSupportedError):  # the device's psamask is float only
            mluops.set_backend("mlu_emu")
            case.run(case.inputs(dtype))
        return
    mluops.set_backend("mlu_emu")
    tensors = case.inputs(dtype, requires_grad=True)
    output = case.run(tensors)
    assert torch_door.context().last_run_backend() == "mlu_emu"
    wanted, wide = case.expected(tensors)
    assert_near(output, wanted.detach(), dtype, factor=4)
    output.sum().backward()
    wanted.sum().backward()
    for i in case.leaves:
        assert_near(tensors[i].grad, wide[i].grad, dtype, factor=8)
