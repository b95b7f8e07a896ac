"""The operators of mluops.torch that torch's own compute, against plain loops and the figures of mmcv's tests."""

import itertools

import pytest

torch = pytest.importorskip("torch")

import mluops  # noqa: E402
import mluops.torch as mt  # noqa: E402
from torch.autograd import gradcheck  # noqa: E402

DTYPES = [torch.float64, torch.float32, torch.float16]
every_dtype = pytest.mark.parametrize("dtype", DTYPES, ids=str)
LIMIT = {torch.float64: 1e-12, torch.float32: 1e-5, torch.float16: 3e-3}


@pytest.fixture(autouse=True)
def seed():
    torch.manual_seed(25)


def double(*shape):
    return torch.rand(*shape, dtype=torch.float64)


def close(found, wanted, dtype):
    assert found.dtype == dtype and found.shape == wanted.shape
    return ((found.double() - wanted).abs() <= LIMIT[dtype] * (1 + wanted.abs())).all()


def iou(a, b, mode, offset):
    width = min(a[2], b[2]) - max(a[0], b[0]) + offset
    height = min(a[3], b[3]) - max(a[1], b[1]) + offset
    shared = max(width, 0) * max(height, 0)
    areas = [(each[2] - each[0] + offset) * (each[3] - each[1] + offset) for each in (a, b)]
    return shared / (areas[0] if mode == "iof" else areas[0] + areas[1] - shared) if shared else 0.0


@every_dtype
@pytest.mark.parametrize("mode, offset", [("iou", 0), ("iou", 1), ("iof", 0)])
def test_bbox_overlaps(mode, offset, dtype):
    a, b = (torch.cat([at, at + size], 1).to(dtype)
            for at, size in ((double(9, 2) * 6, double(9, 2) * 4 + 0.5), (double(7, 2) * 6, double(7, 2) * 4 + 0.5)))
    wanted = torch.tensor([[iou(x, y, mode, offset) for y in b.double().tolist()] for x in a.double().tolist()],
                          dtype=torch.float64)
    assert (wanted > 0).sum() > 10 and (wanted == 0).any()
    assert close(mt.bbox_overlaps(a, b, mode, offset=offset), wanted, dtype)
    assert close(mt.bbox_overlaps(a[:7], b, mode, True, offset), wanted[:7].diagonal(), dtype)
    assert mt.bbox_overlaps(a[:0], b).shape == (0, 7)


def float64_overlaps(a, b, mode, aligned, offset):
    """The textbook's, differentiable, of float64 boxes."""
    area = [(each[:, 2] - each[:, 0] + offset) * (each[:, 3] - each[:, 1] + offset) for each in (a, b)]
    if not aligned:
        a, area[0] = a[:, None], area[0][:, None]
    sides = [(torch.minimum(a[..., k + 2], b[..., k + 2]) - torch.maximum(a[..., k], b[..., k]) + offset).clamp(min=0)
             for k in (0, 1)]
    shared = sides[0] * sides[1]
    ious = shared / (area[0] if mode == "iof" else area[0] + area[1] - shared)
    return torch.where(shared > 0, ious, torch.zeros_like(ious))


@every_dtype
@pytest.mark.parametrize("mode", ["iou", "iof"])
@pytest.mark.parametrize("aligned, offset, rows, columns",
                         [(False, 0, 9, 7), (False, 1, 300, 250), (True, 1, 90, 90), (True, 0, 40000, 40000),
                          (False, 0, 3, 40000), (False, 0, 1, 1)])
def test_gradient_of_bbox_overlaps(mode, aligned, offset, rows, columns, dtype):
    """Coordinates on a grid of halves: many are equal."""
    a, b = (torch.cat([at, at + size], 1).to(dtype)
            for at, size in (((double(n, 2) * 12).round() / 2, (double(n, 2) * 8).abs().round() / 2 + 0.5)
                             for n in (rows, columns)))
    grad = double(*([rows] if aligned else [rows, columns]))
    both = [each.clone().requires_grad_() for each in (a, b)]
    wanted = [each.to(torch.float64, copy=True).requires_grad_() for each in (a, b)]
    mt.bbox_overlaps(*both, mode, aligned, offset).backward(grad.to(dtype))
    float64_overlaps(*wanted, mode, aligned, offset).backward(grad.to(dtype).double())
    for got, want in zip(both, wanted):
        assert close(got.grad, want.grad, dtype)
    one = a.clone().requires_grad_()
    mt.bbox_overlaps(one, b, mode, aligned, offset).backward(grad.to(dtype))
    assert torch.equal(one.grad, both[0].grad)


def test_second_derivatives_of_bbox_overlaps():
    at, size = double(5, 2), double(5, 2).abs() + 3
    boxes = torch.cat([at, at + size], 1).requires_grad_()
    others = (boxes.detach() + double(5, 4) / 8).requires_grad_()
    assert torch.autograd.gradcheck(mt.bbox_overlaps, (boxes, others), check_batched_grad=True)
    assert torch.autograd.gradgradcheck(mt.bbox_overlaps, (boxes, others))


def test_bbox_overlaps_of_mmcv_s_tests():
    a = torch.tensor([[1.0, 1, 3, 4], [2, 2, 3, 4], [7, 7, 8, 8]])
    b = torch.tensor([[0.0, 2, 2, 5], [2, 1, 3, 3]])
    assert torch.allclose(mt.bbox_overlaps(a, b, offset=1), torch.tensor([[1 / 3, 0.5], [0.2, 0.5], [0, 0]]))
    points = torch.zeros(1, 4, requires_grad=True)
    mt.bbox_overlaps(points, points).sum().backward()  # boxes of no size
    assert not points.grad.any()


def test_points_in_polygons():
    points = torch.tensor([[300.0, 300], [400, 400], [100, 100], [300, 250], [100, 0]])
    quads = torch.tensor([[200.0, 200, 400, 400, 500, 200, 400, 100], [400, 400, 500, 500, 600, 300, 500, 200],
                          [300, 300, 600, 700, 700, 700, 700, 100]])
    wanted = [[0, 0, 0], [0, 0, 1], [0, 0, 0], [1, 0, 0], [0, 0, 0]]  # of mmcv's tests
    for dtype in DTYPES:
        assert mt.points_in_polygons(points.to(dtype), quads.to(dtype)).tolist() == wanted
    points, quads = torch.randint(0, 12, (200, 2)), torch.randint(0, 12, (9, 8))

    def inside(point, quad):  # a loop that stops at a point on a side
        corners, odd = [quad[i:i + 2] for i in range(0, 8, 2)], 0
        for i, (sx, sy) in enumerate(corners):
            tx, ty = corners[i - 1]
            if [sx, sy] == point or [tx, ty] == point:
                break
            if (sy < point[1]) != (ty < point[1]):
                at = (sx - point[0]) * (ty - sy) + (point[1] - sy) * (tx - sx)  # exact, times ty - sy
                if at == 0:
                    break
                odd ^= (at > 0) == (ty > sy)
        return float(odd)

    wanted = [[inside(p, q) for q in quads.tolist()] for p in points.tolist()]
    assert mt.points_in_polygons(points.double(), quads.double()).tolist() == wanted


@every_dtype
def test_tin_shift(dtype):
    x, shift = double(2, 5, 6, 3).to(dtype), torch.tensor([[1, 0, -2], [-7, 2, 4]])
    wanted = torch.zeros(2, 5, 6, 3, dtype=torch.float64)
    for n, t, c in itertools.product(range(2), range(5), range(6)):
        to = t + shift[n, c // 2]
        if 0 <= to < 5:
            wanted[n, to, c] = x[n, t, c].double()
    assert torch.equal(mt.TINShift()(x, shift).double(), wanted)
    assert torch.equal(mt.tin_shift(x, shift.int()).double(), wanted)
    assert gradcheck(mt.tin_shift, (double(1, 3, 4, 2).requires_grad_(), torch.tensor([[1, -1]])))


@every_dtype
def test_masked_conv2d(dtype):
    x, weight, bias = (double(*shape).sub(0.5).to(dtype) for shape in ((1, 3, 7, 6), (4, 3, 3, 2), (4,)))
    mask = (double(1, 7, 6) > 0.5).to(dtype)
    whole = torch.nn.functional.conv2d(x.double(), weight.double(), bias.double(), padding=1)  # 7 x 7
    on = torch.zeros(7, 7, dtype=torch.float64)
    on[:, :6] = mask[0].double()
    assert close(mt.masked_conv2d(x, mask, weight, bias, 1), whole * on, dtype)
    assert not mt.masked_conv2d(x, mask * 0, weight, bias, 1).any()
    if dtype == torch.float64:
        layer = mt.MaskedConv2d(3, 4, 3, padding=1).double()
        assert close(layer(x, mask * 0 + 1), layer(x), dtype)
        leaves = [t.clone().requires_grad_() for t in (x, weight, bias)]
        assert gradcheck(lambda x, w, b: mt.masked_conv2d(x, mask, w, b, (0, 1)), leaves)


@every_dtype
def test_active_rotated_filter(dtype):
    x = double(2, 3, 2, 3, 3).to(dtype)
    indices = torch.stack([torch.randperm(18) + 1 for _ in range(4)], 1).reshape(2, 3, 3, 4)
    wanted = torch.zeros(8, 3, 18, dtype=torch.float64)
    for m, c, k, place in itertools.product(range(2), range(3), range(4), range(18)):
        wanted[m * 4 + k, c, indices.reshape(18, 4)[place, k] - 1] = x[m, c].flatten()[place].double()
    assert torch.equal(mt.active_rotated_filter(x, indices).double(), wanted.reshape(8, 6, 3, 3))
    assert gradcheck(mt.active_rotated_filter, (double(1, 2, 2, 3, 3).requires_grad_(), indices))


x, flow = torch.ones(1, 2, 4, 4), torch.ones(1, 4, 4, 4)
REFUSED = {
    'mode: wanted "iou"': lambda: mt.bbox_overlaps(x[0, 0], x[0, 0], "giou"),
    "offset: wanted 0 or 1": lambda: mt.bbox_overlaps(x[0, 0], x[0, 0], offset=2),
    "bboxes2: wanted dimension 0": lambda: mt.bbox_overlaps(x[0, 0], x[0, 0, :2], aligned=True),
    "polygons: wanted dimension 1 to be 8": lambda: mt.points_in_polygons(x[0, 0, :, :2], x[0, 0]),
    "shift: wanted a number of groups": lambda: mt.tin_shift(flow, torch.zeros(1, 3, dtype=torch.int32)),
    "shift: wanted dimension 0": lambda: mt.tin_shift(flow, torch.zeros(2, 2, dtype=torch.int32)),
    "stride: wanted 1": lambda: mt.masked_conv2d(x, x[:, 0], torch.ones(1, 2, 1, 1), torch.ones(1), 0, 2),
    "mask: wanted dimension 2": lambda: mt.masked_conv2d(x, x[:, 0, :, 1:], torch.ones(1, 2, 1, 1), torch.ones(1)),
    "padding: wanted at least 0": lambda: mt.masked_conv2d(x, x[:, 0], torch.ones(1, 2, 5, 5), torch.ones(1)),
    "indices: wanted numbers from 1 to 4": lambda: mt.active_rotated_filter(
        torch.ones(1, 1, 1, 2, 2), torch.full((1, 2, 2, 1), 5)),
}


@pytest.mark.parametrize("text", REFUSED)
def test_refused(text):
    with pytest.raises(mluops.BadParamError, match=text):
        REFUSED[text]()
