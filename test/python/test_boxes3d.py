"""iou3d, roiaware_pool3d, chamfer_distance and assign_score_withk, against plain loops and compositions in double."""

import math

import pytest

torch = pytest.importorskip("torch")

import mluops  # noqa: E402
import mluops.torch as mt  # noqa: E402
from mluops.torch import _operator  # noqa: E402

DTYPES = [torch.float32, torch.float64, torch.float16, torch.bfloat16]
every_dtype = pytest.mark.parametrize("dtype", DTYPES, ids=str)
LIMIT = {torch.float64: 1e-10, torch.float32: 2e-5, torch.float16: 1e-2, torch.bfloat16: 8e-2}

BOXES_A = [[1.0, 1.0, 1.0, 2.0, 2.0, 2.0, 0.0], [2.0, 2.0, 2.0, 2.0, 2.0, 2.0, 0.0], [3.0, 3.0, 3.0, 3.0, 2.0, 2.0, 0.0]]
BOXES_B = [[1.0, 1.0, 1.0, 2.0, 2.0, 2.0, angle] for angle in (0.0, math.pi / 2, math.pi / 4)]


def test_overlap_and_iou_of_mmcv_s_tests():
    a, b = torch.tensor(BOXES_A), torch.tensor(BOXES_B)
    area = torch.tensor([[4.0, 4.0, 8 * (math.sqrt(2) - 1)], [1.0, 1.0, 1.0], [0.0, 0.0, 0.0]])
    assert torch.allclose(mt.boxes_overlap_bev(a, b), area, atol=1e-4)
    assert torch.allclose(mt.boxes_overlap_bev(a, b.repeat(500, 1)), area.repeat(1, 500), atol=1e-4)
    iou = torch.tensor([[1.0, 1.0, 1 / math.sqrt(2)], [1 / 15, 1 / 15, 1 / 15], [0.0, 0.0, 0.0]])
    assert torch.allclose(mt.boxes_iou3d(a, b), iou, atol=1e-4)


def straight_overlap(a, b):
    """[N, M] of boxes whose sides are parallel to the axes."""
    low = torch.max((a[:, :2] - a[:, 3:5] / 2)[:, None], (b[:, :2] - b[:, 3:5] / 2)[None])
    high = torch.min((a[:, :2] + a[:, 3:5] / 2)[:, None], (b[:, :2] + b[:, 3:5] / 2)[None])
    return (high - low).clamp(min=0).prod(2)


def straight_boxes(count, seed, dtype):
    """Sides differ by more than the margin within which corners count twice."""
    generator = torch.Generator().manual_seed(seed)
    boxes = torch.rand(count, 7, generator=generator).add(0.5)
    boxes[:, 6] = 0
    return boxes.to(dtype)


@every_dtype
def test_overlap_of_straight_boxes(dtype):
    a, b = straight_boxes(20, 1, dtype), straight_boxes(30, 2, dtype)
    found = mt.boxes_overlap_bev(a, b)
    assert found.dtype == dtype and found.shape == (20, 30)
    assert (found.double() - straight_overlap(a.double(), b.double())).abs().max() < 0.03  # of the margin


def greedy(boxes, scores, threshold):
    order = scores.double().argsort(descending=True, stable=True).tolist()
    boxes = boxes.double()
    shared = straight_overlap(boxes, boxes)
    areas = boxes[:, 3] * boxes[:, 4]
    kept = []
    for i in order:
        if all(shared[i, j] / (areas[i] + areas[j] - shared[i, j]) <= threshold for j in kept):
            kept.append(i)
    return kept


@every_dtype
@pytest.mark.parametrize("threshold", [0.2, 0.55])
def test_nms3d_normal(dtype, threshold):
    boxes = straight_boxes(150, 3, dtype)
    scores = torch.randperm(150, generator=torch.Generator().manual_seed(4)).float()
    kept = mt.nms3d_normal(boxes, scores, threshold)
    assert kept.dtype == torch.int64 and kept.tolist() == greedy(boxes, scores, threshold)
    boxes[:, 6] = 1.25  # nms3d_normal does not look at it
    assert mt.nms3d_normal(boxes, scores, threshold).tolist() == kept.tolist()


def test_nms3d():
    boxes = torch.tensor([[0.0, 0, 0, 2, 2, 1, 0], [1, 0, 0, 2, 2, 1, 0], [9, 9, 9, 1, 1, 1, 0],
                          [0, 0, 0, 2, 2, 1, math.pi / 4]])
    scores = torch.tensor([0.9, 0.8, 0.7, 0.6])
    assert mt.nms3d(boxes, scores, 0.33).tolist() == [0, 2]
    assert mt.nms3d(boxes, scores, 0.99).tolist() == [0, 1, 2, 3]
    assert mt.nms3d(boxes, -scores, 0.99).tolist() == [3, 2, 1, 0]
    assert mt.nms3d_normal(boxes, scores, 0.99).tolist() == [0, 1, 2]
    assert mt.nms3d(torch.rand(0, 7), torch.rand(0), 0.5).tolist() == []
    with pytest.raises(mluops.BadParamError, match="iou_threshold: wanted a number, got nan"):
        mt.nms3d(boxes, scores, float("nan"))
    with pytest.raises(mluops.BadParamError, match="boxes: wanted dimension 1 to be 7"):
        mt.nms3d(boxes[:, :5], scores, 0.5)
    with pytest.raises(mluops.BadParamError, match="scores: wanted dimension 0 to be 4"):
        mt.nms3d(boxes, scores[:3], 0.5)


def planes(batch, count, seed, dtype):
    generator = torch.Generator().manual_seed(seed)
    return torch.rand(batch, count, 2, generator=generator).to(dtype)


@every_dtype
@pytest.mark.parametrize("n, m", [(17, 9), (300, 400)])
def test_chamfer_distance(dtype, n, m):
    one, two = planes(2, n, 5, dtype).requires_grad_(), planes(2, m, 6, dtype).requires_grad_()
    wide = [x.detach().double().requires_grad_() for x in (one, two)]
    table = (wide[0][:, :, None] - wide[1][:, None]).square().sum(3)
    found = mt.chamfer_distance(one, two)
    wanted = table.min(2).values, table.min(1).values
    for ours, theirs in zip(found, wanted):
        assert ours.dtype == dtype and (ours.double() - theirs).abs().max() < LIMIT[dtype]
    index1, index2 = found[2].long(), found[3].long()
    assert (table.gather(2, index1[..., None])[..., 0] - wanted[0]).abs().max() < LIMIT[dtype]
    grads = [torch.rand(x.shape, generator=torch.Generator().manual_seed(7)).to(dtype) for x in found[:2]]
    torch.autograd.backward(found[:2], grads)
    chosen = table.gather(2, index1[..., None])[..., 0], table.gather(1, index2[:, None])[:, 0]
    torch.autograd.backward(chosen, [g.double() for g in grads])
    for ours, theirs in zip((one, two), wide):
        assert (ours.grad.double() - theirs.grad).abs().max() < 4 * LIMIT[dtype]


def test_chamfer_distance_s_edges():
    one, two = torch.tensor([[[0.0, 0], [3, 0]]]), torch.tensor([[[1.0, 0], [5, 0], [1, 0]]])
    dist1, dist2, idx1, idx2 = mt.chamfer_distance(one, two)
    assert dist1.tolist() == [[1, 4]] and idx1.tolist() == [[0, 0]]
    assert dist2.tolist() == [[1, 4, 1]] and idx2.tolist() == [[0, 1, 0]]
    dist1, dist2, idx1, _ = mt.chamfer_distance(one, torch.rand(1, 0, 2))
    assert dist1.tolist() == [[1e10, 1e10]] and idx1.tolist() == [[0, 0]] and dist2.shape == (1, 0)
    with pytest.raises(mluops.BadParamError, match="xyz2: wanted dimension 2 to be 2"):
        mt.chamfer_distance(one, torch.rand(1, 4, 3))


def assemble(scores, points, centers, index):
    """The output in torch; indices outside give zeros."""
    b, n = points.shape[:2]
    inside = (index >= 0) & (index < n) & (index[:, :, :1] >= 0) & (index[:, :, :1] < n)
    rows = torch.arange(b)[:, None, None]
    safe = index.clamp(0, n - 1).long()
    shift = points[rows, safe] - centers[rows, safe[:, :, :1].expand_as(safe)]  # [B, P, K, M, O]
    return ((scores * inside[..., None])[..., None] * shift).sum(3).permute(0, 3, 1, 2)


def assignment(dtype, low=-1):
    generator = torch.Generator().manual_seed(8)
    features = [torch.rand(2, 9, 3, 5, generator=generator).to(dtype) for _ in range(2)]
    scores = torch.rand(2, 4, 6, 3, generator=generator).to(dtype)
    index = torch.randint(low, 9 - low, (2, 4, 6), generator=generator)
    return [x.requires_grad_() for x in (scores, *features)] + [index]


@every_dtype
def test_assign_score_withk(dtype):
    inputs = assignment(dtype)
    wide = [x.detach().double().requires_grad_() for x in inputs[:3]]
    output, wanted = mt.assign_score_withk(*inputs), assemble(*wide, inputs[3])
    assert output.dtype == dtype and output.shape == (2, 5, 4, 6)
    assert (output.double() - wanted).abs().max() < LIMIT[dtype] and (output == 0).any()
    grad = torch.rand(output.shape, generator=torch.Generator().manual_seed(9)).to(dtype)
    output.backward(grad)
    wanted.backward(grad.double())
    for ours, theirs in zip(inputs, wide):
        assert (ours.grad.double() - theirs.grad).abs().max() < 8 * LIMIT[dtype]


def test_assign_score_withk_s_edges():
    scores, points, centers, index = assignment(torch.float32)
    assert torch.equal(mt.assign_score_withk(scores, points, centers, index.int(), "max"),
                       mt.assign_score_withk(scores, points, centers, index))
    with pytest.raises(mluops.BadParamError, match="aggregate: wanted sum, avg or max"):
        mt.assign_score_withk(scores, points, centers, index, "min")
    with pytest.raises(mluops.BadParamError, match="scores: wanted dimension 3 to be 3"):
        mt.assign_score_withk(scores[..., :2], points, centers, index)


def pooled(rois, pts, features, size, most, mode):
    """mmcv's rule, box by box and point by point, in double; differentiable."""
    output = torch.zeros(len(rois), *size, features.shape[1], dtype=torch.float64)
    for n, roi in enumerate(rois.double()):
        voxels = {}
        for p, point in enumerate(pts.double()):
            shift, angle = point - roi[:3], -roi[6]
            x = shift[0] * angle.cos() - shift[1] * angle.sin()
            y = shift[0] * angle.sin() + shift[1] * angle.cos()
            if abs(x) < roi[3] / 2 and abs(y) < roi[4] / 2 and abs(shift[2] - roi[5] / 2) <= roi[5] / 2:
                along = zip((x + roi[3] / 2, y + roi[4] / 2, shift[2]), roi[3:6], size)
                voxels.setdefault(tuple(min(int(at / (side / k)), k - 1) for at, side, k in along), []).append(p)
        for voxel, points in voxels.items():
            rows = features[points[:most - 1]]
            output[(n, *voxel)] = rows.max(0).values if mode == "max" else rows.mean(0)
    return output


@every_dtype
@pytest.mark.parametrize("mode", ["max", "avg"])
def test_roiaware_pool3d(dtype, mode):
    generator = torch.Generator().manual_seed(10)
    rois = torch.rand(4, 7, generator=generator).add(0.5).to(dtype)
    pts = torch.rand(80, 3, generator=generator).mul(2).to(dtype)
    features = torch.randperm(240, generator=generator).reshape(80, 3).to(dtype).requires_grad_()
    wide = features.detach().double().requires_grad_()
    wanted = pooled(rois, pts, wide, (2, 3, 2), 4, mode)
    output = mt.RoIAwarePool3d((2, 3, 2), 4, mode)(rois, pts, features)
    assert output.dtype == dtype and output.shape == (4, 2, 3, 2, 3) and wanted.any() and (output == 0).any()
    assert (output.double() - wanted).abs().max() < 240 * LIMIT[dtype]
    grad = torch.rand(output.shape, generator=generator).to(dtype)
    output.backward(grad)
    wanted.backward(grad.double())
    assert (features.grad.double() - wide.grad).abs().max() < 8 * LIMIT[dtype]


def test_roiaware_pool3d_s_edges():
    rois, pts, features = torch.rand(2, 7), torch.rand(5, 3), torch.rand(5, 4)
    assert mt.roiaware_pool3d(rois, torch.rand(0, 3), torch.rand(0, 4), 2).tolist() == torch.zeros(2, 2, 2, 2, 4).tolist()
    assert mt.roiaware_pool3d(torch.rand(0, 7), pts, features, 2).shape == (0, 2, 2, 2, 4)
    with pytest.raises(mluops.BadParamError, match="out_size: wanted one number or three"):
        mt.roiaware_pool3d(rois, pts, features, (2, 2))
    with pytest.raises(mluops.BadParamError, match="mode: wanted .max. .0. or .avg. .1., got 'sum'"):
        mt.roiaware_pool3d(rois, pts, features, 2, mode="sum")
    with pytest.raises(mluops.BadParamError, match="out_x: wanted .*256"):
        mt.roiaware_pool3d(rois, pts, features, (300, 1, 1))


def test_gradcheck():
    inputs = assignment(torch.float64)
    assert torch.autograd.gradcheck(lambda *x: mt.assign_score_withk(*x, inputs[3]), inputs[:3])
    sets = [planes(1, 5, seed, torch.float64).requires_grad_() for seed in (1, 2)]
    assert torch.autograd.gradcheck(lambda *x: mt.chamfer_distance(*x)[:2], sets)


def calls():
    boxes = torch.tensor(BOXES_A + BOXES_B)
    rotated, rois = boxes[:, 2:], torch.tensor([[0.0, 2, 2, 3, 2, 0.5]])
    return [("boxes_overlap_bev", (boxes, boxes)), ("nms3d", (boxes, 0.5, True)),
            ("bbox_overlaps", (boxes[:, :4], boxes[:, :4], 0, False, 1)),
            ("box_iou_rotated", (rotated, rotated, 1, True)), ("nms_rotated", (rotated, torch.rand(len(boxes)), 0.5)),
            ("roi_align_rotated", (torch.rand(1, 2, 4, 5).requires_grad_(), rois, 2, 3, 2, 0.5, True, False)),
            ("roi_align_rotated_backward", (torch.rand(1, 2, 2, 3), rois, 1, 4, 5, 2, 0.5, True, False)),
            ("chamfer_distance", (planes(2, 9, 1, torch.float32).requires_grad_(), planes(2, 7, 2, torch.float32))),
            ("roiaware_pool3d", (torch.rand(2, 7), torch.rand(9, 3), torch.rand(9, 2).requires_grad_(), 2, 1, 3, 4, 1)),
            ("assign_score_withk", (*assignment(torch.float32)[:3], assignment(torch.float32)[3].int()))]


@pytest.mark.skipif(not _operator.HAS_LIBRARY_API, reason="this torch has no torch.library operators")
@pytest.mark.parametrize("name, arguments", calls(), ids=[name for name, _ in calls()])
def test_opcheck(name, arguments):
    torch.library.opcheck(getattr(torch.ops.mluops, name).default, arguments)


def test_forward_mode():
    """Tangents are the products of the gradients with the directions."""
    from torch.autograd import forward_ad
    generator = torch.Generator().manual_seed(8)

    def random(*shape):
        return torch.rand(shape, generator=generator, dtype=torch.float64).requires_grad_()

    indices = torch.randint(-1, 5, (2, 3, 2), generator=generator)
    cases = [(lambda *t: (mt.assign_score_withk(*t, indices),), [random(2, 3, 2, 4), random(2, 5, 4, 3), random(2, 5, 4, 3)])]
    if _operator.HAS_LIBRARY_API:  # without it, forward mode wants tangents of indices
        cases.append((lambda *t: mt.chamfer_distance(*t)[:2], [random(2, 5, 2), random(2, 4, 2)]))
    for function, tensors in cases:
        for moved in ([True] * len(tensors), *([i == j for j in range(len(tensors))] for i in range(len(tensors)))):
            along = [torch.rand_like(t) if m else None for t, m in zip(tensors, moved)]
            with forward_ad.dual_level():
                duals = [t if d is None else forward_ad.make_dual(t, d) for t, d in zip(tensors, along)]
                tangents = [forward_ad.unpack_dual(output).tangent for output in function(*duals)]
            outputs = function(*tensors)
            weights = [torch.rand_like(output) for output in outputs]
            gradients = torch.autograd.grad(sum((o * w).sum() for o, w in zip(outputs, weights)), tensors)
            wanted = sum((g * d).sum() for g, d in zip(gradients, along) if d is not None)
            assert torch.allclose(sum((t * w).sum() for t, w in zip(tangents, weights)), wanted)


def test_those_without_forward_mode_say_so():
    """docs/python.md lists them."""
    from torch.autograd import forward_ad
    places = torch.zeros(1, 3, dtype=torch.int32)
    pair, one = torch.zeros(1, 2, 1, dtype=torch.int32), torch.ones(1, dtype=torch.int32)
    calls = [lambda x: mt.dynamic_scatter(x, places), lambda x: mt.indice_maxpool(x, pair, one, 1),
             lambda x: mt.RoIAwarePool3d(1, 1)(torch.ones(1, 7), torch.ones(1, 3), x)]
    if not _operator.HAS_LIBRARY_API:
        calls.append(lambda x: mt.chamfer_distance(x[None], x[None]))
    for call in calls:
        with forward_ad.dual_level():
            with pytest.raises(RuntimeError, match="no forward-mode derivative"):
                call(forward_ad.make_dual(torch.ones(1, 2), torch.ones(1, 2)))
