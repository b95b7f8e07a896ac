"""mluops.dropin: HAIS' aggregation, pointgroup_ops' functions, chamfer distances in more dimensions; against plain loops."""

import importlib

import pytest

torch = pytest.importorskip("torch")

from dropin_doors import opened  # noqa: E402
from mluops.dropin import _aggregation  # noqa: E402


@pytest.fixture(autouse=True)
def doors():
    with opened("pointgroup", "chamfer"):
        yield


# ---- clusters: how many points, class, image, place
SCENE = [(60, 17, 0, 0.0), (300, 17, 0, 0.2), (20, 17, 0, 0.35), (40, 17, 1, 0.2), (400, 10, 0, 0.1), (15, 10, 0, 9.0),
         (290, 17, 0, 0.4), (48, 17, 0, 0.41), (30, 17, 0, 0.3), (47, 17, 0, 50.0), (5, 1, 0, 0.0), (284, 17, 1, 3.0)]


def scene():
    """Labels, places, images, neighbours and their ranges: chains of points, some of neighbouring places but other labels."""
    generator = torch.Generator().manual_seed(0)
    label = torch.cat([torch.full((count,), kind) for count, kind, _, _ in SCENE]).int()
    image = torch.cat([torch.full((count,), number) for count, _, number, _ in SCENE]).int()
    places = torch.cat([torch.rand(count, 3, generator=generator) * 0.02 + place for count, _, _, place in SCENE])
    starts = [sum(each[0] for each in SCENE[:i]) for i in range(len(SCENE))]
    of_chain = [range(start, start + each[0]) for start, each in zip(starts, SCENE)]
    chain = {point: points for points in of_chain for point in points}
    near = [[k for k in (point - 1, point, point + 1) if k in chain and (k in chain[point] or label[k] != label[point])]
            for point in range(len(label))]
    length = torch.tensor([len(each) for each in near])
    ranges = torch.stack([length.cumsum(0) - length, length], 1).int()
    return label, places, image, torch.tensor([k for each in near for k in each]).int(), ranges, of_chain


def called(using_set_aggr):
    module = importlib.import_module("HAIS_OP")
    label, places, image, neighbours, ranges, chains = scene()
    names = ("fragment", "kept", "primary")
    made = {name: [label.new_empty(0), label.new_empty(0), places.new_empty(0)] for name in names}
    post = [label.new_empty(0), label.new_empty(0)]
    module.hierarchical_aggregation(label, places, image, neighbours, ranges, *made["fragment"], *made["kept"],
                                    *made["primary"], *post, len(label), 1, using_set_aggr)
    return made, post, places, chains


def points_of(idxs, offsets):
    assert (idxs[:, 0].diff() >= 0).all() or len(idxs) < 2
    return [sorted(idxs[start:end, 1].tolist()) for start, end in zip(offsets[:-1], offsets[1:])]


def kinds():
    small = [i for i, each in enumerate(SCENE) if each[0] < 0.3 * _aggregation._POINTS[each[1]]]
    alone = [i for i in small if SCENE[i][0] >= 0.05 * _aggregation._POINTS[SCENE[i][1]]]
    return small, alone, [i for i in range(len(SCENE)) if i not in small]


def test_clusters_by_their_size():
    made, _, places, chains = called(True)
    for name, wanted in zip(("fragment", "kept", "primary"), kinds()):
        idxs, offsets, centers = made[name]
        assert points_of(idxs, offsets) == [list(chains[i]) for i in wanted] and len(wanted) > 1
        means = torch.stack([places[list(chains[i])].double().mean(0) for i in wanted])
        torch.testing.assert_close(centers[:, :3].double(), means, rtol=1e-5, atol=1e-5)
        assert centers[:, 3:].tolist() == [[SCENE[i][1], SCENE[i][2]] for i in wanted]


def test_large_clusters_take_small_ones():
    made, (rows, ends), places, chains = called(True)
    small, _, large = kinds()
    center = [places[list(points)].double().mean(0) for points in chains]
    wanted = {i: list(chains[i]) for i in large}
    for i in small:
        alike = [k for k in large if SCENE[k][1:3] == SCENE[i][1:3]]
        if alike:
            nearest = min(alike, key=lambda k: float((center[k] - center[i]).norm()))
            reach = max(0.01 * SCENE[nearest][0] ** 0.5, _aggregation._RADII[SCENE[i][1]])
            if float((center[nearest] - center[i]).norm()) < reach:
                wanted[nearest] += list(chains[i])
    assert sum(map(len, wanted.values())) > sum(SCENE[i][0] for i in large) + 90
    assert [rows[start:end, 1].tolist() for start, end in zip(ends[:-1], ends[1:])] == [wanted[i] for i in large]
    assert rows[:ends[-1], 0].tolist() == [number for number, i in enumerate(large) for _ in wanted[i]]
    assert len(rows) == sum(SCENE[i][0] for i in small + large) and not rows[ends[-1]:].any()


def test_without_aggregation_nothing_is_joined():
    made, post, _, _ = called(False)
    assert all(each.numel() == 0 for each in (*post, *made["fragment"])) and len(made["primary"][1]) == len(kinds()[2]) + 1


def test_no_large_cluster_takes_nothing():
    none = _aggregation.Clusters(torch.zeros(0, 2).int(), torch.zeros(1).int(), torch.zeros(0, 5))
    some = _aggregation.Clusters(torch.tensor([[0, 3]]).int(), torch.tensor([0, 1]).int(), torch.zeros(1, 5))
    assert [each.tolist() for each in _aggregation.joined(some, none)] == [[], [0]]
    assert [each.tolist() for each in _aggregation.joined(none, some)] == [[[0, 3]], [0, 1]]


@pytest.mark.parametrize("mode", [0, 1])
def test_ious_and_labels_of_masks(mode):
    module = importlib.import_module("HAIS_OP")
    torch.manual_seed(0)
    offsets, points = torch.tensor([0, 6, 13, 13, 20]).int(), torch.randint(0, 30, (20,)).int()
    instance = torch.randint(-1, 3, (30,))
    instance[instance < 0] = -100
    instance[points[:5].long()] = 1
    count = torch.tensor([9, 6, 14]).int()
    score, iou, label = torch.rand(20, 1), torch.zeros(4, 3), torch.full((20, 1), -1.0)
    module.cal_iou_and_masklabel(points, offsets, instance, count, iou, 3, 4, score, label, mode)
    wanted_label = torch.full((20,), -1.0)
    for p in range(4):
        rows = range(offsets[p], offsets[p + 1])
        counted = [i for i in rows if mode == 0 or score[i] > 0.5]
        wanted = []
        for k in range(3):
            shared = sum(int(instance[points[i]]) == k for i in counted)
            wanted.append(shared / (len(counted) + int(count[k]) - shared + 1e-5))
        assert iou[p].tolist() == pytest.approx(wanted, abs=1e-6)
        if max(wanted) > 0.5:
            for i in rows:
                wanted_label[i] = float(instance[points[i]] == wanted.index(max(wanted)))
    assert label[:, 0].tolist() == wanted_label.tolist() and (mode == 1 or (label >= 0).any())


# ---- pointgroup_ops


def test_voxels_and_back():
    module = importlib.import_module("pointgroup_ops")
    torch.manual_seed(0)
    coords = torch.cat([torch.zeros(40, 1), torch.randint(0, 3, (40, 3))], 1).long()
    voxels, of_point, rules = module.voxelization_idx(coords, 1, 4)
    assert torch.equal(voxels[of_point.long()], coords) and len(voxels) == len(coords.unique(dim=0))
    feats = torch.randn(40, 5, dtype=torch.float64, requires_grad=True)
    found = module.voxelization(feats, rules)
    wanted = torch.stack([feats[(of_point == v).nonzero()[:, 0]].mean(0) for v in range(len(voxels))])
    torch.testing.assert_close(found, wanted)
    grad = torch.randn_like(found)
    torch.testing.assert_close(*(torch.autograd.grad(each, feats, grad)[0] for each in (found, wanted)))
    found, wanted = module.voxelization(feats, rules), feats.new_zeros(len(voxels), 5).index_add(0, of_point.long(), feats)
    wanted = wanted / of_point.bincount()[:, None]
    back = module.point_recover(found, rules, 40)
    torch.testing.assert_close(back, wanted[of_point.long()])
    again = torch.randn_like(back)
    torch.testing.assert_close(*(torch.autograd.grad(each, feats, again)[0] for each in (back, wanted[of_point.long()])))


def test_clusters_and_proposals():
    module = importlib.import_module("pointgroup_ops")
    places = torch.tensor([[0.0, 0, 0], [0.1, 0, 0], [5, 0, 0], [5.1, 0, 0], [5.2, 0, 0], [0.05, 0, 0]])
    batch, label = torch.zeros(6).int(), torch.zeros(6).int()
    idx, ranges = module.ballquery_batch_p(places, batch, torch.tensor([0, 6]).int(), 0.15, 1)  # room for one each: too few
    assert ranges[:, 1].tolist() == [3, 3, 2, 3, 2, 3] and idx[:3].tolist() == [0, 1, 5]
    clusters, ends = module.bfs_cluster(label, idx, ranges, 2)
    assert points_of(clusters, ends) == [[0, 1, 5], [2, 3, 4]]
    feats = torch.tensor([[1.0, 5], [7, 2], [3, 3], [0, 9]], dtype=torch.float64, requires_grad=True)
    offsets = torch.tensor([0, 3, 4]).int()
    pooled = module.roipool(feats, offsets)
    assert pooled.tolist() == [[7, 5], [0, 9]]
    pooled.sum().backward()
    assert feats.grad.tolist() == [[0, 1], [1, 0], [0, 0], [1, 1]]
    plain = feats.detach()
    for function, wanted in ((module.sec_mean, plain[:3].mean(0)), (module.sec_min, plain[:3].amin(0)),
                             (module.sec_max, plain[:3].amax(0))):
        assert torch.equal(function(plain, offsets)[0], wanted)
    iou = module.get_iou(torch.arange(4).int(), offsets, torch.tensor([0, 0, 1, 1]), torch.tensor([2, 2]).int())
    assert iou.flatten().tolist() == pytest.approx([2 / 3, 1 / 4, 0, 1 / 2], abs=1e-4)


# ---- chamfer distances


@pytest.mark.parametrize("axes", [2, 3, 5])
def test_chamfer_of_any_number_of_axes(monkeypatch, axes):
    from mluops.dropin.module import chamfer
    monkeypatch.setattr(chamfer, "_ELEMENTS", 64)  # some points at a time
    module = importlib.import_module(f"chamfer_{axes}D")
    torch.manual_seed(axes)
    one, two = torch.randn(2, 9, axes), torch.randn(2, 7, axes)
    squares = (one.double()[:, :, None] - two.double()[:, None]).square().sum(3)
    found = [torch.zeros(2, 9), torch.zeros(2, 7), torch.zeros(2, 9).int(), torch.zeros(2, 7).int()]
    assert module.forward(one, two, *found) == 1
    for axis in (1, 2):
        nearest = squares.min(3 - axis)
        torch.testing.assert_close(found[axis - 1].double(), nearest.values, rtol=1e-5, atol=1e-6)
        assert torch.equal(found[axis + 1].long(), nearest.indices)
    exact = [each.double().requires_grad_() for each in (one, two)]
    pairs = (exact[0][:, :, None] - exact[1][:, None]).square().sum(3)
    grads = torch.randn(2, 9), torch.randn(2, 7)
    total = (pairs.amin(2) * grads[0]).sum() + (pairs.amin(1) * grads[1]).sum()
    ours = [torch.zeros_like(one), torch.zeros_like(two)]
    module.backward(one, two, *ours, *grads, *found[2:])
    for mine, by_rule in zip(ours, torch.autograd.grad(total, exact)):
        torch.testing.assert_close(mine.double(), by_rule, rtol=1e-5, atol=1e-5)
