"""The extensions of FlowNet2 against loops in double: correlation, warps by a flow, norms over channels."""

import math

import pytest

torch = pytest.importorskip("torch")
from torch.nn import functional as F  # noqa: E402

from dropin_doors import door, near, opened, random  # noqa: E402


@pytest.fixture(autouse=True)
def doors():
    with opened("flownet2"):
        yield


@pytest.mark.parametrize("pad, kernel, reach, step1, step2", [(4, 1, 4, 1, 1), (4, 1, 4, 1, 2), (3, 1, 4, 2, 2), (2, 1, 4, 1, 2),
                                                              (5, 3, 4, 2, 1)])
def test_correlation(pad, kernel, reach, step1, step2):
    module = door("correlation_cuda")
    one, two = random(2, 3, 9, 10).requires_grad_(), random(2, 3, 9, 10, seed=1).requires_grad_()
    radius, steps = kernel // 2, reach // step2
    a, b = F.pad(one, (pad,) * 4), F.pad(two, (pad + reach + radius,) * 4)
    rows, columns = (math.ceil((s + 2 * pad - 2 * (radius + reach)) / step1) for s in (9, 10))
    planes = []
    for tj in range(-steps, steps + 1):
        for ti in range(-steps, steps + 1):
            out = []
            for i in range(rows):
                for j in range(columns):
                    y, x = i * step1 + reach - radius, j * step1 + reach - radius
                    y2, x2 = y + tj * step2 + reach + radius, x + ti * step2 + reach + radius
                    out.append((a[:, :, y:y + kernel, x:x + kernel] * b[:, :, y2:y2 + kernel, x2:x2 + kernel]).sum((1, 2, 3)))
            planes.append(torch.stack(out, 1).reshape(2, rows, columns))
    wanted = torch.stack(planes, 1) / (kernel ** 2 * 3)
    output, scratch = one.new_empty(0), one.new_empty(0)
    module.forward(one.detach(), two.detach(), scratch, scratch, output, pad, kernel, reach, step1, step2, 1)
    near(output, wanted)
    grad, buffers = random(*wanted.shape, seed=2), (one.detach().new_empty(0), one.detach().new_empty(0))
    module.backward(one.detach(), two.detach(), scratch, scratch, grad, *buffers, pad, kernel, reach, step1, step2, 1)
    for buffer, slope in zip(buffers, torch.autograd.grad(wanted, (one, two), grad)):
        near(buffer, slope)


@pytest.mark.parametrize("bilinear", [True, False])
def test_warp(bilinear):
    module = door("resample2d_cuda")
    image, flow = random(2, 3, 6, 7).requires_grad_(), random(2, 2, 6, 7, seed=1) * 3
    flow[:, :, 0], flow[:, :, :, 0], flow[1, :, ::2] = 0, 0, flow[1, :, ::2].round()  # places on pixels, at the border too
    flow.requires_grad_()
    parts = []
    for b in range(2):
        for y in range(6):
            for x in range(7):
                xf, yf = x + flow[b, 0, y, x], y + flow[b, 1, y, x]
                if not bilinear:
                    xn, yn = (int((v + 0.5).floor().clamp(0, s)) for v, s in ((xf, 6), (yf, 5)))
                    parts.append(image[b, :, yn, xn])
                    continue
                al, be = xf - xf.detach().floor(), yf - yf.detach().floor()
                xl, xr = (int((xf.detach().floor() + k).clamp(0, 6)) for k in (0, 1))
                yt, yb = (int((yf.detach().floor() + k).clamp(0, 5)) for k in (0, 1))
                parts.append(image[b, :, yt, xl] * (1 - al) * (1 - be) + image[b, :, yt, xr] * al * (1 - be)
                             + image[b, :, yb, xl] * (1 - al) * be + image[b, :, yb, xr] * al * be)
    wanted = torch.stack(parts).reshape(2, 6, 7, 3).permute(0, 3, 1, 2)
    output = torch.zeros_like(image)
    module.forward(image.detach(), flow.detach(), output, 1, bilinear)
    near(output, wanted)
    if bilinear:
        grad, buffers = random(*wanted.shape, seed=2), (torch.zeros_like(image), torch.zeros_like(flow))
        module.backward(image.detach(), flow.detach(), grad, *buffers, 1, True)
        for buffer, slope in zip(buffers, torch.autograd.grad(wanted, (image, flow), grad)):
            near(buffer, slope)


def test_channel_norm():
    x = random(2, 3, 4, 5).requires_grad_()
    wanted, output = x.norm(dim=1, keepdim=True), torch.zeros(2, 1, 4, 5, dtype=torch.float64)
    door("channelnorm_cuda").forward(x.detach(), output, 2)
    near(output, wanted)
    grad, buffer = random(2, 1, 4, 5, seed=1), torch.zeros_like(x)
    door("channelnorm_cuda").backward(x.detach(), output, grad, buffer, 2)
    near(buffer, torch.autograd.grad(wanted, x, grad)[0], 1e-8)
