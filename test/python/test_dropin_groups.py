"""mluops.dropin: PV-RCNN++'s vector pooling, PointGroup's and SoftGroup's operators, Voxel Transformer's, against loops."""

import itertools
from collections import deque

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from dropin_doors import door, opened  # noqa: E402


@pytest.fixture
def stack():
    with opened("pcdet"):
        yield door("pointnet2_stack_cuda")


@pytest.fixture
def votr():
    with opened("pcdet"):
        yield door("votr_ops_cuda")


@pytest.fixture(params=["PG_OP", "SOFTGROUP_OP"])
def groups(request):
    with opened("pointgroup"):
        yield door(request.param)


@pytest.fixture
def group():
    with opened("pointgroup"):
        yield door("PG_OP")


# ---- all points near each centre


@pytest.mark.parametrize("ball, border", [(True, True), (True, False), (False, True)])
@pytest.mark.parametrize("reach", [0.01, 0.3, 5.0, 0.0])
def test_all_points_near_each_centre(ball, border, reach):
    from mluops.dropin import _near
    rng = np.random.default_rng(1)
    points = rng.integers(0, 12, (200, 3)) / 10  # many on the border
    points[7] = np.nan
    centers = np.concatenate([points[:60], rng.uniform(-9, 9, (20, 3)), [[np.inf, 0, 0], [1e30, 0, -1e30]]])
    clouds, own = rng.integers(0, 3, 200), rng.integers(0, 3, 82)
    row, point = _near.within(torch.tensor(points), torch.tensor(clouds), torch.tensor(centers), torch.tensor(own), reach, ball,
                              border)
    wanted = []
    with np.errstate(invalid="ignore", over="ignore"):
        for i, k in itertools.product(range(82), range(200)):
            away = points[k] - centers[i]
            size, most = ((away ** 2).sum(), reach * reach) if ball else (np.abs(away).max(), reach)
            if clouds[k] == own[i] and (size <= most if border else size < most):
                wanted.append((i, k))
    assert list(zip(row.tolist(), point.tolist())) == wanted


def test_nothing_near_nothing():
    from mluops.dropin import _near
    none, one = torch.zeros(0, 3), torch.zeros(1, 3)
    for points, centers in ((none, one), (one, none), (none, none)):
        clouds, own = (torch.zeros(len(each), dtype=torch.int64) for each in (points, centers))
        row, point = _near.within(points, clouds, centers, own, 1.0, True)
        assert len(row) == len(point) == 0


# ---- vector pooling


def _clouds(dtype=torch.float32, seed=0):
    generator = torch.Generator().manual_seed(seed)
    xyz = torch.rand(90, 3, generator=generator, dtype=torch.float64).to(dtype)
    new_xyz = torch.rand(14, 3, generator=generator, dtype=torch.float64).to(dtype)
    return xyz, torch.tensor([50, 40], dtype=torch.int32), new_xyz, torch.tensor([6, 8], dtype=torch.int32)


def _neighbours(xyz, new_xyz, m, reach, ball):
    rows = range(0, 50) if m < 6 else range(50, 90)
    away = [(k, (xyz[k] - new_xyz[m]).double()) for k in rows]
    return [(k, each) for k, each in away if ((each ** 2).sum() <= reach ** 2 if ball else each.abs().max() <= reach)]


def _pool_loop(xyz, features, new_xyz, sizes, reach, width, nsample, ball, first):
    cells = sizes[0] * sizes[1] * sizes[2]
    out, places, counts, grouped = np.zeros((14, cells, width)), np.zeros((14, cells, 3)), np.zeros((14, cells), int), []
    for m in range(14):
        taken = 0
        for k, away in _neighbours(xyz, new_xyz, m, reach, ball):
            x, y, z = (int(np.floor((float(a) + reach) / (2 * reach / s))) for a, s in zip(away, sizes))
            cell = min(max((x * sizes[1] + y) * sizes[2] + z, 0), cells - 1)
            if first and counts[m, cell]:
                continue
            counts[m, cell] += 1
            for i, value in enumerate(features[k].tolist()):
                out[m, cell, i % width] = value + (0 if first else out[m, cell, i % width])
            places[m, cell] += away.numpy()
            grouped.append((k, m, cell))
            taken += 1
            if taken == nsample:
                break
    return out, places, counts, grouped


@pytest.mark.parametrize("ball", [0, 1])
@pytest.mark.parametrize("first", [0, 1])
@pytest.mark.parametrize("nsample", [-1, 3])
def test_vector_pool(stack, ball, first, nsample):
    xyz, counts, new_xyz, new_counts = _clouds()
    features = torch.randn(90, 6)
    sizes, reach, width = (2, 3, 2), 0.35, 3
    out, places = torch.zeros(14, 12 * width), torch.zeros(14, 12 * 3)
    points, grouped = torch.zeros(14, 12, dtype=torch.int32), torch.zeros(500, 3, dtype=torch.int32)
    total = stack.vector_pool_wrapper(xyz, counts, features, new_xyz, new_counts, out, places, points, grouped, *sizes, reach, 1,
                                      500, nsample, ball, first)
    wanted = _pool_loop(xyz, features, new_xyz, sizes, reach, width, nsample, ball, first)
    assert total == len(wanted[3]) and grouped[:total].tolist() == [list(each) for each in wanted[3]]
    assert points.tolist() == wanted[2].tolist()
    np.testing.assert_allclose(out.view(14, 12, 3), wanted[0], atol=1e-5)
    np.testing.assert_allclose(places.view(14, 12, 3), wanted[1], atol=1e-5)

    grad, found = torch.randn(14, 12 * width), torch.zeros(90, 6)
    stack.vector_pool_grad_wrapper(grad, points, grouped[:total], found)
    along = np.zeros((90, 6))
    for k, m, cell in wanted[3]:
        along[k] += np.tile(grad.view(14, 12, 3)[m, cell].double().numpy() / max(wanted[2][m, cell], 1), 2)
    np.testing.assert_allclose(found, along, atol=1e-5)


def test_vector_pool_tells_how_many_points_there_are(stack):
    xyz, counts, new_xyz, new_counts = _clouds()
    grouped = torch.full((5, 3), -7, dtype=torch.int32)
    total = stack.vector_pool_wrapper(xyz, counts, torch.ones(90, 1), new_xyz, new_counts, torch.zeros(14, 1),
                                      torch.zeros(14, 3), torch.zeros(14, 1, dtype=torch.int32), grouped, 1, 1, 1, 0.5, 0, 5,
                                      -1, 0, 0)
    assert total > 5 and (grouped >= 0).all()
    with pytest.raises(ValueError, match="xyz_batch_cnt: wanted counts that add up to 90"):
        stack.vector_pool_wrapper(xyz, counts - 1, torch.ones(90, 1), new_xyz, new_counts, None, None, None, grouped, 1, 1, 1,
                                  0.5, 0, 5, -1, 0, 0)


@pytest.mark.parametrize("reach, nsample", [(0.3, -1), (0.3, 2), (0.1, -1), (0.001, -1)])
def test_three_nearest_of_the_neighbours(stack, reach, nsample):
    xyz, counts, new_xyz, new_counts = _clouds(seed=3)
    centers = new_xyz[:, None] + torch.rand(14, 4, 3) * 0.1
    listed, start_len = torch.zeros(14 * 60, dtype=torch.int32), torch.zeros(14, 2, dtype=torch.int32)
    total = torch.zeros(1, dtype=torch.int32)
    stack.query_stacked_local_neighbor_idxs_wrapper_stack(xyz, counts, new_xyz, new_counts, listed, start_len, total, 60, reach,
                                                          nsample, 1)
    wanted = [[k for k, _ in _neighbours(xyz, new_xyz, m, reach, True)][:nsample if nsample > 0 else None] for m in range(14)]
    assert total.item() == sum(map(len, wanted))
    assert [listed[a:a + n].tolist() for a, n in start_len.tolist()] == wanted

    index, squares = torch.zeros(14, 4, 3, dtype=torch.int32), torch.zeros(14, 4, 3)
    stack.query_three_nn_by_stacked_local_idxs_wrapper_stack(xyz, new_xyz, centers, index, squares, listed[:total], start_len,
                                                             14, 4)
    for m, g in itertools.product(range(14), range(4)):
        near = sorted((float((xyz[k] - centers[m, g]).square().sum()), i, k) for i, k in enumerate(wanted[m]))[:3]
        near += near[:1] * (3 - len(near)) or [(float("inf"), 0, -1)] * (3 - len(near))
        assert index[m, g].tolist() == [k for _, _, k in near]
        np.testing.assert_allclose(squares[m, g], [d for d, _, _ in near], rtol=1e-5)


# ---- PointGroup and SoftGroup


@pytest.mark.parametrize("mode", [1, 2, 4])
@pytest.mark.parametrize("wide", [1, 2 ** 40])
def test_voxels_in_the_order_of_their_points(groups, mode, wide):
    rng = np.random.default_rng(0)
    coords = torch.tensor(np.concatenate([rng.integers(0, 2, (70, 1)), rng.integers(-2, 2, (70, 3)) * wide], 1))
    voxels, number, table = coords.new(), torch.zeros(70, dtype=torch.int32), torch.IntTensor()
    groups.voxelize_idx(coords, voxels, number, table, 2, mode)
    held = {}
    for i, place in enumerate(map(tuple, coords.tolist())):
        held.setdefault(place, []).append(i)
    assert list(map(tuple, voxels.tolist())) == list(held)
    assert number.tolist() == [list(held).index(tuple(place)) for place in coords.tolist()]
    kept = {1: lambda all_: all_[:1], 2: lambda all_: all_[-1:], 4: lambda all_: all_}[mode]
    assert [row[1:1 + row[0]] for row in table.tolist()] == [kept(all_) for all_ in held.values()]

    feats, out = torch.randn(70, 5), torch.zeros(len(held), 5)
    groups.voxelize_fp(feats, out, table, mode, len(held), table.shape[1] - 1, 5)
    wanted = torch.stack([feats[kept(all_)].double().mean(0) for all_ in held.values()])
    torch.testing.assert_close(out.double(), wanted, rtol=0, atol=1e-6)
    back, grad = torch.zeros(70, 5), torch.randn(len(held), 5)
    groups.voxelize_bp(grad, back, table, mode, len(held), table.shape[1] - 1, 5)
    wanted = torch.zeros(70, 5)
    for voxel, all_ in enumerate(held.values()):
        wanted[kept(all_)] = grad[voxel] / len(kept(all_))
    torch.testing.assert_close(back, wanted)


def test_features_of_voxels_back_to_points(group):
    table = torch.tensor([[2, 3, 0, 0], [1, 4, 0, 0], [3, 1, 2, 5]], dtype=torch.int32)
    feats, out, back = torch.randn(3, 2), torch.zeros(6, 2), torch.zeros(3, 2)
    group.point_recover_fp(feats, out, table, 3, 3, 2)
    assert torch.equal(out, feats[[0, 2, 2, 0, 1, 2]])
    grad = torch.randn(6, 2)
    group.point_recover_bp(grad, back, table, 3, 3, 2)
    torch.testing.assert_close(back, torch.stack([grad[[0, 3]].sum(0), grad[4], grad[[1, 2, 5]].sum(0)]))


def _search(idx, start_len, labels, least):
    """Breadth-first, as the textbooks have it."""
    seen, found = set(), []
    for root in range(len(start_len)):
        if root in seen:
            continue
        queue, cluster = deque([root]), [root]
        seen.add(root)
        while queue:
            at = queue.popleft()
            for other in idx[start_len[at][0]:sum(start_len[at])]:
                if labels[other] == labels[at] and other not in seen:
                    seen.add(other)
                    cluster.append(other)
                    queue.append(other)
        if len(cluster) >= least:
            found.append(cluster)
    return found


@pytest.mark.parametrize("seed", range(4))
def test_clusters_are_those_of_a_search(group, seed):
    rng = np.random.default_rng(seed)
    length = rng.integers(0, 4, 80)  # neighbours of any kind: to one side alone, too
    idx = rng.integers(0, 80, length.sum()).astype(np.int32)
    start_len = np.stack([length.cumsum() - length, length], 1).astype(np.int32)
    labels = rng.integers(0, 3, 80).astype(np.int32)
    for least in (1, 4, 200):
        clusters, ends = torch.IntTensor(), torch.IntTensor()
        group.bfs_cluster(*map(torch.tensor, (labels, idx, start_len)), clusters, ends, 80, least)
        wanted = _search(idx.tolist(), start_len.tolist(), labels.tolist(), least)
        assert clusters.tolist() == [[i, k] for i, each in enumerate(wanted) for k in each]
        assert ends.tolist() == [0, *np.cumsum([len(each) for each in wanted], dtype=int).tolist()]


def test_softgroup_s_clusters_have_a_share_of_their_class_s_size(group):
    idx, start_len = torch.tensor([0, 1, 1, 0, 2, 3], dtype=torch.int32), torch.tensor([[0, 2], [2, 2], [4, 1], [5, 1]])
    for class_id, wanted in ((0, [0, 1]), (1, [0, 1, 2, 3])):
        clusters, ends = torch.IntTensor(), torch.IntTensor()
        group.bfs_cluster(torch.tensor([4.0, -1.0]), idx, start_len.int(), clusters, ends, 4, 0.5, class_id)
        assert clusters[:, 1].tolist() == wanted


def test_neighbours_of_each_point_and_its_clusters(group):
    xyz, batch = torch.rand(300, 3), torch.arange(300) // 150
    idx, start_len = torch.zeros(300 * 40, dtype=torch.int32), torch.zeros(300, 2, dtype=torch.int32)
    total = group.ballquery_batch_p(xyz, batch.int(), torch.tensor([0, 150, 300]).int(), idx, start_len, 300, 40, 0.12)
    near = (xyz[:, None] - xyz).square().sum(2) < 0.12 ** 2
    near &= batch[:, None] == batch
    assert total == int(near.sum())
    wanted = [row.nonzero()[:, 0].tolist() for row in near]
    assert [idx[a:a + n].tolist() for a, n in start_len.tolist()] == wanted

    boxes, inds, leaves = torch.zeros(585, 6), torch.zeros(300, dtype=torch.int32), torch.zeros(512, 2, dtype=torch.int32)
    group.build_and_export_octree(xyz, torch.ones(6), boxes, inds, leaves, 3)
    some = torch.zeros(7, dtype=torch.int32)
    total = group.octree_ball_query(xyz, boxes, inds, leaves, some, start_len, 0, 0.12)
    assert total == int(((xyz[:, None] - xyz).square().sum(2) < 0.12 ** 2).sum())


def test_proposals(groups):
    feats, ends = torch.randn(40, 3), torch.tensor([0, 13, 13, 40], dtype=torch.int32)
    parts = [feats[a:b] for a, b in itertools.pairwise(ends.tolist())] if hasattr(itertools, "pairwise") else \
        [feats[0:13], feats[13:13], feats[13:40]]
    found = {}
    for name in ("global_avg_pool_fp", "sec_mean", "sec_min", "sec_max"):
        found[name] = torch.zeros(3, 3)
        getattr(groups, name)(feats, ends, found[name], 3, 3)
    for i in (0, 2):
        for name in ("global_avg_pool_fp", "sec_mean"):
            torch.testing.assert_close(found[name][i], parts[i].mean(0))
        assert torch.equal(found["sec_min"][i], parts[i].amin(0)) and torch.equal(found["sec_max"][i], parts[i].amax(0))
    assert found["sec_mean"][1].tolist() == [0] * 3 and found["global_avg_pool_fp"][1].isnan().all()
    assert found["sec_min"][1].tolist() == [float("inf")] * 3 and found["sec_max"][1].tolist() == [float("-inf")] * 3

    grad, back = torch.randn(3, 3), torch.zeros(40, 3)
    groups.global_avg_pool_bp(back, ends, grad, 3, 3)
    torch.testing.assert_close(back, torch.cat([(grad[0] / 13).expand(13, 3), (grad[2] / 27).expand(27, 3)]))
    best, at, back = torch.zeros(3, 3), torch.zeros(3, 3, dtype=torch.int32), torch.zeros(40, 3)
    groups.roipool_fp(feats, ends, best, at, 3, 3)
    assert torch.equal(best, found["sec_max"]) and at[1].tolist() == [-1] * 3
    groups.roipool_bp(back, ends, at, grad, 3, 3)
    for i, c in itertools.product((0, 2), range(3)):
        assert back[at[i, c], c] == grad[i, c]
    assert back.count_nonzero() == 6


def test_ious_and_labels_of_proposals(groups):
    rng = np.random.default_rng(0)
    idx, ends = torch.tensor(rng.integers(0, 30, 25)).int(), torch.tensor([0, 10, 10, 25]).int()
    labels = torch.tensor(rng.integers(0, 4, 30))
    labels[labels == 3] = -100
    sizes, scores = torch.tensor([9, 8, 7]).int(), torch.rand(25)
    for counted in (None, scores):
        iou = torch.zeros(3, 3)
        if counted is None:
            groups.get_iou(idx, ends, labels, sizes, iou, 3, 3)
        else:
            groups.get_mask_iou_on_pred(idx, ends, labels, sizes, iou, 3, 3, scores)
        for p, k in itertools.product(range(3), range(3)):
            rows = [i for i in range(ends[p], ends[p + 1]) if counted is None or scores[i] > 0.5]
            both = sum(int(labels[idx[i]]) == k for i in rows)
            assert abs(float(iou[p, k]) - both / (len(rows) + int(sizes[k]) - both + 1e-5)) < 1e-6
    classes, made = torch.tensor([0, -100, 2]), torch.full((25,), -1.0)
    iou = torch.tensor([[0.2, 0.9, 0.6], [0, 0, 0], [0.1, 0.2, 0.3]])
    groups.get_mask_label(idx, ends, labels, classes, iou, 3, 3, 0.5, made)
    assert made[:10].tolist() == [float(int(labels[i]) == 2) for i in idx[:10]] and made[10:].tolist() == [-1.0] * 15


# ---- Voxel Transformer


def _voxels(seed=0):
    """Voxels (batch, z, y, x) of two samples in a grid of 7 x 6 x 5 (x, y, z), some outside."""
    rng = np.random.default_rng(seed)
    all_ = [np.concatenate([[[b]] * 60, rng.permutation(list(itertools.product(range(6), range(6), range(7))))[:60]], 1)
            for b in range(2)]
    return torch.tensor(np.concatenate(all_)).int(), torch.tensor([60, 60]).int()


def _tables(votr, voxels, counts):
    dense, hashed = torch.full((2, 7, 6, 5), -1).int(), torch.full((2, 80, 2), -1).int()
    votr.build_mapping_with_tensor_wrapper(7, 6, 5, len(voxels), voxels, counts, dense)
    votr.build_mapping_with_hash_wrapper(7, 6, 5, len(voxels), 80, voxels, counts, hashed)
    return dense, hashed


def _steps(ranges, strides):
    """Places from a voxel's own, z outermost, as the kernels' loops have them."""
    for spec in ranges:
        for z, y, x in itertools.product(*(range(0, spec[i + 1], spec[i + 2]) for i in (6, 3, 0))):
            if not (x < spec[0] and y < spec[3] and z < spec[6]):
                axes = [range(-o, s + o, (2 * o + s - 1) or 1) for o, s in zip((z, y, x), reversed(strides))]
                yield from itertools.product(*axes)


def _first(voxels, strides, steps, dense, width):
    for b, z, y, x in voxels.tolist():
        found = []
        if x < 7 and y < 6 and z < 5:
            for dz, dy, dx in steps:
                place = x * strides[0] + dx, y * strides[1] + dy, z * strides[2] + dz
                if all(0 <= p < s for p, s in zip(place, (7, 6, 5))) and dense[(b, *place)] >= 0:
                    found.append(int(dense[(b, *place)]))
        yield (found + [-1] * width)[:width]


@pytest.mark.parametrize("strides", [None, (1, 1, 1), (2, 2, 2), (1, 2, 3)])
@pytest.mark.parametrize("width", [5, 200])
def test_whom_a_voxel_attends_to(votr, strides, width):
    voxels, counts = _voxels()
    tables = dict(zip(("tensor", "hash"), _tables(votr, voxels, counts)))
    assert sorted(tables["tensor"][0][tables["tensor"][0] >= 0].tolist()) == [
        i for i, (_, z, y, x) in enumerate(voxels[:60].tolist()) if z < 5]
    ranges = torch.tensor([[0, 2, 1, 0, 2, 1, 0, 2, 1], [2, 5, 1, 2, 5, 2, 0, 3, 1]]).int()
    own = strides or (1, 1, 1)
    near = list(itertools.product(*(range(-1, s + 1) for s in reversed(own))))
    for kind, steps in (("local", near), ("strided", list(_steps(ranges.tolist(), own)))):
        wanted = list(_first(voxels, own, steps, tables["tensor"], width))
        for name, table in tables.items():
            out = torch.full((len(voxels), width), -1).int()
            size = (table.shape[1],) if name == "hash" else ()
            many = (1,) if kind == "local" else (2,)
            call = getattr(votr, f"{'sparse' if strides else 'subm'}_{kind}_attention_with_{name}_wrapper")
            call(7, 6, 5, *(strides or ()), len(voxels), width, *many, *size, out, voxels, table,
                 *(() if kind == "local" else (ranges,)))
            assert out.tolist() == wanted


def test_coarse_voxels(votr):
    voxels, _ = _voxels()
    made = {}
    for name, table, size in (("tensor", torch.full((2, 4, 3, 3), -1), ()), ("hash", torch.full((2, 50, 2), -1), (50,))):
        coarse, count, table = torch.full((2, 40, 3), -1).int(), torch.zeros(2).int(), table.int()
        getattr(votr, f"downsample_with_{name}_wrapper")(4, 3, 3, 2, 2, 2, len(voxels), 40, *size, voxels, coarse, table, count)
        for b in range(2):
            places = {(z // 2, y // 2, x // 2): None for own, z, y, x in voxels.tolist() if own == b}
            assert coarse[b, :count[b]].tolist() == [list(each) for each in places] and (coarse[b, count[b]:] == -1).all()
        made[name] = table
    for b, i in itertools.product(range(2), range(20)):
        z, y, x = coarse[b, i].tolist()
        assert made["tensor"][b, x, y, z] == i and [(x * 3 + y) * 3 + z, i] in made["hash"][b].tolist()
    with pytest.raises(ValueError, match="num_ds_voxels: wanted room for"):
        votr.downsample_with_tensor_wrapper(4, 3, 3, 2, 2, 2, 120, 5, voxels, coarse[:, :5], made["tensor"], count)
    with pytest.raises(ValueError, match="hash_size: wanted room for the .* voxels of sample 0, got 9"):
        votr.build_mapping_with_hash_wrapper(7, 6, 5, 120, 9, voxels, torch.tensor([60, 60]), torch.zeros(2, 9, 2).int())


def test_features_of_the_voxels_attended_to(votr):
    features, counts = torch.randn(9, 4), torch.tensor([5, 4]).int()
    idx, own = torch.tensor([[0, -1, 4], [-1, -1, -1], [3, 0, 0]]).int(), torch.tensor([2, 1]).int()
    out = torch.zeros(3, 4, 3)
    votr.group_features_wrapper(2, 3, 4, 3, features, counts, idx, own, out)
    rows = [[0, None, 4], [None] * 3, [8, 5, 5]]
    grad, back, wanted = torch.randn(3, 4, 3), torch.zeros(9, 4), torch.zeros(9, 4)
    votr.group_features_grad_wrapper(2, 3, 4, 9, 3, grad, idx, own, counts, back)
    for m, s in itertools.product(range(3), range(3)):
        row = rows[m][s]
        assert torch.equal(out[m, :, s], torch.zeros(4) if row is None else features[row])
        if row is not None:
            wanted[row] += grad[m, :, s]
    torch.testing.assert_close(back, wanted)
