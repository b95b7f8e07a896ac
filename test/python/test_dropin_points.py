"""The point and box extensions that mluops.dropin stands for, called as their programs do: OpenPCDet's, Pointnet2_PyTorch's,
Point Transformer's, Pointcept's; against plain loops and compositions in double."""

import importlib
import math
import sys
import warnings

import pytest

torch = pytest.importorskip("torch")

import mluops.dropin as dropin  # noqa: E402
import mluops.torch as mt  # noqa: E402
from mluops.dropin.module import pointnet2_ops_ext as _ext  # noqa: E402


@pytest.fixture(autouse=True)
def doors():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        dropin.install("pcdet", "pointops", "pointnet2_ops")
        yield
    dropin.uninstall()


def door(name):
    return importlib.import_module(name)


def cloud(*shape, seed=0):
    return torch.rand(*shape, generator=torch.Generator().manual_seed(seed))


def near(found, wanted, limit=1e-5):
    assert found.shape == wanted.shape
    largest = wanted.double().abs().max().item() if wanted.numel() else 0.0
    assert ((found.double() - wanted.double()).abs() <= limit * max(1.0, largest)).all()


def squares(a, b):
    return ((a.double()[..., :, None, :] - b.double()[..., None, :, :]) ** 2).sum(-1)


def in_ball(table, radius, nsample, empty=0):
    """Rows of the first columns within the radius, filled up with the first."""
    rows = []
    for row in table.tolist():
        found = [k for k, square in enumerate(row) if square < radius ** 2][:nsample]
        rows.append(found + [found[0] if found else 0] * (nsample - len(found)) if found else
                    [empty] + [0] * (nsample - 1))
    return rows


def furthest(points, count):
    points, picked, best = points.double(), [0], None
    while len(picked) < count:
        distance = ((points - points[picked[-1]]) ** 2).sum(1)
        best = distance if best is None else torch.minimum(best, distance)
        picked.append(int(best.argmax()))
    return picked


# ---- one row a cloud: pointnet2_batch_cuda, pointnet2_ops._ext


@pytest.mark.parametrize("name", ["pointnet2_batch_cuda", "pointnet2_cuda"])
def test_batch_queries(name):
    module, xyz, centers = door(name), cloud(2, 60, 3), cloud(2, 7, 3, seed=1)
    idx = torch.zeros(2, 7, 5, dtype=torch.int32)
    assert module.ball_query_wrapper(2, 60, 7, 0.3, 5, centers, xyz, idx) == 1
    assert idx.tolist() == [in_ball(table, 0.3, 5) for table in squares(centers, xyz)]
    picked = torch.zeros(2, 9, dtype=torch.int32)
    module.farthest_point_sampling_wrapper(2, 60, 9, xyz, torch.full((2, 60), 1e10), picked)
    assert picked.tolist() == [furthest(each, 9) for each in xyz]
    dist2, idx3 = torch.zeros(2, 60, 3), torch.zeros(2, 60, 3, dtype=torch.int32)
    module.three_nn_wrapper(2, 60, 7, xyz, centers, dist2, idx3)
    wanted, order = squares(xyz, centers).topk(3, 2, largest=False)
    near(dist2, wanted)
    assert torch.equal(idx3.long(), order)


def test_batch_gathers():
    module, features = door("pointnet2_batch_cuda"), cloud(2, 4, 20)
    idx = torch.randint(20, (2, 6, 3), generator=torch.Generator().manual_seed(2)).int()
    grouped, grad = torch.empty(2, 4, 6, 3), cloud(2, 4, 6, 3, seed=3)
    module.group_points_wrapper(2, 4, 20, 6, 3, features, idx, grouped)
    wide = features.double().requires_grad_()
    wanted = torch.stack([f[:, i.long()] for f, i in zip(wide, idx)])
    assert torch.equal(grouped.double(), wanted)
    grad_features = torch.zeros(2, 4, 20)
    module.group_points_grad_wrapper(2, 4, 20, 6, 3, grad, idx, grad_features)
    near(grad_features, torch.autograd.grad(wanted, wide, grad.double())[0])
    gathered = torch.empty(2, 4, 6)
    module.gather_points_wrapper(2, 4, 20, 6, features, idx[:, :, 0].contiguous(), gathered)
    assert torch.equal(gathered, grouped[..., 0])
    module.gather_points_grad_wrapper(2, 4, 20, 6, grad[..., 0].contiguous(), idx[:, :, 0].contiguous(), grad_features)
    only_first = torch.zeros_like(grad)
    only_first[..., 0] = grad[..., 0]
    wanted = torch.stack([f[:, i.long()] for f, i in zip(wide, idx)])
    near(grad_features, torch.autograd.grad(wanted, wide, only_first.double())[0])


def test_batch_interpolation():
    module, features, weight = door("pointnet2_batch_cuda"), cloud(2, 4, 20), cloud(2, 6, 3, seed=1)
    idx = torch.randint(20, (2, 6, 3), generator=torch.Generator().manual_seed(2)).int()
    out, grad, grad_features = torch.empty(2, 4, 6), cloud(2, 4, 6, seed=3), torch.zeros(2, 4, 20)
    module.three_interpolate_wrapper(2, 4, 20, 6, features, idx, weight, out)
    wide = features.double().requires_grad_()
    wanted = torch.stack([(f[:, i.long()] * w.double()).sum(2) for f, i, w in zip(wide, idx, weight)])
    near(out, wanted)
    module.three_interpolate_grad_wrapper(2, 4, 6, 20, grad, idx, weight, grad_features)
    near(grad_features, torch.autograd.grad(wanted, wide, grad.double())[0])


def test_pointnet2_ops():
    """Its functions return what the wrappers of the others fill."""
    xyz, centers, features = cloud(2, 60, 3).add(0.1), cloud(2, 7, 3, seed=1), cloud(2, 4, 60)
    idx = _ext.ball_query(centers, xyz, 0.3, 5)
    assert idx.dtype == torch.int32
    assert idx.tolist() == [in_ball(table, 0.3, 5) for table in squares(centers, xyz)]
    assert _ext.furthest_point_sampling(xyz, 9).tolist() == [furthest(each, 9) for each in xyz]
    grouped = _ext.group_points(features, idx)
    wide = features.double().requires_grad_()
    wanted = torch.stack([f[:, i.long()] for f, i in zip(wide, idx)])
    assert torch.equal(grouped.double(), wanted)
    near(_ext.group_points_grad(grouped, idx, 60), torch.autograd.grad(wanted, wide, wanted)[0])
    assert torch.equal(_ext.gather_points(features, idx[..., 0].contiguous()), grouped[..., 0])
    assert _ext.gather_points_grad(grouped[..., 0].contiguous(), idx[..., 0].contiguous(), 60).shape == features.shape
    dist2, idx3 = _ext.three_nn(xyz, centers)
    assert torch.equal(idx3.long(), squares(xyz, centers).topk(3, 2, largest=False)[1])
    near(dist2, squares(xyz, centers).topk(3, 2, largest=False)[0])
    few = features[..., :7].contiguous()
    back = _ext.three_interpolate(few, idx3, dist2)
    assert back.shape == features.shape
    assert _ext.three_interpolate_grad(back, idx3, dist2, 7).shape == few.shape


def test_pointnet2_ops_never_picks_padding():
    """Points within a squared distance of 1e-3 of the origin, if not the first."""
    xyz = cloud(1, 40, 3).add(0.5)
    xyz[0, 10:20] = 0.01
    found = _ext.furthest_point_sampling(xyz, 30)[0].tolist()
    rest = [k for k in range(40) if not 10 <= k < 20]
    assert found == [rest[k] for k in furthest(xyz[0, rest], 30)]
    xyz[0, 0] = 0
    assert _ext.furthest_point_sampling(xyz, 2)[0].tolist() == [0, int(xyz[0].pow(2).sum(1).argmax())]


# ---- clouds one behind the other: pointnet2_stack_cuda


COUNTS, CENTERS = torch.tensor([30, 0, 25]).int(), torch.tensor([4, 2, 5]).int()


def parts(counts):
    ends = counts.cumsum(0).tolist()
    return [slice(first, last) for first, last in zip([0, *ends], ends)]


def test_stacked_ball_query():
    module, xyz, centers = door("pointnet2_stack_cuda"), cloud(55, 3), cloud(11, 3, seed=1)
    idx = torch.zeros(11, 6, dtype=torch.int32)
    assert module.ball_query_wrapper(3, 11, 0.25, 6, centers, CENTERS, xyz, COUNTS, idx) == 1
    wanted = [row for points, of in zip(parts(COUNTS), parts(CENTERS))
              for row in in_ball(squares(centers[of], xyz[points]), 0.25, 6, empty=-1)]
    assert idx.tolist() == [[-1] + [0] * 5 if row[0] == -1 else row for row in wanted]
    assert (idx[:, 0] == -1).any() and (idx[:, 0] > 0).any()
    # Point 0 in the ball is not an empty ball.
    at_point = torch.zeros(1, 2, dtype=torch.int32)
    module.ball_query_wrapper(1, 1, 0.01, 2, xyz[:1], torch.ones(1).int(), xyz, torch.tensor([55]), at_point)
    assert at_point.tolist() == [[0, 0]]


def test_stacked_groups():
    module, features = door("pointnet2_stack_cuda"), cloud(55, 4)
    counts = torch.tensor([30, 25]).int()
    idx = torch.randint(25, (9, 3), generator=torch.Generator().manual_seed(1)).int()
    of_each = torch.tensor([4, 5]).int()
    out, grad, grad_features = torch.empty(9, 4, 3), cloud(9, 4, 3, seed=2), torch.zeros(55, 4)
    module.group_points_wrapper(2, 9, 4, 3, features, counts, idx, of_each, out)
    wide = features.double().requires_grad_()
    rows = torch.cat([idx[:4], idx[4:] + 30]).long()
    wanted = wide[rows].transpose(1, 2)
    assert torch.equal(out.double(), wanted)
    module.group_points_grad_wrapper(2, 9, 4, 55, 3, grad, idx, of_each, counts, grad_features)
    near(grad_features, torch.autograd.grad(wanted, wide, grad.double())[0])


def test_stacked_sampling():
    module, xyz, counts = door("pointnet2_stack_cuda"), cloud(55, 3), torch.tensor([30, 25]).int()
    out = torch.empty(11, dtype=torch.int32)
    module.stack_farthest_point_sampling_wrapper(xyz, torch.full((55,), 1e10), counts, out, torch.tensor([6, 5]).int())
    assert out.tolist() == furthest(xyz[:30], 6) + [30 + k for k in furthest(xyz[30:], 5)]


def test_stacked_interpolation():
    module, known, unknown = door("pointnet2_stack_cuda"), cloud(9, 3), cloud(12, 3, seed=1)
    dist2, idx = torch.zeros(12, 3), torch.zeros(12, 3, dtype=torch.int32)
    module.three_nn_wrapper(unknown, torch.tensor([7, 5]).int(), known, torch.tensor([5, 4]).int(), dist2, idx)
    tables = squares(unknown[:7], known[:5]), squares(unknown[7:], known[5:])
    near(dist2, torch.cat([table.topk(3, 1, largest=False)[0] for table in tables]))
    wanted = [table.topk(3, 1, largest=False)[1] + first for table, first in zip(tables, (0, 5))]
    assert torch.equal(idx.long(), torch.cat(wanted))
    features, weight, out = cloud(9, 4, seed=2), cloud(12, 3, seed=3), torch.zeros(12, 4)
    module.three_interpolate_wrapper(features, idx, weight, out)
    wide = features.double().requires_grad_()
    wanted = (wide[idx.long()] * weight.double()[..., None]).sum(1)
    near(out, wanted)
    grad_features = torch.zeros(9, 4)
    module.three_interpolate_grad_wrapper(out, idx, weight, grad_features)
    near(grad_features, torch.autograd.grad(wanted, wide, out.double())[0])


def test_voxel_query():
    """The first points in the ball, voxel by voxel, x fastest."""
    module, generator = door("pointnet2_stack_cuda"), torch.Generator().manual_seed(4)
    shape = 2, 4, 5, 6
    point_of = torch.full(shape, -1, dtype=torch.int32)
    places = torch.randperm(240, generator=generator)[:80]
    point_of.view(-1)[places] = torch.arange(80, dtype=torch.int32)
    z, y, x = (torch.div(places, 30, rounding_mode="floor") % 4, torch.div(places, 6, rounding_mode="floor") % 5,
               places % 6)
    xyz = torch.stack([x, y, z], 1).float() + torch.rand(80, 3, generator=generator) * 0.5
    coords = torch.stack([torch.randint(size, (20,), generator=generator) for size in shape], 1).int()
    centers = coords[:, [3, 2, 1]].float()
    centers[0] = 100  # far from what lies round its voxel
    idx = torch.zeros(20, 4, dtype=torch.int32)
    module.voxel_query_wrapper(20, 4, 5, 6, 4, 1.3, 1, 1, 2, centers, xyz, coords, point_of, idx)
    for row, (b, cz, cy, cx) in enumerate(coords.tolist()):
        found = []
        for dz in (-1, 0, 1):
            for dy in (-1, 0, 1):
                for dx in (-2, -1, 0, 1, 2):
                    at = cz + dz, cy + dy, cx + dx
                    if all(0 <= k < size for k, size in zip(at, shape[1:])) and point_of[(b, *at)] >= 0:
                        point = int(point_of[(b, *at)])
                        if (xyz[point].double() - centers[row].double()).pow(2).sum() <= 1.3 ** 2:
                            found.append(point)
        found = found[:4]
        assert idx[row].tolist() == (found + [found[0]] * (4 - len(found)) if found else [-1, 0, 0, 0])
    assert (idx[:, 0] == -1).any() and (idx[:, 0] >= 0).any()


# ---- boxes: iou3d_nms_cuda, roiaware_pool3d_cuda, roipoint_pool3d_cuda


def boxes(count, seed=0):
    found = cloud(count, 7, seed=seed).mul(4).add(0.5)
    found[:, 6] *= 0.7
    return found


def test_overlaps():
    module, a, b = door("pcdet.ops.iou3d_nms.iou3d_nms_cuda".rpartition(".")[2]), boxes(70), boxes(70, seed=1)
    area, pairs = torch.zeros(70, 70), torch.zeros(70, 1)
    assert module.boxes_overlap_bev_gpu(a, b, area) == 1
    near(area, mt.boxes_overlap_bev(a.double(), b.double()), 1e-4)
    for name in ("boxes_aligned_overlap_bev_gpu", "paired_boxes_overlap_bev_gpu"):
        getattr(module, name)(a, b, pairs)
        assert torch.equal(pairs[:, 0], area.diagonal())
    iou = torch.zeros(70, 70)
    module.boxes_iou_bev_gpu(a, b, iou)
    of_each = a[:, 3] * a[:, 4], b[:, 3] * b[:, 4]
    near(iou, area / (of_each[0][:, None] + of_each[1] - area))
    module.boxes_iou_bev_cpu(a, a, iou)
    near(iou.diagonal(), torch.ones(70), 1e-4)
    module.boxes_aligned_iou_bev_cpu(a, b, pairs)
    near(pairs[:, 0], (area / (of_each[0][:, None] + of_each[1] - area)).diagonal())
    module.boxes_aligned_overlap_bev_gpu(a[:0], b[:0], pairs[:0])


def test_overlap_of_a_known_square():
    a = torch.tensor([[1.0, 1.0, 1.0, 2.0, 2.0, 2.0, 0.0]])
    b = torch.tensor([[1.0, 1.0, 1.0, 2.0, 2.0, 2.0, math.pi / 4]])
    area = torch.zeros(1, 1)
    door("iou3d_nms_cuda").boxes_aligned_overlap_bev_gpu(a, b, area)
    near(area, torch.tensor([[8 * (math.sqrt(2) - 1)]]), 1e-4)


@pytest.mark.parametrize("name", ["nms_gpu", "nms_normal_gpu"])
def test_nms(name):
    module, found = door("iou3d_nms_cuda"), boxes(40)
    keep = torch.full((40,), -7)
    count = getattr(module, name)(found, keep, 0.2)
    straight = found.clone()
    if name == "nms_normal_gpu":
        straight[:, 6] = 0
    iou = torch.zeros(40, 40)
    module.boxes_iou_bev_gpu(straight, straight, iou)
    wanted = []
    for i in range(40):
        if all(iou[k, i] <= 0.2 for k in wanted):
            wanted.append(i)
    assert keep[:count].tolist() == wanted and 1 < count < 40
    assert (keep[count:] == -7).all()


def inside(points, found, margin):
    """[N, M] of boxes round their centre."""
    shift = points.double()[None] - found.double()[:, None, :3]
    cosine, sine = found.double()[:, 6].cos()[:, None], found.double()[:, 6].sin()[:, None]
    x, y = shift[..., 0] * cosine + shift[..., 1] * sine, shift[..., 1] * cosine - shift[..., 0] * sine
    half = found.double()[:, None, 3:6] / 2
    return (x.abs() < half[..., 0] + margin) & (y.abs() < half[..., 1] + margin) & (shift[..., 2].abs() <= half[..., 2])


def test_points_in_boxes():
    """Boxes round their centre: OpenPCDet's, not mmcv's."""
    module, found, points = door("roiaware_pool3d_cuda"), boxes(9), cloud(300, 3, seed=2).mul(5)
    flags = torch.zeros(9, 300, dtype=torch.int32)
    module.points_in_boxes_cpu(found, points, flags)
    assert torch.equal(flags.bool(), inside(points, found, 1e-2)) and flags.any()
    first = torch.full((1, 300), -1, dtype=torch.int32)
    module.points_in_boxes_gpu(found[None], points[None], first)
    members = inside(points, found, 1e-5)
    wanted = torch.where(members.any(0), members.double().argmax(0), torch.full((300,), -1))
    assert torch.equal(first[0].long(), wanted)


@pytest.mark.parametrize("method, reduce", [(0, "amax"), (1, "mean")])
def test_roiaware_pool(method, reduce):
    module, found, points, features = (door("roiaware_pool3d_cuda"), boxes(5), cloud(400, 3, seed=2).mul(5),
                                       cloud(400, 3, seed=3))
    pooled, argmax = torch.zeros(5, 1, 1, 1, 3), torch.zeros(5, 1, 1, 1, 3, dtype=torch.int32)
    members = torch.zeros(5, 1, 1, 1, 200, dtype=torch.int32)
    assert module.forward(found, points, features, argmax, members, pooled, method) == 1
    within = inside(points, found, 0)
    assert members[:, 0, 0, 0, 0].tolist() == within.sum(1).tolist()
    wide = features.double().requires_grad_()
    rows = [getattr(wide[row], reduce)(0) if row.any() else wide[0] * 0 for row in within]
    wanted = torch.stack(rows).view(5, 1, 1, 1, 3)
    near(pooled, wanted)
    grad_in = torch.zeros(400, 3)
    module.backward(members, argmax, pooled, grad_in, method)
    near(grad_in, torch.autograd.grad(wanted, wide, pooled.double())[0])


def test_roipoint_pool():
    module, found, points, features = (door("roipoint_pool3d_cuda"), boxes(5), cloud(400, 3, seed=2).mul(5),
                                       cloud(400, 2, seed=3))
    pooled, empty = torch.zeros(1, 5, 64, 5), torch.zeros(1, 5, dtype=torch.int32)
    module.forward(points[None], found[None], features[None], pooled, empty)
    for box, within in enumerate(inside(points, found, 1e-5)):
        rows = within.nonzero()[:, 0].tolist()
        assert bool(empty[0, box]) == (not rows)
        wanted = torch.cat([points, features], 1)[[rows[k % len(rows)] for k in range(64)] if rows else []]
        assert torch.equal(pooled[0, box], wanted if rows else torch.zeros(64, 5))


# ---- bev_pool_ext, ingroup_inds_cuda


def test_bev_pool():
    module, x = door("bev_pool_ext"), cloud(50, 4)
    geom = torch.stack([torch.randint(size, (50,), generator=torch.Generator().manual_seed(size))
                        for size in (5, 6, 3, 2)], 1).int()
    out = module.bev_pool_forward(x, geom, torch.zeros(0), torch.zeros(0), 2, 3, 5, 6)
    wanted = torch.zeros(2, 3, 5, 6, 4, dtype=torch.float64)
    for row, (h, w, d, b) in zip(x.double(), geom.tolist()):
        wanted[b, d, h, w] += row
    near(out, wanted)
    back = module.bev_pool_backward(out, geom, torch.zeros(0), torch.zeros(0), 2, 3, 5, 6)
    assert torch.equal(back, torch.stack([out[b, d, h, w] for h, w, d, b in geom.tolist()]))


def test_numbers_within_a_group():
    groups, numbers = torch.tensor([3, 1, 3, 3, 0, 1]), torch.full((6,), -1)
    door("ingroup_inds_cuda").forward(groups, numbers)
    assert numbers.tolist() == [0, 0, 1, 2, 0, 1]


# ---- pointops_cuda, pointops._C, pointops


OFFSET, NEW_OFFSET = torch.tensor([30, 33, 55]).int(), torch.tensor([6, 8, 15]).int()


def clouds():
    ends, new_ends = [0, *OFFSET.tolist()], [0, *NEW_OFFSET.tolist()]
    return [(slice(*new_ends[i:i + 2]), slice(*ends[i:i + 2])) for i in range(3)]


@pytest.mark.parametrize("missing", ["first", "none"])
def test_nearest_in_clouds(missing):
    """The middle cloud has fewer points than are asked for."""
    xyz, centers = cloud(55, 3), cloud(15, 3, seed=1)
    idx, dist2 = torch.zeros(15, 5, dtype=torch.int32), torch.zeros(15, 5)
    if missing == "first":
        door("pointops_cuda").knnquery_cuda(15, 5, xyz, centers, OFFSET, NEW_OFFSET, idx, dist2)
    else:
        found, distance = door("pointops").knn_query(5, xyz, OFFSET, centers, NEW_OFFSET)
        idx, dist2 = found, distance ** 2
    for rows, points in clouds():
        count = min(5, points.stop - points.start)
        wanted, order = squares(centers[rows], xyz[points]).topk(count, 1, largest=False)
        near(dist2[rows, :count], wanted)
        assert torch.equal(idx[rows, :count].long(), order + points.start)
        if count < 5:
            assert (idx[rows, count:] == (points.start if missing == "first" else -1)).all()
            near(dist2[rows, count:], torch.full((2, 2), 1e10))


def test_sampling_of_clouds():
    xyz, wanted = cloud(55, 3), []
    for rows, points in clouds():
        wanted += [k + points.start for k in furthest(xyz[points], rows.stop - rows.start)]
    assert door("pointops").farthest_point_sampling(xyz, OFFSET, NEW_OFFSET).tolist() == wanted
    idx = torch.zeros(15, dtype=torch.int32)
    door("pointops_cuda").furthestsampling_cuda(3, 30, xyz, OFFSET, NEW_OFFSET, torch.full((55,), 1e10), idx)
    assert idx.tolist() == wanted


def test_balls_in_clouds():
    xyz, centers = cloud(55, 3), cloud(15, 3, seed=1)
    idx, distance = door("pointops").ball_query(8, 0.4, 0.1, xyz, OFFSET, centers, NEW_OFFSET)
    drawn, _ = door("pointops").random_ball_query(8, 0.4, 0.1, xyz, OFFSET, centers, NEW_OFFSET)
    for rows, points in clouds():
        table = squares(centers[rows], xyz[points])
        for row, line in zip(range(rows.start, rows.stop), table):
            ball = [k + points.start for k in line.argsort().tolist() if line[k] <= 1e-5 or 0.01 <= line[k] < 0.16]
            step = max(1.0, len(ball) / 8)
            wanted = [ball[int(step * k)] for k in range(min(8, len(ball)))]
            assert idx[row].tolist() == wanted + [-1] * (8 - len(wanted))
            near(distance[row, :len(wanted)], table[row - rows.start, [k - points.start for k in wanted]].sqrt(), 1e-4)
            some = [k for k in drawn[row].tolist() if k >= 0]
            assert set(some) <= set(ball) and len(set(some)) == min(8, len(ball)) == len(some)


# name, sizes of the arguments that count, makers of inputs; the forward's output; the composition; which are differentiable
def gathers():
    generator = torch.Generator().manual_seed(6)
    n, s, c, w = 12, 3, 6, 2
    idx = torch.randint(n, (n, s), generator=generator).int()
    a, b, position, weight = cloud(n, c), cloud(n, c, seed=1), cloud(n, s, c, seed=2), cloud(n, s, w, seed=3)
    pairs = torch.randint(n, (2, 20), generator=generator).int()
    q, k, v = (cloud(n, 2, c, seed=seed) for seed in (4, 5, 6))
    of_channel, of_pair = cloud(c, seed=7), cloud(20, 2, seed=8)
    i, target, refer = idx.long(), pairs[0].long(), pairs[1].long()
    whole = cloud(n, s, seed=9)
    return {
        "grouping": ((n, s, c), (a,), (idx,), (n, s, c), lambda a: a[i]),
        "subtraction": ((n, s, c), (a, b), (idx,), (n, s, c), lambda a, b: a[:, None] - b[i]),
        "interpolation": ((n, c, s), (a,), (idx, whole), (n, c), lambda a: (a[i] * whole.double()[..., None]).sum(1)),
        "aggregation": ((n, s, c, w), (a, position, weight), (idx,), (n, c), lambda a, p, x: (
            (a[i] + p).view(n, s, c // w, w) * x[:, :, None]).sum(1).view(n, c)),
        "attention_relation_step": ((20, 2, c), (q, k, of_channel), tuple(pairs), (20, 2), lambda q, k, x: (
            q[target] * k[refer] * x).sum(2)),
        "attention_fusion_step": ((20, 2, c), (of_pair, v), tuple(pairs), (n, 2, c), lambda x, v: torch.zeros_like(
            v).index_add(0, target, x[..., None] * v[refer])),
    }


# Where a backward function takes what: sizes, inputs, constants, gradient of the output, gradients of the inputs.
def arguments_backward(name, sizes, inputs, constants, grad, grads):
    if name in ("grouping", "interpolation"):
        return (*sizes, grad, *constants, *grads)
    if name == "subtraction":
        return (*sizes, *constants, grad, *grads)
    if name == "aggregation":
        return (*sizes, *inputs, *constants, grad, *grads)
    return (*sizes, *(each for pair in zip(inputs, grads) for each in pair), *constants, grad)


@pytest.mark.parametrize("name", ["grouping", "subtraction", "interpolation", "aggregation", "attention_relation_step",
                                  "attention_fusion_step"])
@pytest.mark.parametrize("module", ["pointops_c", "pointops_cuda"])
def test_gathers_of_clouds(module, name):
    if module == "pointops_cuda" and name.startswith("attention"):
        pytest.skip("pointops_cuda has no attention")
    found = importlib.import_module(f"mluops.dropin.module.{module}")
    sizes, inputs, constants, shape, composition = gathers()[name]
    wide = [each.double().requires_grad_() for each in inputs]
    wanted, out = composition(*wide), torch.zeros(shape)
    getattr(found, f"{name}_forward_cuda")(*sizes, *inputs, *constants, out)
    near(out, wanted)
    grad, grads = cloud(*shape, seed=20), [torch.zeros_like(each) for each in inputs]
    getattr(found, f"{name}_backward_cuda")(*arguments_backward(name, sizes, inputs, constants, grad, grads))
    for ours, theirs in zip(grads, torch.autograd.grad(wanted, wide, grad.double())):
        near(ours, theirs)


def test_pointops_functions_differentiate():
    """The package's own functions, by torch's autograd."""
    pointops, data = door("pointops"), gathers()
    for name in ("subtraction", "aggregation", "attention_relation_step", "attention_fusion_step"):
        _, inputs, constants, _, composition = data[name]
        wide = [each.double().requires_grad_() for each in inputs]
        own = [each.double().requires_grad_() for each in inputs]
        wanted, found = composition(*wide), getattr(pointops, name)(*own, *constants)
        assert torch.allclose(found, wanted)
        for ours, theirs in zip(torch.autograd.grad(found.sum(), own), torch.autograd.grad(wanted.sum(), wide)):
            assert torch.allclose(ours, theirs)


def test_pointops_groups():
    pointops, xyz, centers, feat = door("pointops"), cloud(55, 3), cloud(15, 3, seed=1), cloud(55, 4, seed=2)
    grouped, idx = pointops.knn_query_and_group(feat, xyz, OFFSET, centers, NEW_OFFSET, nsample=5, with_xyz=True)
    wanted = torch.cat([xyz[idx.long()] - centers[:, None], feat[idx.long()]], -1).masked_fill((idx < 0)[..., None], 0)
    assert torch.equal(grouped, wanted) and (idx < 0).any()
    plain, idx = pointops.query_and_group(3, xyz, centers, feat, None, OFFSET, NEW_OFFSET)
    assert torch.equal(plain, torch.cat([xyz[idx.long()] - centers[:, None], feat[idx.long()]], -1))
    dilated = pointops.query_and_group(3, xyz, centers, feat, None, OFFSET, NEW_OFFSET, dilation=1, with_feat=False)
    wide, _ = pointops.knn_query(5, xyz, OFFSET, centers, NEW_OFFSET)
    assert torch.equal(dilated[:6], wide[:6, ::2]) and torch.equal(dilated[6:8], wide[6:8, :3])
    near(pointops.interpolation(xyz, xyz, feat, OFFSET, OFFSET, k=3), feat, 1e-4)  # a point is nearest to itself
    batch = pointops.offset2batch(OFFSET)
    assert batch.tolist() == [0] * 30 + [1] * 3 + [2] * 22
    assert pointops.batch2offset(batch).tolist() == OFFSET.tolist()


def test_a_program_s_own_autograd_function():
    """A module of the structure these programs have, trained by one step, equals its composition."""
    batch = door("pointnet2_batch_cuda")

    class Grouping(torch.autograd.Function):
        @staticmethod
        def forward(ctx, features, idx):
            b, count, nsample = idx.shape
            out = torch.empty(b, features.shape[1], count, nsample)
            batch.group_points_wrapper(b, features.shape[1], features.shape[2], count, nsample, features, idx, out)
            ctx.kept = idx, features.shape[2]
            return out

        @staticmethod
        def backward(ctx, grad):
            idx, n = ctx.kept
            grad_features = torch.zeros(grad.shape[0], grad.shape[1], n)
            batch.group_points_grad_wrapper(*grad.shape[:2], n, *idx.shape[1:], grad.contiguous(), idx, grad_features)
            return grad_features, None

    torch.manual_seed(0)
    xyz, net = cloud(2, 60, 3), torch.nn.Conv2d(4, 5, 1)
    features = cloud(2, 4, 60, seed=1).requires_grad_()
    idx = torch.zeros(2, 9, 5, dtype=torch.int32)
    batch.ball_query_wrapper(2, 60, 9, 0.4, 5, xyz[:, :9].contiguous(), xyz, idx)
    loss = net(Grouping.apply(features, idx)).relu().amax(3).square().sum()
    grads = torch.autograd.grad(loss, (features, net.weight))
    wide, double = features.detach().double().requires_grad_(), net.double()
    grouped = torch.stack([f[:, i.long()] for f, i in zip(wide, idx)])
    wanted = double(grouped).relu().amax(3).square().sum()
    near(loss, wanted)
    for ours, theirs in zip(grads, torch.autograd.grad(wanted, (wide, double.weight))):
        near(ours, theirs)


def test_modules_are_gone_afterwards():
    door("pointops_cuda")
    dropin.uninstall()
    assert "pointops_cuda" not in sys.modules
