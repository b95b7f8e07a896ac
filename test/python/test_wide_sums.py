"""Sums, areas and volumes of 16-bit tensors that are beyond their range, boxes and themselves, and tensors whose numbers
are not in memory as they read."""

import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed")

import mluops.torch as mt  # noqa: E402
from cases import CASES  # noqa: E402
from mluops.torch import _operator  # noqa: E402

ROUNDING = {torch.float64: 1e-12, torch.float32: 1e-6, torch.float16: 1e-3, torch.bfloat16: 8e-3}
DTYPES = pytest.mark.parametrize("dtype", ROUNDING, ids=str)
NARROW = pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16], ids=str)


def solids(count, size=4.0):
    return torch.cat([torch.rand(count, 3) * 3 * size, torch.rand(count, 3) * size + size / 4,
                      torch.rand(count, 1) * 7 - 3.5], 1).double()


def rectangles(count, size):
    return torch.cat([torch.rand(count, 2) * 2 * size, torch.rand(count, 2) * size + size / 4,
                      torch.rand(count, 1) * 7 - 3.5], 1)


def upright(count, size):
    low = torch.rand(count, 2) * 2 * size
    return torch.cat([low, low + torch.rand(count, 2) * size + size / 4], 1)


def quads(count, size):
    x1, y1, x2, y2 = upright(count, size).unbind(1)
    return torch.stack([x1, y1, x2, y1, x2, y2, x1, y2], 1)


# ---- boxes_iou3d


@DTYPES
@pytest.mark.parametrize("size", [0.02, 4.0, 100.0])
def test_iou3d_of_a_box_and_itself_is_1_and_none_is_more(dtype, size):
    torch.manual_seed(0)
    boxes = solids(60, size).to(dtype)
    ious = mt.boxes_iou3d(boxes, boxes)
    assert ious.dtype == dtype and torch.equal(ious.diagonal(), torch.ones(60, dtype=dtype))
    assert bool(((ious >= 0) & (ious <= 1)).all())
    wide = boxes.double()
    a, b = wide.repeat_interleave(60, 0)[None], wide.repeat(60, 1)[None]
    wanted = mt.diff_iou_rotated_3d(a, b).reshape(60, 60)
    assert float((ious.double() - wanted).abs().max()) <= ROUNDING[dtype] + 1e-7 * (size < 1)
    nearly = wide * (1 + 1e-15 * torch.randn(60, 7).double())
    assert bool((mt.boxes_iou3d(wide, nearly) <= 1).all())


def test_iou3d_of_odd_boxes():
    boxes = solids(4)
    boxes[0, 3] = float("nan")
    boxes[1, 4] = 0
    boxes[2, 5] = 0
    assert mt.boxes_iou3d(boxes, boxes)[1:3].tolist() == [[0.0] * 4] * 2
    assert mt.boxes_iou3d(boxes[:0], boxes).shape == (0, 4) and mt.boxes_iou3d(boxes, boxes[:0]).shape == (4, 0)


def test_iou3d_has_the_gradient_of_the_exact_volume():
    torch.manual_seed(1)
    a, b = solids(4).requires_grad_(), solids(3).requires_grad_()
    assert bool((mt.boxes_iou3d(a, b) > 0).any())
    assert torch.autograd.gradcheck(mt.boxes_iou3d, (a, b), check_forward_ad=_operator.HAS_LIBRARY_API,
                                    check_batched_grad=_operator.HAS_LIBRARY_API)


@pytest.mark.skipif(not _operator.HAS_LIBRARY_API, reason="torch.library operators need torch 2.4")
def test_iou3d_compiles_whole_with_its_gradient():
    torch.manual_seed(2)
    graph = torch.compile(mt.boxes_iou3d, fullgraph=True, backend="aot_eager")
    found, wanted = [], []
    for call, results in ((graph, found), (mt.boxes_iou3d, wanted)):
        torch.manual_seed(3)
        a, b = solids(5).requires_grad_(), solids(6)
        ious = call(a, b)
        results += [ious, torch.autograd.grad(ious.sum(), a)[0]]
    assert all(torch.allclose(one, other) for one, other in zip(found, wanted))


# ---- 16-bit tensors of large numbers


IOUS = {
    "bbox_overlaps": (mt.bbox_overlaps, upright), "box_iou_rotated": (mt.box_iou_rotated, rectangles),
    "box_iou_quadri": (mt.box_iou_quadri, quads),
    "diff_iou_rotated_2d": (lambda a, b: mt.diff_iou_rotated_2d(a[None], b[None])[0], rectangles),
    "boxes_iou3d": (mt.boxes_iou3d, lambda count, size: solids(count, size)),
}
KEPT = {
    "nms": (lambda b, s: mt.nms(b, s, 0.3)[1], upright),
    "batched_nms": (lambda b, s: mt.batched_nms(b, s, torch.arange(len(b)) % 2, {"iou_threshold": 0.3})[1], upright),
    "soft_nms": (lambda b, s: mt.soft_nms(b, s, 0.3, method="naive", min_score=0.01)[1], upright),
    "nms_rotated": (lambda b, s: mt.nms_rotated(b, s, 0.3)[1], rectangles),
    "nms_quadri": (lambda b, s: mt.nms_quadri(b, s, 0.3)[1], quads),
    "nms3d": (lambda b, s: mt.nms3d(b, s, 0.3), lambda count, size: solids(count, size)),
}


@NARROW
@pytest.mark.parametrize("name", IOUS)
def test_overlaps_of_large_narrow_boxes(name, dtype):
    torch.manual_seed(4)
    function, make = IOUS[name]
    a, b = make(40, 900).to(dtype), make(40, 900).to(dtype)
    wanted = function(a.double(), b.double())
    assert bool((wanted > 0).any())
    assert float((function(a, b).double() - wanted).abs().max()) <= 1.01 * ROUNDING[dtype]
    assert float((function(a, a).double() - function(a.double(), a.double())).abs().max()) <= 1.01 * ROUNDING[dtype]
    leaf = a.clone().requires_grad_()
    gradient = function(leaf, b)
    if gradient.requires_grad:
        assert bool(torch.autograd.grad(gradient.float().sum(), leaf)[0].isfinite().all())


@NARROW
@pytest.mark.parametrize("name", KEPT)
def test_suppression_of_large_narrow_boxes(name, dtype):
    torch.manual_seed(5)
    function, make = KEPT[name]
    boxes, scores = make(60, 900).to(dtype), (torch.randperm(60) / 64).to(dtype)
    assert function(boxes, scores).tolist() == function(boxes.double(), scores.double()).tolist()


@NARROW
def test_three_nn_far_away(dtype):
    torch.manual_seed(6)
    unknown, known = (torch.randn(2, 20, 3) * 3e4).to(dtype), (torch.randn(2, 30, 3) * 3e4).to(dtype)
    counts = torch.tensor([20, 20]), torch.tensor([30, 30])
    wanted, indices = mt.three_nn(unknown.double(), known.double())
    for found, at in (mt.three_nn(unknown, known), mt.three_nn(unknown.flatten(0, 1), known.flatten(0, 1), *counts)):
        assert found.dtype == dtype
        far = wanted.reshape(found.shape)
        assert bool(((found.double() - far).abs() <= ROUNDING[dtype] * far)[far < 60000].all())
        assert torch.equal((at - (at >= 30).int() * 30 * (at.dim() == 2)).reshape(indices.shape), indices)


@NARROW
@pytest.mark.parametrize("loss", [mt.sigmoid_focal_loss, mt.softmax_focal_loss])
def test_the_mean_of_a_large_loss(loss, dtype):
    torch.manual_seed(7)
    logits, target = torch.randn(20000, 20).mul(4).to(dtype), torch.randint(0, 20, (20000,))
    narrow, wide = loss(logits, target), loss(logits.double(), target)
    assert narrow.dtype == dtype and abs(float(narrow) - float(wide)) <= 2 * ROUNDING[dtype] * float(wide)


@NARROW
def test_gradients_that_many_terms_add_up_to(dtype):
    """A pixel under the windows of a whole row, and a weight over many channels."""
    image = torch.ones(1, 1, 5, 5, dtype=dtype, requires_grad=True)
    weight = torch.full((600, 1, 5, 5), 1.0, dtype=dtype)
    mt.masked_conv2d(image, torch.ones(1, 5, 5), weight, torch.zeros(600, dtype=dtype), 2).sum().backward()
    assert float(image.grad[0, 0, 2, 2]) == pytest.approx(600 * 25, rel=ROUNDING[dtype])
    weights = torch.zeros(1, 1, 3, dtype=dtype, requires_grad=True)
    features = torch.full((1, 4000, 1), 0.1, dtype=dtype)
    out = mt.three_interpolate(features, torch.zeros(1, 1, 3, dtype=torch.int32), weights)
    wanted = 4000 * float(features[0, 0, 0])
    assert float(torch.autograd.grad(out.sum(), weights)[0][0, 0, 0]) == pytest.approx(wanted, rel=ROUNDING[dtype])


# ---- tensors that are not in memory as they read


@pytest.mark.parametrize("case", CASES, ids=repr)
def test_negated_tensors_are_read_as_they_are(case):
    plain = case.inputs(torch.float32)
    wanted = case.run(plain)
    odd = [torch._neg_view(-t) if t is not None and t.is_floating_point() else t for t in plain]
    assert torch.equal(case.run(odd), wanted) and torch.equal(case.run(plain), wanted)
    for i in case.leaves:
        if odd[i] is not None:
            of = torch._neg_view((-plain[i]).requires_grad_())
            one = torch.autograd.grad(case.run([of if k == i else t for k, t in enumerate(odd)]).sum(), of)[0]
            leaf = plain[i].clone().requires_grad_()
            other = torch.autograd.grad(case.run([leaf if k == i else t for k, t in enumerate(plain)]).sum(), leaf)[0]
            assert torch.allclose(one, other)


def test_the_imaginary_part_of_a_conjugate():
    values = torch.randn(1, 9, 4, 5, dtype=torch.complex64)
    part = torch.conj(values).imag
    assert part.is_neg() and torch.equal(mt.psa_mask(part, 0, 3), -mt.psa_mask(values.imag.contiguous(), 0, 3))


def test_zeros_without_memory_are_zeros():
    zeros = torch._efficientzerotensor(1, 9, 4, 5)
    assert torch.equal(mt.psa_mask(zeros, 0, 3), torch.zeros(1, 20, 4, 5))
