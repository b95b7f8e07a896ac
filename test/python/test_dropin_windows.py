"""DCNv3 and DCNv4: windows of samples that offsets move, called as their programs do, against plain torch in float64."""

import importlib
import sys

import pytest

torch = pytest.importorskip("torch")
from dropin_doors import near, opened, package, random  # noqa: E402
from torch.nn import functional as F  # noqa: E402

import compositions  # noqa: E402


@pytest.fixture(autouse=True)
def doors(monkeypatch):
    monkeypatch.setitem(sys.modules, "DCNv4", package("DCNv4"))
    with opened("DCNv3", "DCNv4"):
        yield


def points_of(kernel, remove_center):
    return [(i, j) for i in range(kernel[1]) for j in range(kernel[0])
            if not (remove_center and (i, j) == (kernel[1] // 2, kernel[0] // 2))]


def sampled(plane, y, x):
    """Bilinear samples of C x H x W up to a pixel outside, towards 0."""
    height, width = plane.shape[1:]
    inside = (y > -1) & (y < height) & (x > -1) & (x < width)
    at = compositions.bilinear(F.pad(plane, (1, 1, 1, 1)), (y + 1).flatten(), (x + 1).flatten())
    return at.reshape(-1, *y.shape) * inside


def window_sums(x, moves, weights, numbers, remove_center):
    """x T [N, H, W, G * C], moves T [N, Ho, Wo, G, P, 2] and weights T [N, Ho, Wo, G, P] -> T [N, Ho, Wo, G * C]."""
    kh, kw, sh, sw, ph, pw, dh, dw, g, c, scale = numbers
    n, rows, columns = moves.shape[:3]
    middle_y, middle_x = (dh * (kh - 1)) // 2, (dw * (kw - 1)) // 2
    y0 = torch.arange(rows)[:, None].double() * sh - ph + middle_y - middle_y * scale
    x0 = torch.arange(columns).double() * sw - pw + middle_x - middle_x * scale
    out = []
    for image in range(n):
        for k in range(g):
            plane = x[image, ..., k * c:(k + 1) * c].permute(2, 0, 1)
            out.append(sum(sampled(plane, y0 + (j * dh + moves[image, :, :, k, p, 1]) * scale,
                                   x0 + (i * dw + moves[image, :, :, k, p, 0]) * scale) * weights[image, :, :, k, p]
                           for p, (i, j) in enumerate(points_of((kh, kw), remove_center))))
    return torch.stack(out).reshape(n, g * c, rows, columns).permute(0, 2, 3, 1)


KERNELS = {"3x3": (3, 3, 2, 1, 1, 2, 1, 2), "without its middle": (3, 3, 1, 1, 1, 1, 1, 1), "2x4": (2, 4, 1, 2, 1, 3, 2, 2),
           "1x2": (1, 2, 1, 1, 0, 1, 3, 2)}


def inputs(name, group=2, channels=3):
    """x, moves, weights, the numbers of a call, and whether the middle is left out."""
    kh, kw, sh, sw, ph, pw, dh, dw = KERNELS[name]
    remove_center = name == "without its middle"
    rows, columns = (8 + 2 * ph - dh * (kh - 1) - 1) // sh + 1, (9 + 2 * pw - dw * (kw - 1) - 1) // sw + 1
    points = len(points_of((kh, kw), remove_center))
    x = random(2, 8, 9, group * channels).requires_grad_()
    moves = random(2, rows, columns, group, points, 2, seed=1).requires_grad_()
    weights = random(2, rows, columns, group, points, seed=2).requires_grad_()
    return (x, moves, weights), (*KERNELS[name], group, channels, 1.3), remove_center


@pytest.mark.parametrize("name", sorted(KERNELS))
def test_dcnv3(name):
    module = importlib.import_module("DCNv3")
    leaves, numbers, remove_center = inputs(name)
    wanted = window_sums(*leaves, numbers, remove_center)
    x, offset, mask = leaves[0].detach(), leaves[1].detach().flatten(3), leaves[2].detach().flatten(3)
    more = (remove_center,) if remove_center else ()
    near(module.dcnv3_forward(x, offset, mask, *numbers, 64, *more), wanted)
    grad = random(*wanted.shape, seed=3)
    found = module.dcnv3_backward(x, offset, mask, *numbers, grad, 64, *more)
    for slope, leaf, expected in zip(found, (x, offset, mask), torch.autograd.grad(wanted, leaves, grad)):
        near(slope, expected.reshape(leaf.shape))


def test_dcnv3_has_a_version():
    from importlib import metadata
    assert metadata.version("DCNv3") == "1.1"
    with pytest.raises(metadata.PackageNotFoundError):
        metadata.version("no_such_distribution")


def filled_up(both):
    """T [N, H, W, M] with lines of a multiple of 8 numbers, what is behind of no meaning."""
    return F.pad(both, (0, -both.shape[-1] % 8), value=7.0)


@pytest.mark.parametrize("softmax", [False, True])
@pytest.mark.parametrize("name", sorted(KERNELS))
def test_dcnv4(name, softmax):
    module = importlib.import_module("DCNv4.ext")
    leaves, numbers, remove_center = inputs(name)
    weights = leaves[2].softmax(-1) if softmax else leaves[2]
    wanted = window_sums(*leaves[:2], weights, numbers, remove_center)
    both = torch.cat([leaves[1].flatten(4), leaves[2]], -1).flatten(3)
    given = filled_up(both).detach()
    rest = int(remove_center), 8, 512, softmax
    near(module.dcnv4_forward(leaves[0].detach(), given, *numbers, 256, *rest), wanted)
    grad = random(*wanted.shape, seed=3)
    of_x, of_both = module.dcnv4_backward(leaves[0].detach(), given, *numbers, 256, grad, *rest)
    expected_x, *expected = torch.autograd.grad(wanted, leaves, grad)
    near(of_x, expected_x)
    assert of_both.shape == given.shape and not of_both[..., both.shape[-1]:].any()
    near(of_both[..., :both.shape[-1]], torch.cat([expected[0].flatten(4), expected[1]], -1).flatten(3))


@pytest.mark.parametrize("dtype, tolerance", [(torch.float64, 1e-11), (torch.float32, 1e-5), (torch.float16, 3e-3)])
def test_attention_with_places_and_weights_in_one_tensor(dtype, tolerance):
    module = importlib.import_module("DCNv4.ext")
    shapes, starts, points = torch.tensor([[4, 5], [2, 3]]), torch.tensor([0, 20]), 8
    value = random(2, 26, 2, 4).to(dtype)
    both = torch.cat([random(2, 3, 2, 2 * points * 2, seed=1) * 0.3 + 0.5, random(2, 3, 2, 2 * points, seed=2)], -1).to(dtype)
    leaves = [each.double().requires_grad_() for each in (value, both)]
    places = leaves[1][..., :4 * points].unflatten(-1, (2, points, 2))
    weights = leaves[1][..., 4 * points:].softmax(-1).unflatten(-1, (2, points))
    wanted = compositions.multi_scale_deformable_attn(leaves[0], shapes, starts, places, weights)
    near(module.flash_deform_attn_forward(value, shapes, starts, both, 64, points, 8, 512), wanted, tolerance)
    if dtype != torch.float16:
        grad = random(2, 3, 8, seed=3).to(dtype)
        found = module.flash_deform_attn_backward(value, shapes, starts, both, grad, 64, points, 8, 512)
        for slope, expected in zip(found, torch.autograd.grad(wanted, leaves, grad.double())):
            near(slope, expected, tolerance * 10)


def test_too_few_numbers():
    module = importlib.import_module("DCNv4.ext")
    (x, _, _), numbers, _ = inputs("3x3")
    with pytest.raises(ValueError, match="offset_mask: wanted at least 54 numbers a pixel, 2 groups of 9 points, got 53"):
        module.dcnv4_forward(x, torch.zeros(2, 4, 9, 53), *numbers, 256, 0, 8, 512, False)
    with pytest.raises(ValueError, match="sampling_loc_attn: wanted 48 numbers a query: 16 places x, y and 16 weights, got 47"):
        module.flash_deform_attn_forward(random(1, 26, 2, 4), torch.tensor([[4, 5], [2, 3]]), torch.tensor([0, 20]),
                                         random(1, 3, 2, 47), 64, 8, 8, 512)
