"""The operators of detectors: non-maximum suppression against plain loops, mmcv's own examples, and the edges of
RoIAlign, RoIPool, deformable attention and the focal losses (their values and gradients are in CASES)."""

import pytest

torch = pytest.importorskip("torch")

import mluops  # noqa: E402
import mluops.torch as mt  # noqa: E402
from cases import CASES  # noqa: E402
from mluops.torch import _operator  # noqa: E402


def random_boxes(count, seed=0, dtype=torch.float32):
    generator = torch.Generator().manual_seed(seed)
    corner = torch.rand(count, 2, generator=generator) * 20
    boxes = torch.cat([corner, corner + 2 + torch.rand(count, 2, generator=generator) * 10], 1)
    return boxes.to(dtype), torch.rand(count, generator=generator).to(dtype)


def iou(a, b, offset):
    w = min(a[2], b[2]) - max(a[0], b[0]) + offset
    h = min(a[3], b[3]) - max(a[1], b[1]) + offset
    inter = max(w, 0) * max(h, 0)
    area = [(c[2] - c[0] + offset) * (c[3] - c[1] + offset) for c in (a, b)]
    return inter / (area[0] + area[1] - inter)


def plain_nms(boxes, scores, threshold, offset=0, at_least=False):
    """Groups: each kept box with those it suppresses (at_least: IoU >= threshold)."""
    boxes, order = boxes.double().tolist(), sorted(range(len(scores)), key=lambda i: (-scores[i].item(), i))
    groups, gone = [], set()
    for i in order:
        if i in gone:
            continue
        group = [i]
        for j in order[order.index(i) + 1:]:
            overlap = iou(boxes[i], boxes[j], offset)
            if j not in gone and (overlap >= threshold if at_least else overlap > threshold):
                gone.add(j)
                group.append(j)
        groups.append(group)
    return groups


@pytest.mark.parametrize("offset", [0, 1])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
def test_nms(dtype, offset):
    boxes, scores = random_boxes(60, 1, dtype)
    dets, indices = mt.nms(boxes, scores, 0.3, offset)
    wanted = [group[0] for group in plain_nms(boxes, scores, 0.3, offset)]
    assert indices.dtype == torch.int64 and indices.tolist() == wanted and 1 < len(wanted) < 60
    assert torch.equal(dets, torch.cat([boxes[wanted], scores[wanted, None]], 1))


def test_nms_thresholds_and_counts():
    boxes, scores = random_boxes(60, 2)
    _, all_of_them = mt.nms(boxes, scores, 0.3)
    assert torch.equal(mt.nms(boxes, scores, 0.3, max_num=5)[1], all_of_them[:5])
    assert torch.equal(mt.nms(boxes, scores, 0.3, max_num=1000)[1], all_of_them)
    chosen = (scores > 0.5).nonzero()[:, 0]
    wanted = chosen[mt.nms(boxes[chosen], scores[chosen], 0.3)[1]]
    assert torch.equal(mt.nms(boxes, scores, 0.3, score_threshold=0.5)[1], wanted)
    assert torch.equal(mt.nms(boxes, scores - 2, 0.3)[1], all_of_them)  # scores below 0 are looked at


def test_nms_of_the_documentation_of_mmcv():
    boxes = torch.tensor([[49.1, 32.4, 51.0, 35.9], [49.3, 32.9, 51.0, 35.3], [49.2, 31.8, 51.0, 35.4],
                          [35.1, 11.5, 39.1, 15.7], [35.6, 11.8, 39.3, 14.2], [35.3, 11.5, 39.9, 14.5],
                          [35.2, 11.7, 39.7, 15.7]])
    dets, indices = mt.nms(boxes, torch.tensor([0.9, 0.9, 0.5, 0.5, 0.5, 0.4, 0.3]), 0.6)
    assert len(dets) == len(indices) == 3
    boxes = torch.tensor([[4., 3, 5, 3], [4, 3, 5, 4], [3, 1, 3, 1], [3, 1, 3, 1], [3, 1, 3, 1], [3, 1, 3, 1]])
    dets, indices = mt.soft_nms(boxes, torch.tensor([0.9, 0.9, 0.5, 0.5, 0.4, 0.0]), 0.6, sigma=0.5)
    assert len(dets) == len(indices) == 5


def test_nms_is_differentiable_in_what_it_keeps():
    boxes, scores = random_boxes(20, 3)
    boxes.requires_grad_()
    dets, indices = mt.nms(boxes, scores, 0.3)
    dets.sum().backward()
    assert boxes.grad.sum() == 4 * len(indices)


def plain_soft_nms(boxes, scores, threshold, sigma, least, method):
    boxes, scores, left = boxes.tolist(), scores.tolist(), list(range(len(scores)))
    taken, final = [], []
    while left:
        i = max(left, key=lambda k: scores[k])
        left.remove(i)
        taken.append(i)
        final.append(scores[i])
        for j in left:
            overlap = iou(boxes[i], boxes[j], 0)
            if method == "gaussian":
                scores[j] *= torch.tensor(-overlap * overlap / sigma, dtype=torch.float64).exp().item()
            elif overlap >= threshold:
                scores[j] *= 0 if method == "naive" else 1 - overlap
        left = [j for j in left if scores[j] >= least]
    return taken, final


@pytest.mark.parametrize("method", ["naive", "linear", "gaussian"])
def test_soft_nms(method):
    boxes, scores = random_boxes(40, 4, torch.float64)
    dets, indices = mt.soft_nms(boxes, scores, 0.3, 0.5, 0.05, method)
    taken, final = plain_soft_nms(boxes, scores, 0.3, 0.5, 0.05, method)
    assert indices.tolist() == taken and 1 < len(taken) <= 40
    assert torch.equal(dets[:, :4], boxes[taken])
    assert torch.allclose(dets[:, 4], torch.tensor(final, dtype=torch.float64), atol=1e-6)


def test_nms_match():
    boxes, scores = random_boxes(40, 5)
    groups = mt.nms_match(torch.cat([boxes, scores[:, None]], 1), 0.3)
    assert [group.tolist() for group in groups] == plain_nms(boxes, scores, 0.3, at_least=True)
    assert mt.nms_match(torch.zeros(0, 5), 0.3) == []


def test_no_boxes():
    dets, indices = mt.nms(torch.zeros(0, 4), torch.zeros(0), 0.5)
    assert dets.shape == (0, 5) and indices.shape == (0,) and indices.dtype == torch.int64
    dets, indices = mt.soft_nms(torch.zeros(0, 4), torch.zeros(0))
    assert dets.shape == (0, 5) and indices.shape == (0,)


def test_wrong_arguments():
    boxes, scores = random_boxes(4)
    for call, text in ((lambda: mt.nms(boxes[:, :3], scores, 0.5), "boxes: wanted dimension 1 to be 4"),
                       (lambda: mt.nms(boxes, scores[:3], 0.5), r"scores: wanted dimension 0 to be 4 "),
                       (lambda: mt.nms(boxes, scores, 0.5, 2), "offset: wanted 0 or 1, got 2"),
                       (lambda: mt.soft_nms(boxes, scores, method="hard"), r'method: wanted "naive" \(0\), "linear" \(1\) or "gaussian"'),
                       (lambda: mt.nms_match(boxes, 0.5), "dets: wanted dimension 1 to be 5"),
                       (lambda: mt.roi_align(torch.ones(1, 2, 4, 4), torch.zeros(1, 4), 2), "rois: wanted dimension 1"),
                       (lambda: mt.roi_align(torch.ones(1, 2, 4, 4), torch.ones(1, 5), 2), "rois: "),
                       (lambda: mt.roi_align(torch.ones(1, 2, 4, 4), torch.zeros(1, 5), 2, pool_mode="min"),
                        "pool_mode: wanted"),
                       (lambda: mt.sigmoid_focal_loss(boxes, torch.tensor([0, 1, 5, 0])), "target: wanted a class or"),
                       (lambda: mt.sigmoid_focal_loss(boxes, torch.tensor([0, 1, 4, 0]), weight=torch.ones(4)),
                        "target: wanted a class with a weight"),
                       (lambda: mt.sigmoid_focal_loss(boxes, torch.zeros(3, dtype=torch.int64)),
                        "target: wanted dimension 0 to be 4"),
                       (lambda: mt.sigmoid_focal_loss(boxes, torch.zeros(4, dtype=torch.int64), -1), "gamma: wanted"),
                       (lambda: mt.sigmoid_focal_loss(boxes, torch.zeros(4, dtype=torch.int64), reduction="max"),
                        "reduction: wanted"),
                       (lambda: mt.softmax_focal_loss(boxes, torch.tensor([0, 1, 4, 0])), "target: wanted a class or"),
                       (lambda: mt.softmax_focal_loss(boxes, torch.zeros(4, dtype=torch.int64), weight=torch.ones(3)),
                        "weight: wanted dimension 0 to be 4")):
        with pytest.raises(mluops.BadParamError, match=text):
            call()


@pytest.mark.skipif(not _operator.HAS_LIBRARY_API, reason="this torch has no torch.library operators")
def test_opcheck():
    boxes, scores = random_boxes(12)
    torch.library.opcheck(torch.ops.mluops.nms.default, (boxes, scores, 0.5, 0, 0.0, -1),
                          test_utils=("test_schema", "test_autograd_registration", "test_faketensor"))


def test_roi_align_s_edges():
    x = torch.rand(2, 3, 8, 8, requires_grad=True)
    none = mt.roi_align(x, torch.zeros(0, 5), 2)
    assert none.shape == (0, 3, 2, 2)
    none.sum().backward()
    assert torch.equal(x.grad, torch.zeros_like(x))
    outside = mt.roi_align(x, torch.tensor([[0, 100.0, 100, 110, 110]]), 2)
    assert not outside.any()
    module = mt.RoIAlign((2, 3), 0.5, 2)
    assert module(x, torch.tensor([[1, 0.0, 0, 8, 8]])).shape == (1, 3, 2, 3) and "aligned=True" in repr(module)


def test_roi_align_of_the_tests_of_mmcv():
    """The inputs and outputs of mmcv's own test of this operator."""
    cases = [([[[[1.0, 2], [3, 4]]]], [[0, 0, 0, 1, 1.0]], [[[[1.0, 1.25], [1.5, 1.75]]]]),
             ([[[[1.0, 2], [3, 4]], [[4, 3], [2, 1]]]], [[0, 0, 0, 1, 1.0]],
              [[[[1.0, 1.25], [1.5, 1.75]], [[4, 3.75], [3.5, 3.25]]]])]
    for given, rois, wanted in cases:
        got = mt.roi_align(torch.tensor(given), torch.tensor(rois), 2, 1.0, 2, "avg", True)
        assert torch.allclose(got, torch.tensor(wanted))


@pytest.mark.parametrize("function", [mt.sigmoid_focal_loss, mt.softmax_focal_loss])
def test_focal_losses_reduce(function):
    x, target = torch.randn(6, 4, requires_grad=True), torch.tensor([0, 3, 1, 2, 2, 0])
    each = function(x, target, 1.5, 0.4, reduction="none")
    assert torch.allclose(function(x, target, 1.5, 0.4, reduction="sum"), each.sum())
    mean = function(x, target, 1.5, 0.4)
    assert torch.allclose(mean, each.sum() / 6)
    mean.backward()
    assert torch.equal(x.grad, torch.autograd.grad(function(x, target.int(), 1.5, 0.4), x)[0])
    weighted = function(x, target, 1.5, 0.4, torch.full((4,), 2.0), "none")
    assert torch.allclose(weighted, 2 * each)
    assert torch.equal(function(x, target, 1.5, 0.4, torch.empty(0), "none"), each)  # mmcv's word for no weight
    assert function(x[:0], target[:0], reduction="sum") == 0


def test_roi_pool_of_the_tests_of_mmcv():
    """The inputs and outputs of mmcv's own test of this operator."""
    x = torch.tensor([[[[1.0, 2, 5, 6], [3, 4, 7, 8], [9, 10, 13, 14], [11, 12, 15, 16]]]], requires_grad=True)
    got = mt.roi_pool(x, torch.tensor([[0, 0, 0, 3, 3.0]]), 2)
    assert torch.equal(got, torch.tensor([[[[4.0, 8], [12, 16]]]]))
    got.sum().backward()
    assert x.grad.nonzero()[:, 2:].tolist() == [[1, 1], [1, 3], [3, 1], [3, 3]] and x.grad.sum() == 4


def test_roi_pool_s_edges():
    x = torch.rand(2, 3, 8, 8, requires_grad=True)
    none = mt.roi_pool(x, torch.zeros(0, 5), 2)
    assert none.shape == (0, 3, 2, 2)
    none.sum().backward()
    assert torch.equal(x.grad, torch.zeros_like(x))
    # Off the map, and of no width: nothing is pooled, and nothing gets a gradient.
    outside = mt.roi_pool(x, torch.tensor([[0, 100.0, 100, 110, 110], [1, 5, 5, 4, 9]]), 2)
    assert not outside.any()
    outside.sum().backward()
    assert not x.grad.any()
    module = mt.RoIPool((2, 3), 0.5)
    assert module(x, torch.tensor([[1, 0.0, 0, 8, 8]])).shape == (1, 3, 2, 3) and "spatial_scale=0.5" in repr(module)


def test_deformable_attention_s_levels():
    value, at, weights = torch.rand(1, 6, 1, 2), torch.rand(1, 1, 1, 2, 1, 2), torch.ones(1, 1, 1, 2, 1)
    shapes = torch.tensor([[2, 2], [1, 2]])
    for starts in (torch.tensor([0, 4]), torch.tensor([0, 4], dtype=torch.int32)):
        assert mt.multi_scale_deformable_attn(value, shapes, starts, at, weights).shape == (1, 1, 2)
    with pytest.raises(mluops.BadParamError, match="value_spatial_shapes: wanted maps among the 6 pixels"):
        mt.multi_scale_deformable_attn(value, shapes, torch.tensor([0, 5]), at, weights)
    with pytest.raises(mluops.BadParamError, match="sampling_locations: wanted dimension 3 to be 2"):
        mt.multi_scale_deformable_attn(value, shapes, starts, at[:, :, :, :1], weights)


def test_large_logits_lose_nothing():
    """mmcv's formula in float has 1 - p = 0 for a logit of 20."""
    losses = mt.sigmoid_focal_loss(torch.tensor([[20.0, -20.0]]), torch.tensor([1]), reduction="none")
    assert torch.allclose(losses, torch.tensor([[15.0, 5.0]]))


@pytest.mark.parametrize("aligned", [True, False])
def test_the_greatest_sample(aligned):
    case = next(c for c in CASES if c.name == "roi_align")
    x, rois = case.inputs(torch.float64, requires_grad=True)
    mean = mt.roi_align(x, rois, 3, 1.0, 1, "avg", aligned)
    greatest = mt.roi_align(x, rois, 3, 1.0, 1, "max", aligned)  # of one sample both are that sample
    assert torch.allclose(mean, greatest)
    for mode in ("avg", "max"):
        assert torch.autograd.gradcheck(lambda v: mt.roi_align(v, rois, (2, 3), 1.0, 2, mode, aligned), [x], atol=1e-6,
                                        nondet_tol=1e-12)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
@pytest.mark.parametrize("gamma", [0.0, 2.0])
def test_focal_losses_of_extreme_logits_in_16_bits(dtype, gamma):
    """A probability of 2e-9 is none of half's numbers, its logarithm is."""
    logits = torch.tensor([[20.0, 0, 0], [-20, 20, 0], [60, -60, 0], [0, 0, 0], [300, -300, 0]], dtype=dtype)
    target = torch.tensor([1, 0, 1, 2, 2])
    weight = torch.tensor([0.5, 4.0, 100.0], dtype=dtype)
    for loss in mt.softmax_focal_loss, mt.sigmoid_focal_loss:
        narrow, wide = logits.clone().requires_grad_(), logits.double().requires_grad_()
        got = loss(narrow, target, gamma, 0.25, weight, "none")
        want = loss(wide, target, gamma, 0.25, weight.double(), "none")
        assert got.dtype == dtype
        near = dict(rtol=2 * torch.finfo(dtype).eps, atol=1e-6)
        torch.testing.assert_close(got.double(), want, **near)
        got.sum().backward()
        want.sum().backward()
        torch.testing.assert_close(narrow.grad.double(), wide.grad, **near)


def test_thresholds_of_double_boxes_are_doubles():
    """IoU is 0.7 as a double, and so is the threshold: nothing is greater. As a float, 0.7 is less."""
    boxes, scores = torch.tensor([[0.0, 0, 10, 10], [0, 0, 10, 7]]), torch.tensor([0.9, 0.8])
    assert mt.nms(boxes.double(), scores.double(), 0.7)[1].tolist() == [0, 1]
    assert mt.nms(boxes.double(), scores.double(), 0.7 - 1e-12)[1].tolist() == [0]
    assert mt.nms(boxes.double(), scores.double(), 0.5, score_threshold=0.8 + 1e-9)[1].tolist() == [0]
    assert mt.nms(boxes, scores, 0.71)[1].tolist() == [0, 1]


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.float16, torch.bfloat16], ids=str)
@pytest.mark.parametrize("config", [{"iou_threshold": 0.4}, {"type": "soft_nms", "iou_threshold": 0.3, "min_score": 0.05},
                                    {"type": "nms_rotated", "iou_threshold": 0.3}], ids=str)
def test_batched_nms(config, dtype):
    """Each group by itself; groups and coordinates may be negative."""
    torch.manual_seed(4)
    corners = torch.rand(90, 2) * 6 - 8
    boxes = torch.cat([corners, corners + torch.rand(90, 2) * 4 + 0.5], 1).to(dtype)
    if config.get("type") == "nms_rotated":
        boxes = torch.cat([corners, torch.rand(90, 3) * 3 + 0.5], 1).to(dtype)
    scores, groups = torch.rand(90).to(dtype), torch.arange(90) % 3 * 7 - 5
    dets, indices = mt.batched_nms(boxes, scores, groups, {**config, "split_thr": 5})
    one = {"nms": mt.nms, "soft_nms": mt.soft_nms, "nms_rotated": mt.nms_rotated}[config.get("type", "nms")]
    arguments = {name: value for name, value in config.items() if name != "type"}
    each = {int(i): score for g in groups.unique() for at in [(groups == g).nonzero()[:, 0]]
            for found, kept in [one(boxes[at], scores[at], **arguments)] for i, score in zip(at[kept], found[:, -1])}
    assert 3 < len(each) and sorted(indices.tolist()) == sorted(each)
    assert torch.equal(dets[:, :-1].to(dtype), boxes[indices]) and (dets[:-1, -1] >= dets[1:, -1]).all()
    limit = 1e-6 if dtype in (torch.float32, torch.float64) else 0.02
    assert all(abs(float(score) - float(each[int(i)])) <= limit for i, score in zip(indices, dets[:, -1]))
    agnostic = mt.batched_nms(boxes, scores, groups, config, class_agnostic=True)
    assert all(torch.equal(a, b) for a, b in zip(agnostic, one(boxes, scores, **arguments)))
    assert mt.batched_nms(boxes, scores, groups, None)[1].tolist() == scores.sort(stable=True, descending=True)[1].tolist()
    assert mt.batched_nms(boxes[:0], scores[:0], groups[:0], config)[1].shape == (0,)
    with pytest.raises(mluops.BadParamError, match="nms_cfg: type: wanted nms, soft_nms or nms_rotated, got 'nms_match'"):
        mt.batched_nms(boxes, scores, groups, {"type": "nms_match"})
