"""Extensions for points, voxels and grids, called as their programs do, against plain torch in float64."""

import itertools
import math
import sys

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from dropin_doors import door, near, opened, random, uniform  # noqa: E402
from point_doors import furthest, squares  # noqa: E402


@pytest.fixture(autouse=True)
def doors(monkeypatch):
    with opened("mmdet3d", "pcdet", "pvcnn", "gridding", "emd", "pointops", "spconv",
                "torch_scatter", "torch_cluster", "pointnet2_ops"):
        yield


# ---- whole packages


@pytest.mark.parametrize("name", ["pointnet2", "pointnet2._ext", "spconv", "spconv.modules", "spconv.pytorch.ops", "spconv.ops",
                                  "spconv.conv", "torch_scatter", "torch_cluster", "gridding_distance"])
def test_imports(name):
    assert door(name).__doc__


def test_spconv_of_both_versions():
    """Version 1's weights are (k, k, k, C_in, C_out) and its tensors' features are set; version 2's are in spconv.pytorch."""
    one, two = door("spconv"), door("spconv.pytorch")
    indices = torch.tensor([[0, 1, 2, 3], [0, 4, 4, 4]]).int()
    x = one.SparseConvTensor(torch.ones(2, 3), indices, [6, 6, 6], 1)
    layer = one.SubMConv3d(3, 5, 3, indice_key="a")
    made = one.SparseSequential(layer)(x)
    made.features = torch.relu(made.features)
    assert layer.weight.shape == (3, 3, 3, 3, 5) and two.SubMConv3d(3, 5, 3).weight.shape == (5, 3, 3, 3, 3)
    assert isinstance(layer, one.SparseModule) and issubclass(one.SparseSequential, one.SparseModule)
    near(made.features, torch.relu(torch.ones(2, 3) @ layer.weight[1, 1, 1] + layer.bias), 1e-6)
    pairs = door("spconv.pytorch.ops").get_indice_pairs(indices, 1, [6, 6, 6], two.ConvAlgo.Native, 3, 1, 1, 1, 0, True)
    assert len(pairs) == 3 and door("spconv.ops").get_conv_output_size([6], [3], [2], [1], [1]) == [3]


def test_sparse_convolution_of_mmdet3d():
    ext, layer = door("sparse_conv_ext"), torch.nn.Conv3d(2, 3, 3, padding=1, bias=False).double()
    indices = torch.tensor([[0, 1, 2, 3], [0, 1, 2, 4], [0, 4, 4, 4], [0, 0, 0, 0]]).int()
    features = random(4, 2).requires_grad_()
    numbers = [6, 6, 6], [6, 6, 6], [3] * 3, [1] * 3, [1] * 3, [1] * 3, [0] * 3
    places, pairs, num = ext.get_indice_pairs_3d(indices, 1, *numbers, 1, 0)
    filters = layer.weight.detach().permute(2, 3, 4, 1, 0).contiguous().requires_grad_()
    dense = torch.zeros(1, 2, 6, 6, 6, dtype=torch.float64).index_put(
        (torch.zeros(4, 1).long(), torch.arange(2)[None], *(indices.long()[:, k, None] for k in (1, 2, 3))), features)
    at = tuple(indices.long()[:, k] for k in (1, 2, 3))
    wanted = torch.nn.functional.conv3d(dense, filters.permute(4, 3, 0, 1, 2), padding=1)[(0, slice(None), *at)].t()
    near(ext.indice_conv_fp32(features.detach(), filters.detach(), pairs, num, len(places), 0, 1), wanted)
    grad = random(4, 3, seed=1)
    found = ext.indice_conv_backward_fp32(features.detach(), filters.detach(), grad, pairs, num, 0, 1)
    for slope, expected in zip(found, torch.autograd.grad(wanted, (features, filters), grad)):
        near(slope, expected)


# ---- cameras to grids


def test_bev_pool_v2():
    ext = door("fork.bev_pool_v2_ext") if "fork" in sys.modules else door("bev_pool_v2_ext")
    depth, feat = uniform(1, 2, 3, 2, 2).requires_grad_(), random(1, 2, 2, 2, 4, seed=1).requires_grad_()
    ranks_depth = torch.randperm(24, generator=torch.Generator().manual_seed(2))[:18]
    ranks_feat = (ranks_depth // 12) * 4 + ranks_depth % 4
    ranks_bev = torch.randint(0, 10, (18,), generator=torch.Generator().manual_seed(3)).sort()[0]

    def runs(ranks):
        first = torch.cat([torch.ones(1, dtype=torch.bool), ranks[1:] != ranks[:-1]])
        starts = first.nonzero()[:, 0].int()
        return torch.diff(starts, append=torch.tensor([len(ranks)]).int()), starts

    wanted = torch.zeros(10, 4, dtype=torch.float64).index_add(
        0, ranks_bev, depth.flatten()[ranks_depth, None] * feat.reshape(-1, 4)[ranks_feat]).reshape(1, 1, 2, 5, 4)
    out = torch.zeros_like(wanted)
    ext.bev_pool_v2_forward(depth, feat, out, ranks_depth.int(), ranks_feat.int(), ranks_bev.int(), *runs(ranks_bev))
    near(out, wanted)
    order, grad = ranks_feat.argsort(), random(*wanted.shape, seed=4)
    buffers = torch.zeros_like(depth), torch.zeros_like(feat)
    ranks = ranks_depth[order].int(), ranks_feat[order].int(), ranks_bev[order].int()
    ext.bev_pool_v2_backward(grad, *buffers, depth, feat, *ranks, *runs(ranks[1]))
    for buffer, expected in zip(buffers, torch.autograd.grad(wanted, (depth, feat), grad)):
        near(buffer, expected)


# ---- boxes


def inside(point, box):
    """mmdet3d before 1.0: x, y, z of the bottom, w, l, h, turn."""
    x, y, z, w, l, h, turn = box.tolist()
    dx, dy, dz = point[0] - x, point[1] - y, point[2] - z
    angle = turn + math.pi / 2
    u, v = dx * math.cos(angle) - dy * math.sin(angle), dx * math.sin(angle) + dy * math.cos(angle)
    return 0 <= dz <= h and abs(u) < l / 2 and abs(v) < w / 2


def test_points_in_boxes_of_mmdet3d():
    ext, points = door("roiaware_pool3d_ext"), uniform(300, 3) * 6 - 3
    boxes = torch.cat([uniform(4, 3, seed=1) * 4 - 2, uniform(4, 3, seed=2) * 3 + 1, random(4, 1, seed=3)], 1)
    wanted = torch.tensor([[inside(p, b) for b in boxes] for p in points.tolist()])
    every, first = torch.zeros(1, 300, 4).int(), torch.full((1, 300), -1).int()
    ext.points_in_boxes_batch(boxes[None], points[None], every)
    ext.points_in_boxes_gpu(boxes[None], points[None], first)
    assert torch.equal(every[0].bool(), wanted) and wanted.any()
    assert first[0].tolist() == [row.index(True) if any(row) else -1 for row in wanted.tolist()]
    table = torch.zeros(4, 300).int()
    ext.points_in_boxes_cpu(boxes, points, table)
    assert torch.equal(table.bool(), wanted.t())
    pooled, argmax = torch.zeros(4, 2, 2, 2, 5, dtype=torch.float64), torch.zeros(4, 2, 2, 2, 5).int()
    ext.forward(boxes, points, random(300, 5), argmax, torch.zeros(4, 2, 2, 2, 64).int(), pooled, 1)
    assert (pooled != 0).any()


def test_roi_pooling_of_pointrcnn():
    """Boxes of a camera: x, y of the bottom, z, h, w, l, turn round y."""
    ext, points, features = door("roipool3d_cuda"), uniform(1, 200, 3) * 6 - 3, random(1, 200, 2)
    boxes = torch.cat([uniform(3, 3, seed=1) * 2, uniform(3, 3, seed=2) * 3 + 1, random(3, 1, seed=3)], 1)

    def within(p, box):
        x, y, z, h, w, l, turn = box
        dx, dz = p[0] - x, p[2] - z
        u, v = dx * math.cos(turn) - dz * math.sin(turn), dx * math.sin(turn) + dz * math.cos(turn)
        return abs(p[1] - (y - h / 2)) <= h / 2 and abs(u) <= l / 2 and abs(v) <= w / 2

    wanted = torch.tensor([[within(p, b) for p in points[0].tolist()] for b in boxes.tolist()])
    flags = torch.zeros(3, 200, dtype=torch.int64)
    ext.pts_in_boxes3d_cpu(flags, points[0], boxes)
    assert torch.equal(flags.bool(), wanted) and wanted.any()
    pooled, empty = torch.zeros(1, 3, 8, 5, dtype=torch.float64), torch.zeros(1, 3).int()
    ext.forward(points, boxes[None], features, pooled, empty)
    split = [torch.zeros(3, 8, 3).double(), torch.zeros(3, 8, 2).double(), torch.zeros(3).long()]
    ext.roipool3d_cpu(points[0], boxes, features[0], *split)
    for b in range(3):
        rows = wanted[b].nonzero()[:, 0]
        assert bool(empty[0, b]) == (len(rows) == 0) == bool(split[2][b])
        if len(rows):
            rows = rows[torch.arange(8) % min(len(rows), 8)] if len(rows) < 8 else rows[:8]
            near(pooled[0, b], torch.cat([points[0, rows], features[0, rows]], 1))
            near(torch.cat([split[0][b], split[1][b]], 1), pooled[0, b])


# ---- PVCNN


def test_voxels_of_pvcnn():
    ext, r = door("_pvcnn_backend"), 4
    features, coords = random(2, 3, 20).requires_grad_(), torch.randint(0, r, (2, 3, 20)).int()
    index = (coords[:, 0].long() * r + coords[:, 1]) * r + coords[:, 2]
    sums = torch.stack([torch.zeros(3, r ** 3, dtype=torch.float64).index_add(1, i, f) for i, f in zip(index, features)])
    counts = torch.stack([i.bincount(minlength=r ** 3) for i in index])
    wanted = sums / counts.clamp(min=1)[:, None]
    out, found, count = ext.avg_voxelize_forward(features, coords, r)
    near(out, wanted)
    assert torch.equal(found.long(), index) and torch.equal(count.long(), counts)
    grad = random(2, 3, r ** 3, seed=1)
    near(ext.avg_voxelize_backward(grad, found, count), torch.autograd.grad(wanted, features, grad)[0])
    with pytest.raises(ValueError, match="coords: wanted voxels of a cube of 4"):
        ext.avg_voxelize_forward(features, coords + 9, r)


def test_devoxelization_of_pvcnn():
    ext, r = door("_pvcnn_backend"), 4
    cube, coords = random(2, 3, r ** 3).requires_grad_(), uniform(2, 3, 20, seed=1) * (r - 1)
    coords[0, :, 0] = torch.tensor([3.0, 0.0, 2.0])
    parts = []
    for b in range(2):
        for p in coords[b].t().tolist():
            total = 0
            for corner in itertools.product((0, 1), repeat=3):
                at = [min(math.floor(v) + c, r - 1) for v, c in zip(p, corner)]
                weight = math.prod((v - math.floor(v)) if c else 1 - (v - math.floor(v)) for v, c in zip(p, corner))
                total = total + weight * cube[b, :, (at[0] * r + at[1]) * r + at[2]]
            parts.append(total)
    wanted = torch.stack(parts).reshape(2, 20, 3).transpose(1, 2)
    out, index, weights = ext.trilinear_devoxelize_forward(r, True, coords, cube)
    near(out, wanted)
    grad = random(2, 3, 20, seed=2)
    near(ext.trilinear_devoxelize_backward(grad, index, weights, r), torch.autograd.grad(wanted, cube, grad)[0])


def test_points_of_pvcnn():
    ext, xyz, centers, features = door("_pvcnn_backend"), uniform(2, 3, 30), uniform(2, 3, 7, seed=1), random(2, 4, 7)
    out, index, weights = ext.three_nearest_neighbors_interpolate_forward(xyz, centers, features.requires_grad_())
    table = squares(xyz.transpose(1, 2), centers.transpose(1, 2))
    near_squares, order = table.topk(3, 2, largest=False)
    share = 1 / near_squares.clamp(min=1e-10)
    share = share / share.sum(2, keepdim=True)
    wanted = torch.stack([(f[:, o] * w).sum(2) for f, o, w in zip(features, order, share)])
    assert torch.equal(index.long(), order.transpose(1, 2))
    near(weights, share.transpose(1, 2), 1e-6)
    near(out, wanted, 1e-6)
    grad = random(*wanted.shape, seed=3)
    near(ext.three_nearest_neighbors_interpolate_backward(grad, index, weights, 7),
         torch.autograd.grad(wanted, features, grad)[0], 1e-6)
    assert ext.furthest_point_sampling(xyz, 5).tolist() == [furthest(each.t(), 5) for each in xyz]
    balls = ext.ball_query(centers, xyz, 0.4, 6)
    assert balls.shape == (2, 7, 6) and ext.grouping_forward(random(2, 4, 30), balls).shape == (2, 4, 7, 6)


# ---- grids of GRNet


class Gridding(torch.autograd.Function):
    @staticmethod
    def forward(ctx, points):
        grid, weights, index = door("gridding").forward(-4, 3, -4, 3, -4, 3, points)
        ctx.save_for_backward(weights, index)
        return grid

    @staticmethod
    def backward(ctx, grad):
        return door("gridding").backward(*ctx.saved_tensors, grad)


def test_gridding():
    points = (uniform(2, 9, 3) * 6 - 3.5).requires_grad_()
    axes = torch.arange(-4, 4).double()
    vertices = torch.stack(torch.meshgrid(axes, axes, axes, indexing="ij"), 3).reshape(-1, 3)
    wanted = (1 - (points[:, :, None] - vertices).abs()).clamp(min=0).prod(3).sum(1)
    near(Gridding.apply(points), wanted)
    grad = random(*wanted.shape, seed=1)
    near(torch.autograd.grad(Gridding.apply(points), points, grad)[0], torch.autograd.grad(wanted, points, grad)[0])
    with pytest.raises(ValueError, match="ptcloud: wanted points whose cells are inside"):
        door("gridding").forward(-4, 3, -4, 3, -4, 3, points + 9)


def test_grid_to_points():
    ext, scale, grid = door("gridding"), 4, uniform(2, 4, 4, 4)
    grid[0, :2, :2, :2] = 0
    grid.requires_grad_()
    rows = []
    for b in range(2):
        for i, j, k in itertools.product(range(scale), repeat=3):
            corners = [(i - 1 + a, j - 1 + c, k - 1 + e) for a, c, e in itertools.product((0, 1), repeat=3)]
            total = sum(grid[b][c] for c in corners) if min(i, j, k) > 0 else torch.zeros(())
            if min(i, j, k) == 0 or total < 1e-6:
                rows.append(torch.zeros(3, dtype=torch.float64))
            else:
                rows.append(sum(grid[b][c] / total * (torch.tensor(c) - scale // 2) for c in corners))
    wanted = torch.stack(rows).reshape(2, -1, 3)
    made = ext.rev_forward(scale, grid.detach())
    near(made, wanted)
    grad = random(*wanted.shape, seed=1)
    near(ext.rev_backward(made, grid.detach(), grad).reshape(grid.shape), torch.autograd.grad(wanted, grid, grad)[0])


@pytest.mark.parametrize("reach", [1, 2])
def test_cubic_feature_sampling(reach):
    ext, scale = door("cubic_feature_sampling"), 4
    cube, points = random(2, 3, 4, 4, 4).requires_grad_(), uniform(2, 6, 3, seed=1) * 5 - 0.5
    rows = []
    for b in range(2):
        for p in points[b].tolist():
            low = [math.floor(v) for v in p]
            for step in itertools.product(range(1 - reach, reach + 1), repeat=3):
                at = [v + s for v, s in zip(low, step)]
                rows.append(cube[(b, slice(None), *at)] if all(0 <= v < scale for v in at) else cube.new_zeros(3))
    wanted = torch.stack(rows).reshape(2, 6, -1, 3)
    made, index = ext.forward(scale, reach, points, cube)
    near(made, wanted)
    grad = random(*wanted.shape, seed=2)
    of_points, of_cube = ext.backward(scale, reach, grad, index)
    near(of_cube, torch.autograd.grad(wanted, cube, grad)[0])
    assert not of_points.any()


# ---- earth mover's distance


def auction(one, two, eps, rounds):
    b, n, _ = one.shape
    dist, target = torch.zeros(b, n), torch.zeros(b, n).int()
    scratch = [torch.zeros(1)] * 10
    door("emd").forward(one, two, dist, target, *scratch, eps, rounds)
    return dist, target


def least_assignment(cost):
    """The column of each row in an assignment of least cost: the Hungarian algorithm with potentials, rows added one by one.
    Row and column 0 are none."""
    n = len(cost)
    of_row, of_column, row_of = np.zeros(n + 1), np.zeros(n + 1), np.zeros(n + 1, np.int64)
    for row in range(1, n + 1):
        row_of[0], column = row, 0
        least, before, used = np.full(n + 1, np.inf), np.zeros(n + 1, np.int64), np.zeros(n + 1, bool)
        while row_of[column]:
            used[column], at = True, row_of[column]
            slack = np.r_[np.inf, cost[at - 1] - of_row[at] - of_column[1:]]
            better = ~used & (slack < least)
            least[better], before[better] = slack[better], column
            column = int(np.where(used, np.inf, least).argmin())
            step = least[column]
            of_row[row_of[used]] += step
            of_column[used] -= step
            least[~used] -= step
        while column:
            row_of[column], column = row_of[before[column]], before[column]
    return np.argsort(row_of[1:])


def test_the_least_assignment_of_few_points():
    for seed in range(5):
        cost = squares(uniform(6, 3, seed=seed), uniform(6, 3, seed=seed + 9)).sqrt().numpy()
        found = cost[range(6), least_assignment(cost)].sum()
        assert abs(found - min(cost[range(6), order].sum() for order in itertools.permutations(range(6)))) < 1e-9


def test_auction_against_the_least_assignment():
    one, two = uniform(3, 64, 3), uniform(3, 64, 3, seed=1)
    dist, target = auction(one, two, 1e-4, 5000)
    for b in range(3):
        cost = squares(one[b], two[b]).sqrt().numpy()
        rows, columns = np.arange(64), least_assignment(cost)
        assert sorted(target[b].tolist()) == list(range(64))
        least, found = cost[rows, columns].sum(), dist[b].sqrt().sum().item()
        assert least - 1e-4 <= found <= least + 64 * 1e-4 + 1e-4  # an auction's bound: eps a point


def test_auction():
    one, two = uniform(2, 40, 3), uniform(2, 40, 3, seed=1)
    before = torch.get_num_threads()
    dist, target = auction(one, two, 0.005, 50)
    torch.set_num_threads(1)
    assert torch.equal(auction(one, two, 0.005, 50)[1], target)
    torch.set_num_threads(before)
    near(dist, torch.stack([(a - b[t.long()]).square().sum(1) for a, b, t in zip(one, two, target)]), 1e-6)
    assert (auction(one, two, 0.005, 2)[1] >= 0).all()  # in the last round each takes what it bids for
    assert torch.equal(auction(one, one, 0.005, 50)[1][0], torch.arange(40).int())
    gradient = torch.zeros_like(one)
    door("emd").backward(one, two, gradient, torch.ones(2, 40).double(), target)
    near(gradient, 2 * (one - torch.stack([b[t.long()] for b, t in zip(two, target)])))


@pytest.mark.parametrize("n, m", [(6, 6), (8, 4), (4, 8)])
def test_soft_matching(n, m):
    ext, one, two = door("emd_cuda"), uniform(2, n, 3).requires_grad_(), uniform(2, m, 3, seed=1).requires_grad_()
    match = ext.approxmatch_forward(one, two)
    assert match.shape == (2, m, n) and (match >= 0).all()
    near(match.sum(1), torch.full((2, n), float(max(m // n, 1))).double(), 2e-2)
    cost = (squares(two, one).sqrt() * match).sum((1, 2))
    distance = (two[:, :, None] - one[:, None]).norm(dim=3)
    near(ext.matchcost_forward(one, two, match), cost)
    grad = random(2, seed=2)
    for found, expected in zip(ext.matchcost_backward(grad, one, two, match),
                               torch.autograd.grad((distance * match).sum((1, 2)), (one, two), grad)):
        near(found, expected)


# ---- pointops


def test_pointops_of_batches():
    """The earlier generation calls functions of the same names with sizes and batches."""
    ext, xyz, features = door("pointops_cuda"), uniform(2, 30, 3).float(), random(2, 4, 30).float()
    idx, dist2 = torch.zeros(2, 7, 5).int(), torch.zeros(2, 7, 5)
    ext.knnquery_cuda(2, 30, 7, 5, xyz, xyz[:, :7].contiguous(), idx, dist2)
    wanted, order = squares(xyz[:, :7], xyz).topk(5, 2, largest=False)
    assert torch.equal(idx.long(), order)
    near(dist2, wanted, 1e-5)
    out = torch.zeros(2, 4, 7, 5)
    ext.grouping_forward_cuda(2, 4, 30, 7, 5, features, idx, out)
    near(out, torch.stack([f[:, i] for f, i in zip(features, order)]).double(), 0)
    gradient = torch.zeros(2, 4, 30)
    ext.grouping_backward_cuda(2, 4, 30, 7, 5, torch.ones_like(out), idx, gradient)
    assert gradient.sum() == 2 * 4 * 35
    picked = torch.zeros(2, 6).int()
    ext.furthestsampling_cuda(2, 30, 6, xyz, torch.full((2, 30), 1e10), picked)
    assert picked.tolist() == [furthest(each, 6) for each in xyz]
    labels, sums = torch.randint(0, 9, (2, 30, 3)).int(), torch.zeros(2, 7, 3).int()
    ext.labelstat_idx_cuda(2, 30, 7, 5, 3, labels, idx, sums)
    assert torch.equal(sums, torch.stack([lab[i].sum(1) for lab, i in zip(labels, order)]).int())
    ext.labelstat_ballrange_cuda(2, 30, 7, 0.4, 3, xyz[:, :7].contiguous(), xyz, labels, sums)
    within = squares(xyz[:, :7], xyz) < 0.16
    assert torch.equal(sums.long(), (within.long()[..., None] * labels[:, None]).sum(2))


def stratified():
    n, h, d, m, size = 6, 2, 3, 20, 5
    offsets = torch.tensor([0, 3, 7, 7, 12, 15, 20]).int()
    i = torch.arange(n).repeat_interleave(torch.diff(offsets).long())
    j = torch.randint(0, n, (m,), generator=torch.Generator().manual_seed(0))
    places = torch.randint(0, size, (m, 3), generator=torch.Generator().manual_seed(1))
    q, k, v = (random(n, h, d, seed=s).requires_grad_() for s in (2, 3, 4))
    tables = [random(size, h, d, 3, seed=s).requires_grad_() for s in (5, 6)]
    return offsets, i, j, places, q, k, v, tables, random(m, h, seed=7).requires_grad_()


def of_table(table, places):
    return sum(table[places[:, a], :, :, a] for a in range(3))


def check(forward, backward, wanted, inputs, sizes, before, between=()):
    """The extension's two functions against a composition; between stands after the output's gradient."""
    ext = door("pointops2_cuda")
    output = torch.zeros_like(wanted)
    getattr(ext, forward)(*sizes, *before, output)
    near(output, wanted)
    grad, buffers = random(*wanted.shape, seed=9), [torch.zeros_like(each) for each in inputs]
    getattr(ext, backward)(*sizes, grad, *(between or before), *buffers)
    for buffer, expected in zip(buffers, torch.autograd.grad(wanted, inputs, grad, retain_graph=True)):
        near(buffer, expected)


def test_attention_of_stratified_transformer():
    offsets, i, j, places, q, k, v, (tq, tk), attn = stratified()
    n, m, h, d = 6, 20, 2, 3
    relation = (q[i] * k[j]).sum(2)
    check("attention_step1_forward_cuda", "attention_step1_backward_cuda", relation, (q, k), (n, m, h, h * d),
          (q, k, i.int(), j.int()), (i.int(), j.int(), q, k))
    check("attention_step1_forward_cuda_v2", "attention_step1_backward_cuda_v2", relation, (q, k), (n, m, h, h * d, 9),
          (q, k, offsets, j.int()), (offsets, j.int(), q, k))
    sums = torch.zeros(n, h, d, dtype=torch.float64).index_add(0, i, attn[..., None] * v[j])
    check("attention_step2_forward_cuda", "attention_step2_backward_cuda", sums, (attn, v), (n, m, h, h * d),
          (attn, v, i.int(), j.int()), (i.int(), j.int(), attn, v))
    check("attention_step2_forward_cuda_v2", "attention_step2_backward_cuda_v2", sums, (attn, v), (n, m, h, h * d, 9),
          (attn, v, offsets, j.int()), (offsets, j.int(), attn, v))


def test_tables_of_stratified_transformer():
    offsets, i, j, places, q, k, v, (tq, tk), attn = stratified()
    sizes, p = (6, 20, 2, 3), places.int()
    of_q = (q[i] * of_table(tq, places)).sum(2)
    check("dot_prod_with_idx_forward_cuda", "dot_prod_with_idx_backward_cuda", of_q, (q, tq), sizes, (q, i.int(), tq, p))
    both = of_q + (k[j] * of_table(tk, places)).sum(2)
    inputs = (q, k, tq, tk)
    check("dot_prod_with_idx_forward_cuda_v3", "dot_prod_with_idx_backward_cuda_v3", both, inputs, (*sizes, 9),
          (q, offsets, k, j.int(), tq, tk, p))
    scratch = torch.zeros(3).int()
    check("dot_prod_with_idx_forward_cuda_v2", "dot_prod_with_idx_backward_cuda_v2", both, inputs, (*sizes, 9, 2),
          (q, i.int(), k, j.int(), tq, tk, p, scratch, scratch))
    values = torch.zeros(6, 2, 3, dtype=torch.float64).index_add(0, i, attn[..., None] * (v[j] + of_table(tq, places)))
    name = "attention_step2_with_rel_pos_value_{}_cuda"
    check(name.format("forward"), name.format("backward"), values, (attn, v, tq), sizes, (attn, v, i.int(), j.int(), tq, p),
          (i.int(), j.int(), attn, v, tq, p))
    check(name.format("forward") + "_v2", name.format("backward") + "_v2", values, (attn, v, tq), (*sizes, 9),
          (attn, v, offsets, j.int(), tq, p), (offsets, j.int(), attn, v, tq, p))
