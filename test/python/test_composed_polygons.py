"""Operators on quadrilaterals and point sets against plain loops and the figures of mmcv's tests."""

import math

import pytest

torch = pytest.importorskip("torch")

import mluops  # noqa: E402
import mluops.torch as mt  # noqa: E402

SETS = torch.tensor([[1.0, 1, 2, 2, 1, 2, 2, 1, 1, 3, 3, 1, 2, 3, 3, 2, 1.5, 1.5],
                     [1.5, 1.5, 2.5, 2.5, 1.5, 2.5, 2.5, 1.5, 1.5, 3.5, 3.5, 1.5, 2.5, 3.5, 3.5, 2.5, 2, 2]])
SQUARES = torch.tensor([[1.0, 1, 1, 2, 2, 2, 2, 1], [1, 1, 1, 3, 3, 3, 3, 1]])
every_dtype = pytest.mark.parametrize("dtype, limit", [(torch.float64, 1e-11), (torch.float32, 1e-6), (torch.float16, 1e-3)],
                                      ids=str)


@pytest.fixture(autouse=True)
def seed():
    torch.manual_seed(41)


def area(corners):
    return sum(a[0] * b[1] - a[1] * b[0] for a, b in zip(corners, corners[1:] + corners[:1])) / 2


def around(points):
    """The corners of the convex hull, counterclockwise."""
    chains = []
    for order in (sorted(map(tuple, points)), sorted(map(tuple, points), reverse=True)):
        chain = []
        for p in order:
            while len(chain) > 1 and area([chain[-2], chain[-1], p]) <= 0:
                chain.pop()
            chain.append(p)
        chains += chain[:-1]
    return chains


def common(corners, clip):
    """The area of a polygon in a convex one, clipped side by side."""
    clip = clip if area(clip) > 0 else clip[::-1]
    for a, b in zip(clip, clip[1:] + clip[:1]):
        depth = [(b[0] - a[0]) * (p[1] - a[1]) - (b[1] - a[1]) * (p[0] - a[0]) for p in corners]
        cut = []
        for (p, q), (d, e) in zip(zip(corners, corners[1:] + corners[:1]), zip(depth, depth[1:] + depth[:1])):
            if d >= 0:
                cut.append(p)
            if (d < 0) != (e < 0):
                cut.append(tuple(p[i] + d / (d - e) * (q[i] - p[i]) for i in (0, 1)))
        corners = cut
    return abs(area(corners)) if corners else 0.0


# Coordinates of a map: products of such numbers have no digits left for areas.
def test_quadrilaterals_far_from_the_origin_are_those_at_it():
    boxes, others = quads(200, torch.float64, 2.0), quads(200, torch.float64, 2.0)
    far = [each + 1e6 for each in (boxes, others)]
    near = [each - 1e6 for each in far]  # the very same shapes, rounded as they are there
    for function in (mt.box_iou_quadri, lambda a, b: mt.convex_iou(a.repeat(1, 3)[:, :18], b)):
        found, wanted = function(*far), function(*near)
        assert wanted.max() > 0.3
        assert (found - wanted).abs().max() < 1e-8


def pairs(row):
    return [tuple(row[i:i + 2]) for i in range(0, len(row), 2)]


def quads(count, dtype, spread=8.0):
    """Convex ones in both senses."""
    angles = torch.rand(count, 4).add(torch.arange(4)).mul(math.pi / 2)
    corners = torch.stack([angles.cos(), angles.sin()], 2) * (torch.rand(count, 1, 2) * 3 + 0.5)
    corners = corners + torch.rand(count, 1, 2) * spread
    corners[::2] = corners[::2].flip(1)
    return corners.reshape(count, 8).to(dtype)


def table(a, b, mode="iou"):
    found = torch.zeros(len(a), len(b), dtype=torch.float64)
    for i, p in enumerate(map(pairs, a.double().tolist())):
        for j, q in enumerate(map(pairs, b.double().tolist())):
            shared = common(p, q)
            found[i, j] = shared / (abs(area(p)) + (abs(area(q)) - shared if mode == "iou" else 0))
    return found


@every_dtype
def test_box_iou_quadri(dtype, limit):
    a, b = quads(14, dtype), quads(11, dtype)
    for mode in ("iou", "iof"):
        wanted = table(a, b, mode)
        assert (wanted > 0).sum() > 10 and (wanted == 0).any()
        found = mt.box_iou_quadri(a, b, mode)
        assert found.dtype == dtype and (found.double() - wanted).abs().max() < limit
        paired = mt.box_iou_quadri(a[:11], b, mode, True)
        assert (paired.double() - wanted[:11].diagonal()).abs().max() < limit
    assert (mt.box_iou_quadri(a, a).diagonal().double() - 1).abs().max() < limit
    assert mt.box_iou_quadri(a, b[:0]).shape == (14, 0) and mt.box_iou_quadri(a[:0], b).shape == (0, 11)


def test_box_iou_quadri_of_mmcv_s_tests():
    a = torch.tensor([[1.0, 1, 3, 4, 4, 4, 4, 1], [2, 2, 3, 4, 4, 2, 3, 1], [7, 7, 8, 8, 9, 7, 8, 6]])
    b = torch.tensor([[0.0, 0, 0, 2, 2, 2, 2, 0], [2, 1, 2, 4, 4, 4, 4, 1], [7, 6, 7, 8, 9, 8, 9, 6]])
    assert torch.allclose(mt.box_iou_quadri(a, b)[:, ::2], torch.tensor([[0.0714, 0], [0, 0], [0, 0.5]]), atol=1e-4)
    assert torch.allclose(mt.box_iou_quadri(b[1:2], b), torch.tensor([[0.0, 1, 0]]))


def test_quadrilaterals_of_no_size_and_nan_share_nothing():
    boxes = torch.stack([torch.zeros(8), SQUARES[0], SQUARES[0] * math.nan, torch.tensor([1.0, 1, 2, 2, 1, 1, 2, 2])])
    wanted = torch.zeros(4, 4)
    wanted[1, 1] = 1
    assert torch.equal(mt.box_iou_quadri(boxes, boxes), wanted)
    for times in (1, 12):
        assert len(mt.nms_quadri(boxes.repeat(times, 1), torch.rand(4 * times), 0.0)[1]) == 3 * times + 1


@pytest.mark.parametrize("threshold", [0.0, 0.15])
def test_nms_quadri(threshold):
    boxes, scores, labels = quads(40, torch.float32, 6), torch.rand(40), torch.arange(40) % 2
    wanted, ious = [], table(boxes, boxes)
    apart = []
    for i in scores.argsort(descending=True).tolist():
        wanted += [i] if all(ious[i, j] <= threshold for j in wanted) else []
        apart += [i] if all(ious[i, j] <= threshold or labels[i] != labels[j] for j in apart) else []
    dets, kept = mt.nms_quadri(boxes, scores, threshold)
    assert kept.tolist() == wanted and 3 < len(wanted) < len(apart) < 40
    assert torch.equal(dets, torch.cat([boxes[kept], scores[kept, None]], 1))
    assert mt.nms_quadri(boxes, scores, threshold, labels)[1].tolist() == apart
    for none in (None, labels[:0]):
        assert mt.nms_quadri(boxes[:0], scores[:0], threshold, none)[0].shape == (0, 9)


@every_dtype
def test_convex_iou(dtype, limit):
    sets, boxes = (torch.rand(12, 9, 2) * 4 + torch.rand(12, 1, 2) * 3).reshape(12, 18).to(dtype), quads(9, dtype)
    wanted = torch.zeros(12, 9, dtype=torch.float64)
    for i, points in enumerate(map(around, map(pairs, sets.double().tolist()))):
        for j, box in enumerate(map(pairs, boxes.double().tolist())):
            shared = common(points, box)
            wanted[i, j] = shared / (area(points) + abs(area(box)) - shared)
    assert (wanted > 0).sum() > 10
    assert (mt.convex_iou(sets, boxes).double() - wanted).abs().max() < limit
    assert mt.convex_iou(sets[:0], boxes).shape == (0, 9)


def test_convex_iou_and_giou_of_mmcv_s_tests():
    wanted = torch.tensor([[0.2857, 0.8750], [0.0588, 0.4286]])
    assert torch.allclose(mt.convex_iou(SETS, SQUARES), wanted, atol=1e-3)
    value, gradient = mt.convex_giou(SETS, SQUARES)
    assert torch.allclose(value, torch.tensor([0.2857, 0.3831]), atol=1e-3)
    wanted = torch.tensor([-0.1848, -0.1848, 0, 0, 0, 0, 0, 0, -0.1076, -0.0801, -0.0801, -0.1076, -0.0367, -0.0734, -0.0734,
                           -0.0367, 0, 0])
    assert torch.allclose(gradient[1], wanted, atol=1e-3)  # corners of the first set are on the box: no gradient


def giou(points, box):
    hull = around(points)
    shared = common(hull, box)
    united = area(hull) + abs(area(box)) - shared
    whole = area(around(points + box))
    return shared / united - (whole - united) / whole


def test_gradient_of_convex_giou():
    sets, boxes, step = (torch.rand(6, 18) * 4).double(), quads(6, torch.float64, 4), 1e-6
    found, gradient = mt.convex_giou(sets, boxes)
    for i, box in enumerate(map(pairs, boxes.tolist())):
        assert abs(found[i].item() - giou(pairs(sets[i].tolist()), box)) < 1e-12
        for j in range(18):
            ends = [sets[i].clone() for _ in range(2)]
            ends[0][j] -= step
            ends[1][j] += step
            low, high = (giou(pairs(end.tolist()), box) for end in ends)
            assert abs((high - low) / (2 * step) - gradient[i, j].item()) < 1e-7
    assert mt.convex_giou(sets[:0], boxes[:0])[1].shape == (0, 18)


@every_dtype
def test_min_area_polygons(dtype, limit):
    sets = (torch.rand(20, 18) * 8).to(dtype)
    found = mt.min_area_polygons(sets)
    assert found.dtype == dtype
    for points, box in zip(sets.double().tolist(), found.double().tolist()):
        hull, least = around(pairs(points)), math.inf
        for a, b in zip(hull, hull[1:] + hull[:1]):
            size = math.dist(a, b)
            along = [((b[0] - a[0]) * p[0] + (b[1] - a[1]) * p[1]) / size for p in hull]
            across = [((b[0] - a[0]) * p[1] - (b[1] - a[1]) * p[0]) / size for p in hull]
            least = min(least, (max(along) - min(along)) * (max(across) - min(across)))
        assert abs(abs(area(pairs(box))) - least) < 100 * limit * least
        assert common(hull, pairs(box)) > area(hull) * (1 - 100 * limit)


def test_min_area_polygons_of_mmcv_s_tests():
    sets = SETS[:1].repeat(2, 1)
    sets[1, 2:4] = 8
    wanted = torch.tensor([[3.0, 1, 1, 1, 1, 3, 3, 3], [8, 8, 2.3243, 0.0541, 0.0541, 1.6757, 5.7297, 9.6216]])
    assert torch.allclose(mt.min_area_polygons(sets), wanted, atol=1e-4)


REFUSED = {
    'mode: wanted "iou"': lambda: mt.box_iou_quadri(SQUARES, SQUARES, "giou"),
    "bboxes1: wanted dimension 1 to be 8": lambda: mt.box_iou_quadri(SETS, SQUARES),
    "bboxes2: wanted dimension 0 to be 2": lambda: mt.box_iou_quadri(SQUARES, SQUARES[:1], aligned=True),
    "iou_threshold: wanted a number of at least 0": lambda: mt.nms_quadri(SQUARES, torch.ones(2), math.nan),
    "scores: wanted dimension 0 to be 2": lambda: mt.nms_quadri(SQUARES, torch.ones(3), 0.5),
    "pointsets: wanted dimension 1 to be 18": lambda: mt.convex_iou(SQUARES, SQUARES),
    "polygons: wanted dimension 0 to be 2": lambda: mt.convex_giou(SETS, SQUARES[:1]),
    "pointsets: wanted 2 dimensions": lambda: mt.min_area_polygons(SETS[0]),
}


@pytest.mark.parametrize("text", REFUSED)
def test_refused(text):
    with pytest.raises(mluops.BadParamError, match=text):
        REFUSED[text]()
