"""Suppression: groups of boxes, equal scores and numbers that are not finite, against plain loops in float64."""

import math

import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed")

import mluops  # noqa: E402
import mluops.torch as mt  # noqa: E402
from mluops.dropin.module import torchvision as vision  # noqa: E402
from mluops.torch import _operator  # noqa: E402
from mluops.torch.op.box_iou_quadri import kept_quads  # noqa: E402

needs_graphs = pytest.mark.skipif(not _operator.HAS_LIBRARY_API, reason="torch.library operators need torch 2.4")


def upright(count, scale=60.0, size=20.0, step=None):
    corners = torch.rand(count, 2) * scale
    boxes = torch.cat([corners, corners + torch.rand(count, 2) * size], 1)
    return boxes if step is None else (boxes / step).round() * step


def rotated(count):
    return torch.cat([torch.rand(count, 2) * 60, torch.rand(count, 2) * 20 + 1, torch.rand(count, 1) * 6 - 3], 1)


def quads(count):
    x1, y1, x2, y2 = upright(count).unbind(1)
    lean = torch.rand(count) * 3
    return torch.stack([x1, y1, x2 + 1, y1 + lean, x2 + 1 - lean, y2 + 4, x1, y2 + 4], 1)


def solids(count):
    return torch.cat([torch.rand(count, 2) * 30, torch.rand(count, 1), torch.rand(count, 3) * 8 + 1,
                      torch.rand(count, 1) * 6], 1)


def equal_scores(count, different):
    return torch.randint(0, different, (count,)).float() / different


def overlaps(boxes):
    """IoU [N, N] of upright boxes in float64: NaN where it is not a number, which suppresses nobody."""
    a = boxes.double()
    low, high = torch.maximum(a[:, None, :2], a[:, :2]), torch.minimum(a[:, None, 2:], a[:, 2:])
    shared = (high - low).clamp(min=0).prod(2)
    area = (a[:, 2:] - a[:, :2]).prod(1)
    return shared / (area[:, None] + area - shared)


def plainly_kept(iou, scores, groups, threshold):
    """A loop: best score first, of equal scores the lowest index; boxes suppress those of their own group."""
    order = sorted(range(len(scores)), key=lambda i: (-float(scores[i]), i))
    bad = (iou > threshold) & (groups[:, None] == groups)
    kept = []
    for i in order:
        if not kept or not bool(bad[kept, i].any()):
            kept.append(i)
    return kept


GROUPS = {
    "few": lambda n: torch.randint(0, 3, (n,)),
    "many": lambda n: torch.randint(0, max(n // 3, 1), (n,)),
    "own": torch.arange,
    "one": lambda n: torch.zeros(n, dtype=torch.int64),
    "negative": lambda n: torch.randint(-4, 3, (n,)) * 1000003,
    "huge": lambda n: torch.randint(0, 5, (n,)) + (1 << 62),
    "both ends": lambda n: torch.tensor([-(1 << 63), (1 << 63) - 1])[torch.randint(0, 2, (n,))],
    "int32": lambda n: torch.randint(-2, 2, (n,), dtype=torch.int32) * ((1 << 31) - 1),
    "uint8": lambda n: torch.randint(0, 255, (n,), dtype=torch.uint8),
    "bool": lambda n: torch.rand(n) > 0.5,
    "half": lambda n: torch.randint(0, 4, (n,)).half() * 0.25,
    "double": lambda n: torch.randint(0, 4, (n,)).double() / 3 + 1e15,
}
DTYPES = [torch.float64, torch.float32, torch.float16, torch.bfloat16]


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("labels", GROUPS)
def test_nms_within_groups(labels, dtype):
    torch.manual_seed(len(labels))
    for count, step in ((1, None), (40, None), (150, 0.5), (300, None)):
        boxes, scores = upright(count, step=step).to(dtype), equal_scores(count, 7).to(dtype)
        groups = GROUPS[labels](count)
        wanted = plainly_kept(overlaps(boxes), scores, groups, 0.3)
        assert mt.batched_nms(boxes, scores, groups, {"iou_threshold": 0.3})[1].tolist() == wanted
        assert vision.batched_nms(boxes, scores, groups, 0.3).tolist() == wanted
        few = mt.batched_nms(boxes, scores, groups, {"iou_threshold": 0.3, "max_num": 5, "score_threshold": 0.4})[1]
        assert few.tolist() == [i for i in wanted if float(scores[i]) > 0.4][:5]


@pytest.mark.parametrize("scale, size", [(1e-6, 1e-6), (1e9, 3e8), (3e38, 1e37), (600, 40)])
def test_nms_within_groups_at_any_scale(scale, size):
    torch.manual_seed(1)
    boxes, scores, groups = upright(200, scale, size), equal_scores(200, 50), torch.randint(0, 90, (200,))
    boxes[:20] *= 1e-12  # beside coordinates that no shift of the others leaves as they are
    wanted = plainly_kept(overlaps(boxes), scores, groups, 0.2)
    assert mt.batched_nms(boxes, scores, groups, {"iou_threshold": 0.2})[1].tolist() == wanted


def test_thousands_of_boxes_of_as_many_groups():
    torch.manual_seed(2)
    boxes, scores, groups = upright(4000, 600, 300), torch.rand(4000), torch.randint(0, 1200, (4000,))
    wanted = plainly_kept(overlaps(boxes), scores, groups, 0.5)
    for labels in (groups, groups * 1000, groups - (1 << 62)):
        assert mt.batched_nms(boxes, scores, labels, {"iou_threshold": 0.5})[1].tolist() == wanted
        assert vision.batched_nms(boxes, scores, labels, 0.5).tolist() == wanted


FOREIGN = [math.nan, math.inf, -math.inf]


@pytest.mark.parametrize("foreign", FOREIGN, ids=str)
@pytest.mark.parametrize("column", [0, 3, slice(0, 2), slice(None)], ids=str)
def test_a_box_that_is_not_finite_leaves_the_others_alone(column, foreign):
    torch.manual_seed(3)
    boxes, scores, groups = upright(60), equal_scores(60, 9), torch.randint(0, 3, (60,))
    odd = torch.tensor([0, 17, 59])
    boxes[odd, column] = foreign
    finite = torch.ones(60, dtype=torch.bool).index_fill(0, odd, False)
    wanted = plainly_kept(torch.where(finite & finite[:, None], overlaps(boxes), torch.zeros(())), scores, groups, 0.3)
    for call in (lambda b, s, g: mt.batched_nms(b, s, g, {"iou_threshold": 0.3})[1],
                 lambda b, s, g: vision.batched_nms(b, s, g, 0.3)):
        assert call(boxes, scores, groups).tolist() == wanted
    soft = {"type": "soft_nms", "iou_threshold": 0.3, "min_score": 0.05}
    dets, indices = mt.batched_nms(boxes, scores, groups, soft)
    kept = {int(i): float(dets[at, 4]) for at, i in enumerate(indices)}
    others = finite.nonzero()[:, 0]
    dets, indices = mt.batched_nms(boxes[others], scores[others], groups[others], soft)
    assert {int(others[i]): float(dets[at, 4]) for at, i in enumerate(indices)} == {
        i: score for i, score in kept.items() if finite[i]}


@pytest.mark.parametrize("foreign", FOREIGN, ids=str)
@pytest.mark.parametrize("name, make", [("nms_rotated", rotated), ("nms_quadri", quads)])
def test_rotated_boxes_that_are_not_finite_leave_the_others_alone(name, make, foreign):
    torch.manual_seed(4)
    boxes, scores, groups = make(60), equal_scores(60, 9), torch.randint(0, 3, (60,))
    boxes[[0, 30], 1] = foreign
    finite = torch.ones(60, dtype=torch.bool)
    finite[[0, 30]] = False
    others = finite.nonzero()[:, 0]
    nms = getattr(mt, name)
    for labels in (groups, None):
        alone = nms(boxes[others], scores[others], 0.2, None if labels is None else labels[others])[1]
        together = nms(boxes, scores, 0.2, labels)[1]
        assert [i for i in together.tolist() if finite[i]] == others[alone].tolist()


def test_scores_that_are_not_finite_take_their_place():
    """NaN before every number, as torch sorts."""
    boxes, scores = upright(40, 400, 2), equal_scores(40, 5)
    scores[[3, 8]], scores[5], scores[6] = math.nan, math.inf, -math.inf
    wanted = scores.sort(stable=True, descending=True)[1].tolist()
    for groups in (torch.arange(40), torch.arange(40) % 7, torch.zeros(40).long()):
        assert mt.batched_nms(boxes, scores, groups, {"iou_threshold": 0.9})[1].tolist() == wanted


# ---- equal scores


SUPPRESSIONS = {
    "nms": (upright, lambda b, s, g: mt.nms(b, s, 0.2)[1]),
    "batched_nms": (upright, lambda b, s, g: mt.batched_nms(b, s, g, {"iou_threshold": 0.2})[1]),
    "torchvision": (upright, lambda b, s, g: vision.batched_nms(b, s, g, 0.2)),
    "nothing suppressed": (upright, lambda b, s, g: mt.batched_nms(b, s, g, None)[1]),
    "nms_rotated": (rotated, lambda b, s, g: mt.nms_rotated(b, s, 0.2)[1]),
    "nms_rotated of labels": (rotated, lambda b, s, g: mt.nms_rotated(b, s, 0.2, g)[1]),
    "batched_nms rotated": (rotated, lambda b, s, g: mt.batched_nms(b, s, g, {"type": "nms_rotated",
                                                                              "iou_threshold": 0.2})[1]),
    "nms_quadri": (quads, lambda b, s, g: mt.nms_quadri(b, s, 0.2)[1]),
    "nms_quadri of labels": (quads, lambda b, s, g: mt.nms_quadri(b, s, 0.2, g)[1]),
    "nms3d": (solids, lambda b, s, g: mt.nms3d(b, s, 0.2)),
    "nms3d_normal": (solids, lambda b, s, g: mt.nms3d_normal(b, s, 0.2)),
    "soft_nms of groups": (upright, lambda b, s, g: mt.batched_nms(b, s, g, {
        "type": "soft_nms", "method": "naive", "iou_threshold": 0.2, "min_score": -1})[1]),
}


@pytest.mark.parametrize("name", SUPPRESSIONS)
def test_of_equal_boxes_and_scores_the_first_stays(name):
    make, call = SUPPRESSIONS[name]
    for different in (1, 3):
        torch.manual_seed(5)
        distinct = make(30)
        distinct[:, slice(None) if make in (upright, quads) else slice(2)] += torch.arange(30)[:, None] * 200
        which = torch.randint(0, 30, (200,))
        scores = equal_scores(30, different)[which]
        kept = call(distinct[which], scores, torch.zeros(200).long()).tolist()
        first = {int(which[i]): i for i in reversed(range(200))}
        pool = range(200) if name in ("nothing suppressed", "soft_nms of groups") else first.values()
        wanted = sorted(pool, key=lambda i: (-float(scores[i]), i))
        if name == "soft_nms of groups":
            wanted, kept = sorted(first.values()), sorted(i for i in kept if i in first.values())
        assert kept == wanted


@needs_graphs
@pytest.mark.parametrize("name", SUPPRESSIONS)
def test_graphs_keep_what_eager_calls_keep(name):
    make, call = SUPPRESSIONS[name]
    torch.manual_seed(6)
    graph = torch.compile(call, backend="aot_eager", dynamic=True)
    for count, odd in ((50, None), (90, math.nan), (120, math.inf), (70, -math.inf)):
        boxes, scores, groups = make(count), equal_scores(count, 4), torch.randint(-3, 3, (count,)) * (1 << 60)
        if odd is not None:
            boxes[[1, count // 2], 1] = odd
        assert graph(boxes, scores, groups).tolist() == call(boxes, scores, groups).tolist()


def test_soft_nms_of_groups_is_soft_nms_of_each():
    torch.manual_seed(7)
    for method in ("naive", "linear", "gaussian"):
        boxes, scores, groups = upright(120), torch.rand(120), torch.randint(0, 4, (120,)) - (1 << 61)
        numbers = {"iou_threshold": 0.3, "min_score": 0.2, "method": method}
        dets, indices = mt.batched_nms(boxes, scores, groups, {"type": "soft_nms", **numbers})
        assert torch.equal(dets[:, :4], boxes[indices]) and bool((dets[1:, 4] <= dets[:-1, 4]).all())
        for group in groups.unique():
            places = (groups == group).nonzero()[:, 0]
            alone, kept = mt.soft_nms(boxes[places], scores[places], **numbers)
            mine = groups[indices] == group
            assert indices[mine].tolist() == places[kept].tolist() and torch.equal(dets[mine], alone)
    low = mt.batched_nms(boxes, scores * 0.01, groups, {"type": "soft_nms", "min_score": 0.5})[1]
    assert low.tolist() == [int(scores.argmax())]  # as soft_nms of all: the first box whatever its score


def test_boxes_scores_and_groups_fit():
    boxes = torch.rand(6, 5)
    for call, text in ((lambda: mt.nms_rotated(boxes, torch.rand(9), 0.5, torch.zeros(6)), "scores: wanted dimension 0 to be 6"),
                       (lambda: mt.nms_rotated(boxes, torch.rand(6), 0.5, torch.zeros(9)), "labels: wanted dimension 0 to be 6"),
                       (lambda: mt.nms_rotated(boxes, torch.rand(9), 0.5), "scores: wanted dimension 0 to be 6"),
                       (lambda: mt.nms_quadri(torch.rand(6, 8), torch.rand(6), 0.5, torch.zeros(6, 1)), "labels: wanted 1 dimension"),
                       (lambda: mt.batched_nms(boxes[:, :4], torch.rand(5), torch.zeros(6), {"iou_threshold": 0.5}),
                        "scores: wanted dimension 0 to be 6"),
                       (lambda: mt.batched_nms(boxes[:, :4], torch.rand(5), torch.zeros(6), None),
                        "scores: wanted dimension 0 to be 6"),
                       (lambda: mt.batched_nms(boxes[:, :4], torch.rand(6), torch.zeros(7), {"iou_threshold": 0.5}),
                        "idxs: wanted dimension 0 to be 6"),
                       (lambda: vision.batched_nms(boxes[:, :4], torch.rand(6), torch.zeros(7), 0.5),
                        "idxs: wanted dimension 0 to be 6")):
        with pytest.raises(mluops.BadParamError, match=text):
            call()
    with pytest.raises(TypeError, match="idxs: wanted integers or real numbers, got torch.complex64"):
        mt.batched_nms(boxes[:, :4], torch.rand(6), torch.zeros(6, dtype=torch.complex64), {"iou_threshold": 0.5})
    with pytest.raises(TypeError, match="labels: wanted a torch.Tensor, got list"):
        mt.nms_rotated(boxes, torch.rand(6), 0.5, [0] * 6)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_no_boxes(dtype):
    none, labels = torch.zeros(0, dtype=dtype), torch.zeros(0, dtype=torch.int64)
    for config in (None, {}, {"type": "soft_nms"}):
        config = config if config is None else {"iou_threshold": 0.5, **config}
        dets, indices = mt.batched_nms(none.reshape(0, 4), none, labels, config)
        assert (dets.shape, dets.dtype, indices.tolist()) == ((0, 5), dtype, [])
    assert vision.batched_nms(none.reshape(0, 4), none, labels, 0.5).tolist() == []
    assert mt.nms_rotated(none.reshape(0, 5), none, 0.5, labels)[0].shape == (0, 6)
    assert mt.nms_quadri(none.reshape(0, 8), none, 0.5, labels)[0].shape == (0, 9)
    assert kept_quads(none.reshape(0, 9), 0.5).tolist() == []
