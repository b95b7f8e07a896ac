"""correlation against plain loops, and against its composition of torch's operators."""

import itertools

import pytest

torch = pytest.importorskip("torch")

import mluops  # noqa: E402
import mluops.torch as mt  # noqa: E402
from mluops.torch import _operator  # noqa: E402
from torch.autograd import gradcheck, gradgradcheck  # noqa: E402
from torch.nn import functional as F  # noqa: E402
from torch.nn.modules.utils import _pair  # noqa: E402

LIMIT = {torch.float64: 1e-12, torch.float32: 1e-5, torch.float16: 3e-3, torch.bfloat16: 2e-2}
every_dtype = pytest.mark.parametrize("dtype", LIMIT, ids=str)
every_order = pytest.mark.parametrize("order", [torch.contiguous_format, torch.channels_last], ids=str)
SETTINGS = [(1, 2, 1, 0, 1, 1), (3, 1, 2, 2, 1, 2), ((1, 3), 9, (1, 2), (0, 3), (1, 2), (1, 3))]


@pytest.fixture(autouse=True)
def seed():
    torch.manual_seed(25)


def double(*shape):
    return torch.rand(*shape, dtype=torch.float64)


def products(first, second, dy, dx):
    """[N, H, W]: each pixel of the first with the one dy, dx further in the second; 0 where that is outside."""
    height, width = first.shape[2:]
    if abs(dy) >= height or abs(dx) >= width:
        return first.new_zeros(first.shape[0], height, width)
    top, bottom, left, right = max(-dy, 0), max(dy, 0), max(-dx, 0), max(dx, 0)
    both = first[:, :, top:height - bottom, left:width - right] * second[:, :, bottom:height - top, right:width - left]
    return F.pad(both.sum(1), (left, right, top, bottom))


def composed(first, second, kernel_size=1, max_displacement=1, stride=1, padding=1, dilation=1, dilation_patch=1):
    """correlation of torch's operators."""
    kernel, step = _pair(kernel_size), _pair(dilation_patch)
    steps = range(-max_displacement, max_displacement + 1)
    n, _, height, width = first.shape
    all_ = torch.stack([products(first, second, dy * step[0], dx * step[1]) for dy in steps for dx in steps], 1)
    summed = F.conv2d(all_.reshape(-1, 1, height, width), all_.new_ones(1, 1, *kernel), None, stride, padding, dilation)
    return summed.reshape(n, len(steps), len(steps), *summed.shape[2:])


def close(found, wanted, dtype):
    assert found.dtype == dtype and found.shape == wanted.shape
    return ((found.double() - wanted).abs() <= LIMIT[dtype] * (1 + wanted.abs())).all()


@every_dtype
@pytest.mark.parametrize("settings", SETTINGS)
def test_plain_loops(settings, dtype):
    a, b = (double(2, 3, 5, 6).to(dtype) for _ in range(2))
    found = mt.correlation(a, b, *settings)
    (kernel, reach), (stride, pad, dilation, step) = settings[:2], settings[2:]
    (ky, kx), (sy, sx), (py, px), (dy, dx), (ey, ex) = (
        (each, each) if isinstance(each, int) else each for each in (kernel, stride, pad, dilation, step))
    wanted = torch.zeros(found.shape, dtype=torch.float64)
    for p, q, y, x, i, j in itertools.product(*map(range, (*found.shape[1:], ky, kx))):
        y1, x1 = y * sy - py + i * dy, x * sx - px + j * dx
        y2, x2 = y1 + (p - reach) * ey, x1 + (q - reach) * ex
        if 0 <= min(y1, y2) and max(y1, y2) < 5 and 0 <= min(x1, x2) and max(x1, x2) < 6:
            wanted[:, p, q, y, x] += (a[:, :, y1, x1].double() * b[:, :, y2, x2].double()).sum(1)
    assert wanted.any() and close(found, wanted, dtype)


@every_order
@every_dtype
@pytest.mark.parametrize("settings", [*SETTINGS, (1, 4, 1, 0), (1, 3, 1, 0, 1, 2)])
def test_composition(settings, dtype, order):
    images = [double(2, 20, 9, 21).to(dtype).contiguous(memory_format=order).requires_grad_() for _ in range(2)]
    wide = [each.detach().double().requires_grad_() for each in images]
    found, wanted = mt.correlation(*images, *settings), composed(*wide, *settings)
    assert close(found, wanted, dtype)
    grad = double(*wanted.shape).to(dtype)
    found.backward(grad)
    wanted.backward(grad.double())
    for one, other in zip(images, wide):
        assert close(one.grad, other.grad, dtype) and one.grad.any()
        assert one.grad.is_contiguous(memory_format=order)


def test_derivatives():
    images = [double(1, 2, 3, 4).requires_grad_() for _ in range(2)]
    for settings in ((1, 1, 1, 0, 1, 2), (2, 1, 1, 1)):
        assert gradcheck(lambda a, b: mt.correlation(a, b, *settings), images)
        assert gradgradcheck(lambda a, b: mt.correlation(a, b, *settings), images)


@pytest.mark.skipif(not _operator.HAS_LIBRARY_API, reason="of newer torch")
def test_forward_mode_and_opcheck():
    images = [double(1, 2, 3, 4).requires_grad_() for _ in range(2)]
    assert gradcheck(lambda a, b: mt.correlation(a, b, 2, 1), images, check_forward_ad=True)
    numbers = (2, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1)
    torch.library.opcheck(torch.ops.mluops.correlation.default, (*images, *numbers))
    plain = [each.detach() for each in images]
    grad = double(1, 3, 3, 4, 5)
    torch.library.opcheck(torch.ops.mluops.correlation_backward.default, (grad, *plain, *numbers))


def test_edges():
    one, few = torch.rand(1, 3, 4, 5), torch.rand(1, 3, 2, 2)
    assert torch.equal(mt.correlation(one[:0], one[:0]), torch.zeros(0, 3, 3, 6, 7))
    assert not mt.correlation(one[:, :0], one[:, :0]).any()
    assert torch.allclose(mt.correlation(few, few, 1, 5, padding=0)[0, 5, 5], (few * few).sum((0, 1)))
    assert mt.Correlation(max_displacement=2)(one, one).shape == (1, 5, 5, 4, 5)
    half = mt.correlation(one, one.half())
    assert half.dtype == torch.float32 and torch.allclose(half, mt.correlation(one, one), atol=1e-2)
    lasting = one.contiguous(memory_format=torch.channels_last)
    assert torch.equal(mt.correlation(one, lasting), mt.correlation(one, one))
    wild = one.clone()
    wild[0, 0, 0, 0] = float("inf")  # what lies off the other image is 0, not inf * 0
    assert not mt.correlation(wild, one, padding=0)[0, 0, :, 0].any()


x = torch.ones(1, 2, 4, 4)
REFUSED = {
    "input2: wanted dimension 1": lambda: mt.correlation(x, torch.ones(1, 4, 4, 4)),
    "input1: wanted 4 dimensions": lambda: mt.correlation(x[0], x[0]),
    "kernel_size: wanted a window": lambda: mt.correlation(x, x, 7),
    "kernel_size: wanted at least 1": lambda: mt.correlation(x, x, (1, 0)),
    "stride: wanted at least 1": lambda: mt.correlation(x, x, stride=0),
    "padding: wanted at least 0": lambda: mt.correlation(x, x, padding=(0, -1)),
    "dilation: wanted at least 1": lambda: mt.correlation(x, x, dilation=0),
    "dilation_patch: wanted at least 1": lambda: mt.correlation(x, x, dilation_patch=0),
    "max_displacement: wanted at least 0": lambda: mt.correlation(x, x, max_displacement=-1),
}


@pytest.mark.parametrize("text", REFUSED)
def test_refused(text):
    with pytest.raises(mluops.BadParamError, match=text):
        REFUSED[text]()
