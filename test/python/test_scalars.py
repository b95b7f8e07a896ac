"""Python's numbers reach calls on float64 tensors as they are, though the C functions take floats: a threshold of 0.7,
which is 0.69999999 as a float, decides as 0.7, and results are within 1e-12 of formulas in float64."""

from math import inf, nextafter

import numpy as np
import pytest

torch = pytest.importorskip("torch")

import compositions  # noqa: E402
import mluops  # noqa: E402
import mluops.torch as mt  # noqa: E402
from mluops import _function  # noqa: E402

EACH = pytest.mark.parametrize("number", [0.1, 0.3, 0.7])


def close(got, wanted):
    assert got.dtype == torch.float64
    assert float((got - wanted).abs().max()) <= 1e-12 * float(wanted.abs().max())


def twice(call):
    """The first call of a kind, and a later one (torch/_plan.py)."""
    first, second = call(), call()
    for one, other in zip(*((r,) if torch.is_tensor(r) else tuple(r) for r in (first, second))):
        assert torch.equal(one, other)
    return first


@EACH
def test_ball_query(number):
    """Points one spacing of float64 inside and outside each radius."""
    xyz = torch.zeros(1, 3, 3, dtype=torch.float64)
    xyz[0, 1, 0], xyz[0, 2, 0] = nextafter(number, 0), nextafter(number, inf)
    centre, squared = torch.zeros(1, 1, 3, dtype=torch.float64), xyz[0, :, 0] ** 2
    inside = [i for i, d in enumerate(squared.tolist()) if d < number * number]
    assert twice(lambda: mt.ball_query(0, number, 3, xyz, centre))[0, 0].unique().tolist() == inside == [0, 1]
    outside = [i for i, d in enumerate(squared.tolist()) if d == 0 or d >= number * number]
    assert twice(lambda: mt.ball_query(number, 9, 3, xyz, centre))[0, 0].unique().tolist() == outside == [0, 2]
    stacked = mt.ball_query(0, number, 3, xyz[0], centre[0], torch.tensor([3]), torch.tensor([1]))
    assert stacked[0].unique().tolist() == inside


@EACH
def test_thresholds_of_iou(number):
    """Two boxes whose IoU is the threshold: nms and nms3d keep both, the others suppress at it."""
    side = 10 * number
    boxes = torch.tensor([[0, 0, 10, 10], [0, 0, 10, side]], dtype=torch.float64)
    scores = torch.tensor([0.9, 0.8], dtype=torch.float64)
    assert 10 * side / 100 == number
    assert twice(lambda: mt.nms(boxes, scores, number))[1].tolist() == [0, 1]
    upright = torch.tensor([[5, 5, 0, 10, 10, 1, 0], [5, side / 2, 0, 10, side, 1, 0]], dtype=torch.float64)
    assert twice(lambda: mt.nms3d_normal(upright, scores, number)).tolist() == [0, 1]
    lowered = torch.tensor([0.9, 0.8 * (1 - number)], dtype=torch.float64)
    close(mt.soft_nms(boxes, scores, number, method="linear")[0][:, 4], lowered)
    groups = mt.nms_match(torch.cat([boxes, scores[:, None]], 1), number)
    assert [group.tolist() for group in groups] == [[0, 1]]


@EACH
def test_numbers_of_soft_nms(number):
    boxes = torch.tensor([[0, 0, 10, 10], [0, 5, 10, 15]], dtype=torch.float64)
    scores = torch.tensor([0.9, 0.8], dtype=torch.float64)
    dets, _ = mt.soft_nms(boxes, scores, sigma=number, method="gaussian", min_score=0)
    close(dets[1, 4], 0.8 * torch.exp(torch.tensor(-1 / 9 / number, dtype=torch.float64)))
    apart = torch.tensor([[0, 0, 1, 1], [5, 5, 6, 6]], dtype=torch.float64)
    kept = mt.soft_nms(apart, torch.tensor([0.9, number], dtype=torch.float64), min_score=number)
    assert kept[1].tolist() == [0, 1]


def rois_of(scale):
    return torch.tensor([[0, 1.3, 0.9, 6.1, 5.2], [1, 2.2, 1.1, 5.9, 6.3]], dtype=torch.float64) / torch.tensor(
        [1] + [scale] * 4, dtype=torch.float64)


@EACH
def test_pooling(number):
    torch.manual_seed(1)
    input, rois = torch.rand(2, 3, 9, 8, dtype=torch.float64, requires_grad=True), rois_of(number)
    offset = 0.1 * torch.rand(2, 2, 2, 3, dtype=torch.float64)
    grad = torch.rand(2, 3, 2, 3, dtype=torch.float64)

    def align(scale, rois):
        return mt.roi_align(input, rois, (2, 3), scale, 2)

    def shifted(scale, rois, gamma=number, offset=offset):
        return mt.deform_roi_pool(input, rois, offset, (2, 3), scale, 2, gamma)

    # RoIs and offsets that are scaled beforehand, in float64, give the same with numbers that are floats.
    scaled = rois * torch.tensor([1] + [number] * 4, dtype=torch.float64)
    for got, wanted in ((align(number, rois), align(1.0, scaled)), (shifted(number, rois), shifted(1.0, scaled)),
                        (shifted(number, rois), shifted(number, rois, 0.5, offset * (number / 0.5)))):
        close(got.detach(), wanted.detach())
        close(torch.autograd.grad(got, input, grad)[0], torch.autograd.grad(wanted, input, grad)[0])


@EACH
def test_roi_pool(number):
    """A RoI that ends on a pixel of the map: (corner + 1) * scale is a whole number in float64 alone."""
    input = torch.arange(64, dtype=torch.float64).reshape(1, 1, 8, 8)
    rois = torch.tensor([[0, 0, 0, 4 / number - 1, 4 / number - 1]], dtype=torch.float64)
    assert float((rois[0, 3] + 1) * number) == 4
    assert float(twice(lambda: mt.roi_pool(input, rois, 1, number))) == 3 * 8 + 3


@pytest.mark.parametrize("gamma", [1.7, 2.3])
@EACH
def test_focal_losses(number, gamma):
    torch.manual_seed(2)
    logits = torch.randn(6, 4, dtype=torch.float64, requires_grad=True)
    target = torch.tensor([0, 1, 2, 3, 1, 0])
    for name in ("sigmoid_focal_loss", "softmax_focal_loss"):
        got = getattr(mt, name)(logits, target, gamma, number, None, "sum")
        wanted = getattr(compositions, name)(logits, target, None, gamma, number).sum()
        close(got.detach(), wanted.detach())
        close(torch.autograd.grad(got, logits)[0], torch.autograd.grad(wanted, logits)[0])


def test_numpy():
    rng = np.random.default_rng(3)
    x, offset = rng.random((2, 9, 8, 3)), 0.1 * rng.random((2, 2, 2, 3))
    rois = rois_of(0.1).numpy()
    mluops.set_contract("extended")
    got = mluops.deform_roi_pool(x, rois, offset, (2, 3), 0.1, 2, 0.7)
    image = torch.from_numpy(x).permute(0, 3, 1, 2)
    wanted = mt.deform_roi_pool(image, torch.from_numpy(rois), torch.from_numpy(offset), (2, 3), 0.1, 2, 0.7)
    close(torch.from_numpy(got).permute(0, 3, 1, 2), wanted)


def test_mmcv(installed):
    import mmcv.ops
    boxes = torch.tensor([[0, 0, 10, 10], [0, 0, 10, 3]], dtype=torch.float64)
    scores = torch.tensor([0.9, 0.8], dtype=torch.float64)
    groups = mmcv.ops.nms_match(torch.cat([boxes, scores[:, None]], 1), 0.3)
    assert [list(map(int, group)) for group in groups] == [[0, 1]]
    input, rois = torch.rand(2, 3, 9, 8, dtype=torch.float64), rois_of(0.1)
    for name in ("roi_align", "roi_pool"):
        ours, theirs = getattr(mt, name)(input, rois, (2, 3), 0.1), getattr(mmcv.ops, name)(input, rois, (2, 3), 0.1)
        assert torch.equal(ours, theirs)
    scaled = rois * torch.tensor([1] + [0.1] * 4, dtype=torch.float64)
    close(mmcv.ops.roi_align(input, rois, (2, 3), 0.1), mt.roi_align(input, scaled, (2, 3), 1.0))


def test_an_interrupted_call_leaves_nothing_to_the_next(monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    from mluops.torch.op.nms import NMS_MATCH
    exact = torch.tensor([[0, 0, 10, 10, 0.9], [0, 0, 10, 3, 0.8]], dtype=torch.float64)
    with monkeypatch.context() as patch:
        patch.setitem(NMS_MATCH.__dict__, "function", interrupted)
        with pytest.raises(KeyboardInterrupt):
            mt.nms_match(exact, 0.3)
    assert len(mt.nms_match(exact.float(), 0.6)) == 2  # 0.3 is pending no more: it would be refused beside 0.6
    assert len(mt.nms_match(exact, 0.3)) == 1


def test_an_older_library_rounds(monkeypatch):
    monkeypatch.setattr(_function, "_set_scalars", None)
    boxes = torch.tensor([[0, 0, 10, 10, 0.9], [0, 0, 10, 3, 0.8]], dtype=torch.float64)
    assert len(mt.nms_match(boxes, 0.3)) == 2
