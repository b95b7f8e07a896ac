"""RoI operators, most of which torch's operators compute, against loops over bins and the figures of mmcv's tests."""

import math

import pytest

torch = pytest.importorskip("torch")

import compositions  # noqa: E402
import mluops  # noqa: E402
import mluops.torch as mt  # noqa: E402
from torch.autograd import gradcheck  # noqa: E402

DTYPES = [torch.float64, torch.float32, torch.float16]
every_dtype = pytest.mark.parametrize("dtype", DTYPES, ids=str)
LIMIT = {torch.float64: 1e-11, torch.float32: 2e-5, torch.float16: 5e-3}
IMAGE = [[[[1.0, 2, 5, 6], [3, 4, 7, 8], [9, 10, 13, 14], [11, 12, 15, 16]]]]


@pytest.fixture(autouse=True)
def seed():
    torch.manual_seed(31)


def near(found, wanted, dtype):
    assert found.dtype == dtype and found.shape == wanted.shape and wanted.any()
    return ((found.double() - wanted).abs() <= LIMIT[dtype] * (1 + wanted.abs())).all()


def mean(plane, height, width, bins, ratio, place):
    """The mean of the samples of one bin; place: their offsets from its middle -> y, x."""
    rows, cols = (ratio or math.ceil(size / count) for size, count in zip((height, width), bins))
    if rows * cols <= 0:
        return plane.new_zeros(plane.shape[0])
    samples = [place(((i + 0.5) / rows - 0.5) * height / bins[0], ((j + 0.5) / cols - 0.5) * width / bins[1])
               for i in range(rows) for j in range(cols)]
    y, x = (torch.tensor(each, dtype=torch.float64) for each in zip(*samples))
    return compositions.bilinear(plane, y, x).mean(1)


def turned_bins(x, roi, bins, scale, ratio, aligned, clockwise):
    plane = x[int(roi[0])].double()
    cx, cy, width, height, angle = roi[1:].double().tolist()
    cx, cy = (each * scale - (0.5 if aligned else 0) for each in (cx, cy))
    width, height = (each * scale if aligned else max(each * scale, 1) for each in (width, height))
    angle = -angle if clockwise else angle
    result = torch.zeros(plane.shape[0], *bins, dtype=torch.float64)
    for p in range(bins[0]):
        for q in range(bins[1]):
            def place(dy, dx):
                v, u = ((p + 0.5) / bins[0] - 0.5) * height + dy, ((q + 0.5) / bins[1] - 0.5) * width + dx
                return (v * math.cos(angle) - u * math.sin(angle) + cy, v * math.sin(angle) + u * math.cos(angle) + cx)
            result[:, p, q] = mean(plane, height, width, bins, ratio, place)
    return result


def turned_rois(dtype):
    rois = torch.tensor([[1.0, 4, 3, 5.3, 3.1, 0.7], [0, 7, 7, 9.2, 2.3, -2.1], [1, 0, 0, 0.4, 0.3, 9.0],
                         [0, 40, 3, 2.5, 2.5, 0.0], [1, 3, 4, -2.5, 3.4, 1.0]])
    return rois.to(dtype)


@every_dtype
@pytest.mark.parametrize("ratio, aligned, clockwise", [(0, True, False), (2, True, True), (0, False, True)])
def test_roi_align_rotated(ratio, aligned, clockwise, dtype):
    x, rois = torch.rand(2, 3, 8, 9).to(dtype), turned_rois(dtype)
    wanted = torch.stack([turned_bins(x, roi, (3, 2), 0.75, ratio, aligned, clockwise) for roi in rois])
    found = mt.RoIAlignRotated((3, 2), 0.75, ratio, aligned, clockwise)(x, rois)
    assert near(found, wanted, dtype)
    if dtype == torch.float64 and not ratio:
        small = x[:, :1, :4, :4].clone().requires_grad_()
        assert gradcheck(lambda x: mt.roi_align_rotated(x, rois, 2, 0.5, ratio, aligned, clockwise), (small,))


def test_roi_align_rotated_of_mmcv_s_tests():
    for angle, wanted in ((0.0, [[1.9375, 4.75], [7.5625, 10.375]]), (math.pi / 2, [[7.5625, 1.9375], [10.375, 4.75]])):
        found = mt.roi_align_rotated(torch.tensor(IMAGE), torch.tensor([[0.0, 1.5, 1.5, 3, 3, angle]]), 2, 1.0, 2)
        assert torch.allclose(found, torch.tensor([[wanted]]), atol=1e-5)


@every_dtype
def test_riroi_align_rotated(dtype):
    x, rois = torch.rand(2, 8, 8, 9).to(dtype), turned_rois(dtype)
    plain = torch.stack([turned_bins(x, roi, (3, 2), 0.75, 2, False, True) for roi in rois])
    wanted = torch.zeros_like(plain)
    for r, roi in enumerate(rois.double()):
        steps = roi[5].item() * 4 / (2 * math.pi)
        whole, share = math.floor(steps), steps - math.floor(steps)
        for group in (0, 4):
            for o in range(4):
                at = (o - whole) % 4
                wanted[r, group + o] = (1 - share) * plain[r, group + at] + share * plain[r, group + (at + 1) % 4]
    assert near(mt.RiRoIAlignRotated((3, 2), 0.75, 2, 4, True)(x, rois), wanted, dtype)
    if dtype == torch.float64:
        leaf = x[:, :4, :4, :4].clone().requires_grad_()
        assert gradcheck(lambda x: mt.riroi_align_rotated(x, rois[:2], 2, 0.5, 2, 2), (leaf,))


def test_riroi_align_rotated_of_mmcv_s_tests():
    x = torch.tensor([[1.0, 2, 3, 4], [1, 2, 4, 3], [4, 3, 2, 1], [1, 2, 5, 6], [3, 4, 7, 8], [9, 10, 13, 14],
                      [11, 12, 15, 16], [1, 1, 2, 2]]).reshape(1, 8, 2, 2)
    rois = torch.tensor([[0, 0.5, 0.5, 1, 1, math.pi / 3], [0, 1, 1, 3, 3, math.pi / 2]])
    found = mt.riroi_align_rotated(x, rois, 2, 1.0, 2, 8)
    first, last = [1.8425, 1.3516, 2.3151, 1.8241], [6.6562, 10.5625, 3.5, 5.625]
    assert torch.allclose(found[0, 0].flatten(), torch.tensor(first), atol=1e-3)
    assert torch.allclose(found[1, 7].flatten(), torch.tensor(last), atol=1e-3)


@every_dtype
@pytest.mark.parametrize("ratio, aligned", [(0, True), (2, False)])
def test_bezier_align(ratio, aligned, dtype):
    x = torch.rand(2, 3, 8, 9).to(dtype)
    upper = torch.tensor([[1.0, 1, 3, 0.5, 5, 1.5, 7.3, 2.9]])
    beziers = torch.cat([torch.tensor([[1.0], [0]]), torch.cat([upper, upper + 1]), torch.cat([upper.reshape(4, 2).flip(
        0).reshape(1, 8) + torch.tensor([0, 4.0] * 4), upper.reshape(4, 2).flip(0).reshape(1, 8) + 3])], 1).to(dtype)
    offset, scale, bins = 0.5 if aligned else 0, 0.8, (3, 4)
    wanted = torch.zeros(2, 3, *bins, dtype=torch.float64)
    for r, bezier in enumerate(beziers.double()):
        corners = (bezier[1:] * scale).reshape(8, 2)
        low, high = corners[:4], corners[4:].flip(0)
        width, height = (max(abs(low[0, i] - low[3, i]), abs(high[0, i] - high[3, i])).item() for i in (0, 1))
        width, height = (each if aligned else max(each, 1) for each in (width, height))
        for p in range(3):
            for q in range(4):
                u, v = q / 4, p / 3
                terms = torch.tensor([(1 - u) ** 3, 3 * u * (1 - u) ** 2, 3 * u * u * (1 - u), u ** 3], dtype=torch.float64)
                cx, cy = ((terms @ high) * v + (terms @ low) * (1 - v) - offset).tolist()
                wanted[r, :, p, q] = mean(x[int(bezier[0])].double(), height, width, bins, ratio,
                                          lambda dy, dx: (cy + dy, cx + dx))
    assert near(mt.BezierAlign(bins, scale, ratio, aligned)(x, beziers), wanted, dtype)
    if dtype == torch.float64:
        leaf = x[:, :1, :4, :4].clone().requires_grad_()
        assert gradcheck(lambda x: mt.bezier_align(x, beziers, 2, 0.4, ratio, aligned), (leaf,))


def test_bezier_align_of_mmcv_s_tests():
    x = torch.tensor(IMAGE, requires_grad=True)
    bezier = torch.tensor([[0.0, 0, 0, 1, 0, 2, 0, 3, 0, 3, 3, 2, 3, 1, 3, 0, 3]])
    found = mt.bezier_align(x, bezier, 4, 1.0, 1, False)
    assert torch.allclose(found, torch.tensor([[[[1, 1.75, 3.5, 5.25], [2.5, 3.25, 5, 6.75], [6, 6.75, 8.5, 10.25],
                                                [9.5, 10.25, 12, 13.75]]]]))
    found.sum().backward()
    assert torch.allclose(x.grad[0, 0, 0], torch.tensor([1.5625, 1.5625, 1.5625, 0.3125]))


def prroi_bin(plane, y, x):
    """The mean over a bin, y and x its ends, by Gauss and Legendre's two points: exact in each cell between pixels."""
    total = torch.zeros(plane.shape[0], dtype=torch.float64)
    padded = torch.nn.functional.pad(plane, (1, 1, 1, 1))  # beyond a pixel outside all is 0

    def parts(low, high):
        cuts = [low, *range(math.floor(low) + 1, math.ceil(high)), high]
        return [((a + b) / 2 + s * (b - a) / 12 ** 0.5, (b - a) / 2) for a, b in zip(cuts, cuts[1:]) for s in (-1, 1)]

    for v, of_row in parts(*y):
        for u, of_column in parts(*x):
            if -1 < v < plane.shape[1] and -1 < u < plane.shape[2]:
                at = (torch.tensor([each + 1], dtype=torch.float64) for each in (v, u))
                total += compositions.bilinear(padded, *at)[:, 0] * of_row * of_column
    return total / ((y[1] - y[0]) * (x[1] - x[0]))


@every_dtype
def test_prroi_pool(dtype):
    x, bins, scale = torch.rand(2, 3, 6, 7).to(dtype), (3, 2), 0.5
    rois = torch.tensor([[1.0, 1.3, 2.1, 9.4, 10.9], [0, -6, -3, 4, 30], [0, 4, 4, 4, 9], [1, 9, 3, 5, 7],
                         [0, 2, 2, 2.5, 2.25], [1, 40, 40, 50, 60]]).to(dtype)
    wanted = torch.zeros(6, 3, *bins, dtype=torch.float64)
    for r, (image, *corners) in enumerate(rois.double().tolist()):
        left, top, right, bottom = (each * scale for each in corners)
        for p in range(3 if right > left and bottom > top else 0):
            for q in range(2):
                y = [top + (bottom - top) * (p + each) / 3 for each in (0, 1)]
                u = [left + (right - left) * (q + each) / 2 for each in (0, 1)]
                wanted[r, :, p, q] = prroi_bin(x[int(image)].double(), y, u)
    found = mt.PrRoIPool(bins, scale)(x, rois)
    assert near(found, wanted, dtype)
    assert mt.prroi_pool(x, rois[:0], bins).shape == (0, 3, 3, 2)
    if dtype == torch.float64:
        small, some = x[:, :2, :4, :4].clone().requires_grad_(), rois[[0, 1, 4]].clone().requires_grad_()
        assert gradcheck(lambda x, r: mt.prroi_pool(x, torch.cat([rois[[0, 1, 4], :1], r[:, 1:]], 1), bins, scale),
                         (small, some))
        mt.prroi_pool(small, rois.requires_grad_(), bins, scale).sum().backward()
        assert rois.grad[[2, 3, 5], 1:].eq(0).all() and rois.grad[0].any() and rois.grad.isfinite().all()


def test_prroi_pool_of_mmcv_s_tests():
    x, rois = torch.tensor(IMAGE, requires_grad=True), torch.tensor([[0.0, 0, 0, 3, 3]], requires_grad=True)
    found = mt.prroi_pool(x, rois, 2)
    assert torch.allclose(found, torch.tensor([[[[3.75, 6.9166665], [10.083333, 13.25]]]]))
    found.sum().backward()
    assert torch.allclose(x.grad[0, 0, :2], torch.tensor([[1.0, 2, 2, 1], [2, 4, 4, 2]]) / 9)
    assert torch.allclose(rois.grad, torch.tensor([[0.0, 10, 20, 10, 20]]) / 3)


@every_dtype
@pytest.mark.parametrize("points", [1, 5])
def test_rotated_feature_align(points, dtype):
    x = torch.rand(2, 3, 4, 5).to(dtype)
    boxes = (torch.rand(2, 4, 5, 5) * torch.tensor([40.0, 50, 30, 30, 6])).to(dtype)
    wanted = x.double().clone()
    for n in range(2):
        for h in range(4):
            for w in range(5):
                y, at, width, height, angle = boxes[n, h, w].double().tolist()
                y, at, width, height = (each / 8 for each in (y, at, width, height))
                places = [(y, at)] + [
                    (y + math.sin(angle) * width / 2 * i + math.cos(angle) * height / 2 * j,
                     at + math.cos(angle) * width / 2 * i - math.sin(angle) * height / 2 * j)
                    for i, j in ((1, 1), (-1, 1), (-1, -1), (1, -1))]
                for place in places[:points]:
                    one = (torch.tensor([each], dtype=torch.float64) for each in place)
                    wanted[n, :, h, w] += compositions.bilinear(x[n].double(), *one)[:, 0]
    assert near(mt.rotated_feature_align(x, boxes, 1 / 8, points), wanted, dtype)
    if dtype == torch.float64:
        assert gradcheck(lambda x: mt.rotated_feature_align(x, boxes[:1], 1 / 8, points), (x[:1].clone().requires_grad_(),))


x, roi = torch.ones(1, 4, 4, 4), torch.tensor([[0.0, 1, 1, 2, 2, 0]])
REFUSED = {
    "rois: wanted dimension 1 to be 6": lambda: mt.roi_align_rotated(x, roi[:, :5], 2, 1.0),
    "rois: wanted batch index in .0, 0., got 1": lambda: mt.roi_align_rotated(x, roi + 1, 2, 1.0),
    "rois: wanted batch index in .0, 0., got nan": lambda: mt.roi_align_rotated(x, roi * math.nan, 2, 1.0),
    "beziers: wanted batch index in .0, 0., got 2": lambda: mt.bezier_align(x, torch.ones(1, 17) * 2, 2),
    "output_size: wanted at least 1": lambda: mt.roi_align_rotated(x, roi, 0, 1.0),
    "output_size: wanted at least 1, got .0, 2.": lambda: mt.prroi_pool(x, torch.zeros(1, 5), (0, 2)),
    "num_orientations: wanted a divisor": lambda: mt.riroi_align_rotated(x, roi, 2, 1.0, num_orientations=3),
    "beziers: wanted dimension 1 to be 17": lambda: mt.bezier_align(x, roi, 2),
    "points: wanted 1 or 5": lambda: mt.rotated_feature_align(x, torch.ones(1, 4, 4, 5), points=2),
    "best_rbboxes: wanted dimension 2": lambda: mt.rotated_feature_align(x, torch.ones(1, 4, 5, 5)),
}


@pytest.mark.parametrize("text", REFUSED)
def test_refused(text):
    with pytest.raises(mluops.BadParamError, match=text):
        REFUSED[text]()


def test_no_rois_and_places_that_are_no_numbers():
    assert mt.roi_align_rotated(x, roi[:0], 2, 1.0).shape == (0, 4, 2, 2)
    broken = torch.tensor([[0, math.nan, 1, 2, 2, 0], [0, 1, 1, math.nan, 2, 0], [0, 1, 1, 2, 2, math.inf]])
    for ratio in (0, 2):
        assert not mt.roi_align_rotated(x, broken, 2, 1.0, ratio).any()
        curves = torch.linspace(0, 3, 17)[None]
        assert not mt.bezier_align(x, curves * torch.tensor([1, math.nan, math.inf] + [1] * 14), 2, 1.0, ratio).any()
        assert mt.bezier_align(x, curves, 2, 1e7, ratio).isfinite().all()  # many more samples than memory holds
    assert mt.bezier_align(x, curves[:0], 2).shape == (0, 4, 2, 2)
    assert torch.equal(mt.rotated_feature_align(x, torch.full((1, 4, 4, 5), math.nan), points=5), x)
